/**
 * The four subgraphs as one graph. The named operations are compiled from generated plans, each by
 * its first call; ad-hoc documents are planned and compiled when they first come. The
 * stock gateway runs what cannot be compiled, and is loaded for nothing else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { QueryPlan } from '@apollo/query-planner';
import type { GatewayInterface } from '@apollo/server-gateway-interface';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { readApiSchema, readPlans } from '../schema/generated-files.ts';
import { lazily } from '../subgraphs/platform/graph/lazily.ts';
import type { PreparedDocument, SubgraphExecutor } from '../subgraphs/platform/graph/subgraph.ts';
import { compileOperation, fetchesOf } from './compile/compiled-operation.ts';
import { executeRenamed, keyFieldNames, openAliasRenamer } from './compile/key-aliases.ts';
import type { ExecuteGraphRequest } from './graph-request.ts';
import { executeWithoutServer, loadedGateway } from './graphql/loaded-gateway.ts';
import { executeLogged } from './graphql/log-own-errors.ts';
import { plannerOf, type DocumentPlanner } from './graphql/plan-documents.ts';
import { runDocuments } from './graphql/run-documents.ts';
import { schemaForKeys } from './graphql/schema-for-keys.ts';
import { prepareNamedOperations, type NamedOperations } from './named-operations.ts';
import type { StockGatewayDeps } from './stock-gateway.ts';
import { fetchDocument } from './compile/plan-steps.ts';

/* Fetches of clients' documents, prepared once for each text: many documents share them. */

type Executors = SupergraphDeps['executors'];

/** The executors. Each prepares a document object only once. */
const cachePrepared = ({ payments, payouts, recurring, merchants }: Executors): Executors => ({
  payments: once(payments),
  payouts: once(payouts),
  recurring: once(recurring),
  merchants: once(merchants),
});

const once = (executor: SubgraphExecutor): SubgraphExecutor => {
  const known = new WeakMap<DocumentNode, PreparedDocument>();
  return {
    prepare: (document) => {
      const run = known.get(document) ?? executor.prepare(document);
      known.set(document, run);
      return run;
    },
  };
};

/** Prepares a plan's fetches, one in each turn of the event loop, which all at once would block. */
const prepareGradually = async (
  { node }: QueryPlan,
  executors: Readonly<Record<string, SubgraphExecutor>>,
): Promise<void> => {
  for (const { fetch } of node ? fetchesOf(node, '') : []) {
    await nextTurn();
    executors[fetch.serviceName]?.prepare(fetchDocument(fetch));
  }
};

export interface SupergraphDeps extends StockGatewayDeps {
  /**
   * False in comparisons: ad-hoc documents run on the stock executor, and answers are not metered.
   */
  readonly compilesDocuments?: boolean;
}

export interface Supergraph extends NamedOperations {
  /** The schema that clients see, built when it is first asked for. */
  readonly apiSchema: GraphQLSchema;
  /** Validates a client's text in another thread, in the caller's turn. */
  readonly mistakesIn: DocumentPlanner['mistakesIn'];
  readonly execute: ExecuteGraphRequest;
  /** For Apollo Server; its context value is the `Call`. */
  readonly apolloGateway: GatewayInterface;
}

/** Opens the supergraph over its subgraphs. */
export const openSupergraph = async ({
  supergraphSdl,
  executors,
  log,
  compilesDocuments = true,
}: SupergraphDeps): Promise<Supergraph> => {
  const apiSchema = lazily(readApiSchema);
  const renameAliases = lazily(() => openAliasRenamer(keyFieldNames(supergraphSdl)));
  const forClients = cachePrepared(executors);
  const stock = lazily(async () => {
    const { openStockGateway } = await import('./stock-gateway.ts');
    return openStockGateway({ supergraphSdl, executors: forClients, log });
  });
  const planner = plannerOf(supergraphSdl);
  const running = runDocuments({
    apiSchema,
    keySchema: lazily(() => schemaForKeys(apiSchema())),
    planner,
    compile: compilerForClients(apiSchema, forClients),
    runByPlan: async (plan, context) => (await stock())(plan, context),
    compiles: compilesDocuments,
  });
  const renamed = executeRenamed((document) => renameAliases()(document), running);
  const executor = executeLogged(renamed, log);
  const execute = executeWithoutServer(apiSchema, executor, log);
  return {
    get apiSchema() {
      return apiSchema();
    },
    mistakesIn: planner.mistakesIn,
    execute,
    apolloGateway: loadedGateway(apiSchema, supergraphSdl, executor),
    ...prepareNamedOperations({ apiSchema, executors, log, execute, plans: await readPlans() }),
  };
};

/** Compiles documents of clients. */
const compilerForClients =
  (apiSchema: () => GraphQLSchema, executors: Executors) =>
  async (document: DocumentNode, plan: QueryPlan): Promise<PreparedDocument> => {
    await prepareGradually(plan, executors);
    return compileOperation({ document, plan, apiSchema: apiSchema(), executors, counts: true });
  };
