/**
 * What documents of clients ask of subgraphs, prepared once for each text: many documents ask the
 * same.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { QueryPlan } from '@apollo/query-planner';
import type { DocumentNode } from 'graphql';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../../subgraphs/kernel/service/graph/subgraph.ts';
import { fetchesOf } from './compiled-operation.ts';
import { fetchDocument } from './plan-steps.ts';

type Executors = Readonly<Record<string, SubgraphExecutor>>;

/** The executors, each of which prepares a document object once. */
export const keepPrepared = (executors: Executors): Executors =>
  Object.fromEntries(
    Object.entries(executors).map(([name, executor]) => [name, { prepare: once(executor) }]),
  );

const once = (executor: SubgraphExecutor): SubgraphExecutor['prepare'] => {
  const known = new WeakMap<DocumentNode, PreparedDocument>();
  return (document) => {
    const run = known.get(document) ?? executor.prepare(document);
    known.set(document, run);
    return run;
  };
};

/**
 * Prepares what a plan fetches, one fetch in each turn of the event loop: all at once would hold
 * it.
 */
export const prepareInTurns = async ({ node }: QueryPlan, executors: Executors): Promise<void> => {
  for (const { fetch } of node ? fetchesOf(node, '') : []) {
    await turn();
    executors[fetch.serviceName]?.prepare(fetchDocument(fetch));
  }
};
