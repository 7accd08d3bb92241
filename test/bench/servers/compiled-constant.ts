/**
 * The compiled operations behind bare routes, over constant subgraphs: the graph's own cost, the
 * edge's checks apart. With SUBGRAPHS they are in another process there.
 */
import { remoteExecutor } from '../../../gateway/remote-subgraph.ts';
import { readContract } from '../../../rest-facade/read-contract.ts';
import { routes, type Route } from '../../../rest-facade/routes.ts';
import { compileBody } from '../../../rest-facade/validate-body.ts';
import { subgraphPath } from '../../../subgraphs/kernel/service/graph/serve-subgraph.ts';
import { serve } from '../child-server.ts';
import { openBareRoutes } from './bare-routes.ts';
import { constantExecutor, openConstantGraph, principal, silent } from './constant-graph.ts';

const { SUBGRAPHS } = process.env;
const supergraph = await openConstantGraph((name) =>
  SUBGRAPHS
    ? remoteExecutor(
        `${SUBGRAPHS}${subgraphPath(name)}`,
        { shared: Buffer.alloc(32, 7), service: null },
        silent,
      )
    : constantExecutor(name),
);
const call = { principal, requestId: 'bench', isInLane: false };

const runOf = (name: 'CreatePayment' | 'GetPayment') => {
  const route: Route | undefined = routes.find(({ operation }) => operation === name);
  if (!route) throw new Error(`there is no route of ${name}`);
  const operation = supergraph.operation(name);
  return async (request: { id: string; body: object }): Promise<object> => {
    // As in the facade: the row ties request, variables and data to its operation.
    const asked = { query: {}, idempotency: null, ...request } as never;
    const { data } = await operation.run(route.variables(asked) as never, call);
    const outcome = route.answer(data as never, asked);
    if (outcome === null || !('body' in outcome)) throw new Error(`${name} was refused`);
    return outcome.body;
  };
};

const create = runOf('CreatePayment');
const read = runOf('GetPayment');
const { shape } = compileBody(readContract().operations.get('CreatePayment')?.body?.schema ?? null);
await serve(
  openBareRoutes({
    create: (body) => create({ id: '', body: shape(body) }),
    read: (id) => read({ id, body: {} }),
  }),
);
