/** Fetches of clients' documents, prepared once for each text: many documents share them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { QueryPlan } from '@apollo/query-planner';
import type { DocumentNode } from 'graphql';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../../subgraphs/kernel/service/graph/subgraph.ts';
import { fetchesOf } from './compiled-operation.ts';
import { fetchDocument } from './plan-steps.ts';

type Executors = Readonly<Record<string, SubgraphExecutor>>;

/** The executors, each of which prepares a document object only once. */
export const cachePrepared = (executors: Executors): Executors =>
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

/** Prepares a plan's fetches, one in each turn of the event loop, which all at once would block. */
export const prepareGradually = async (
  { node }: QueryPlan,
  executors: Executors,
): Promise<void> => {
  for (const { fetch } of node ? fetchesOf(node, '') : []) {
    await nextTurn();
    executors[fetch.serviceName]?.prepare(fetchDocument(fetch));
  }
};
