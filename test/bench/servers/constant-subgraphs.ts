/**
 * The constant subgraphs over HTTP, for every gateway alike: who says nothing of itself is the key
 * that is measured. Our own edge says who asks, and is believed.
 */
import fastify from 'fastify';
import { parse } from 'graphql';
import { subgraphNames } from '../../../schema/sources.ts';
import { batchPath } from '../../../subgraphs/kernel/service/graph/operation-batch.ts';
import { operationRunner } from '../../../subgraphs/kernel/service/graph/run-operation.ts';
import { serveBatches } from '../../../subgraphs/kernel/service/graph/serve-batch.ts';
import { subgraphPath } from '../../../subgraphs/kernel/service/graph/serve-subgraph.ts';
import type { PreparedDocument } from '../../../subgraphs/kernel/service/graph/subgraph.ts';
import {
  principalHeader,
  principalReader,
} from '../../../subgraphs/kernel/service/access/principal-header.ts';
import { serve } from '../child-server.ts';
import { constantExecutor, principal as keyPrincipal, silent } from './constant-graph.ts';

interface Asked {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const keys = { shared: Buffer.alloc(32, 7), service: null };
const readPrincipal = principalReader(keys);
const app = fastify({ bodyLimit: 4_194_304 });
for (const name of subgraphNames) {
  const executor = constantExecutor(name);
  // The other gateways send no batches.
  serveBatches(app, {
    path: `${subgraphPath(name)}${batchPath}`,
    run: operationRunner({ executor, keys }),
    log: silent,
  });
  const prepared = new Map<string, PreparedDocument>();
  app.post<{ Body: Asked }>(subgraphPath(name), async ({ headers, body: { query, variables } }) => {
    const principal = (await readPrincipal(headers[principalHeader])) ?? keyPrincipal;
    const run = prepared.get(query) ?? executor.prepare(parse(query, { noLocation: true }));
    prepared.set(query, run);
    return run(variables ?? {}, { principal, requestId: 'bench', isInLane: true });
  });
}
await serve(app);
