/**
 * Create and read without a database: what the graph and the edge cost by themselves, and what the
 * stock way costs.
 */
import { startServer } from '../child-server.ts';
import { edgeRows } from './edge-row.ts';
import { createDocument, createRequest, readDocument, readRequest } from '../payment-requests.ts';
import { measureBoth, connections, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { serverSubject } from '../subject.ts';

/** A key of the right form: the constant subgraphs know every key. */
const key = 'sk_test_bench0_0123456789abcdef';
const id = '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0003';

const requestsOf = {
  create: { rest: [createRequest(key)], graph: [createDocument()] },
  read: { rest: [readRequest(key, id)], graph: [readDocument(id)] },
};

/** The rows of one of the two operations. */
export const constantRows = async (
  operation: 'create' | 'read',
  bench: Bench,
): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const open = async (name: string, program: string, way: 'rest' | 'graph') => {
    const { url, pid } = stack.use(await startServer(program));
    return serverSubject(
      { name, url, pid, requests: requestsOf[operation][way], postgres: null },
      bench.load,
    );
  };
  const baseline = await open('bare fastify, constant answer', 'bare-constant.ts', 'rest');
  const compiled = await open('compiled operation', 'compiled-constant.ts', 'rest');
  const edge = await open('REST route', 'edge-constant.ts', 'rest');
  const stock = await open('stock Apollo', 'stock-apollo.ts', 'graph');
  const { many, one } = await measureBoth(
    [baseline, compiled, edge, stock],
    bench,
    `${operation}, no database`,
  );
  const comparisons = [
    {
      what: `${operation}, no database, the edge's checks apart`,
      subject: compiled,
      baseline,
      aim: { least: 0.85 },
    },
    { what: `${operation}, no database, whole route`, subject: edge, baseline, aim: null },
    {
      what: `${operation}, no database, stock Apollo`,
      subject: stock,
      baseline,
      aim: { from: 0.05, to: 0.1 },
    },
  ];
  return [
    ...comparisons.flatMap((comparison) => comparisonRows(comparison, many, one, connections)),
    ...edgeRows(operation, edge, compiled, many),
  ];
};
