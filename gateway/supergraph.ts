/**
 * The four subgraphs as one graph. The named operations are compiled at boot, ad-hoc documents when
 * they first come; the stock gateway plans both, and runs what cannot be compiled.
 */
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import type { GatewayInterface } from '@apollo/server-gateway-interface';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { subgraphNames, type SubgraphName } from '../schema/sources.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../subgraphs/kernel/service/graph/subgraph.ts';
import type { Logger } from '../subgraphs/kernel/service/tracing/telemetry.ts';
import { compileOperation } from './compile/compiled-operation.ts';
import {
  compileRenamed,
  executeRenamed,
  keyFieldNames,
  openAliasRenamer,
} from './compile/key-aliases.ts';
import { cachePrepared, prepareGradually } from './compile/prepared-fetches.ts';
import type { ExecuteGraphRequest } from './graph-request.ts';
import { executeLogged, runLogged } from './graphql/log-own-errors.ts';
import { plannerOf, type DocumentPlanner } from './graphql/plan-documents.ts';
import { runDocuments } from './graphql/run-documents.ts';
import { prepareNamedOperations, type NamedOperations } from './named-operations.ts';
import {
  disableTelemetry,
  executeWithoutServer,
  loadedGateway,
  plannerAndExecutorOf,
  withoutValues,
} from './stock-gateway.ts';
import { subgraphSource } from './subgraph-source.ts';

export interface SupergraphParts {
  /** The composed schema, `schema/supergraph.graphql`. */
  readonly supergraphSdl: string;
  readonly executors: Readonly<Record<SubgraphName, SubgraphExecutor>>;
  readonly log: Logger;
  /**
   * False in comparisons: ad-hoc documents run on the stock executor, and answers are not metered.
   */
  readonly compilesDocuments?: boolean;
}

export interface Supergraph extends NamedOperations {
  /** The schema that clients see. */
  readonly apiSchema: GraphQLSchema;
  /** Validates a client's text in another thread, in the caller's turn. */
  readonly mistakesIn: DocumentPlanner['mistakesIn'];
  readonly execute: ExecuteGraphRequest;
  /** For Apollo Server; its context value is the `Call`. */
  readonly apolloGateway: GatewayInterface;
  /** Compiles a document, or throws CannotCompile. */
  readonly compile: (document: DocumentNode) => PreparedDocument;
}

/**
 * Opens the supergraph over its subgraphs. Throws when a named operation does not fit the schema.
 */
export const openSupergraph = async ({
  supergraphSdl,
  executors,
  log,
  compilesDocuments = true,
}: SupergraphParts): Promise<Supergraph> => {
  const gateway = openStockGateway(supergraphSdl, executors, log);
  const { schema: apiSchema, executor: stock } = await gateway.load();
  const renameAliases = openAliasRenamer(keyFieldNames(supergraphSdl));
  const { plan, runByPlan } = plannerAndExecutorOf(gateway, withoutValues(stock));
  const compile = compileRenamed(renameAliases, (document) =>
    compileOperation({ document, plan: plan(document), apiSchema, executors, counts: false }),
  );
  const planner = plannerOf(supergraphSdl);
  const running = runDocuments({
    apiSchema,
    planner,
    compile: compilerForClients(apiSchema, executors),
    runByPlan,
    compiles: compilesDocuments,
  });
  const executor = executeLogged(executeRenamed(renameAliases, running), log);
  const execute = executeWithoutServer(apiSchema, executor, log);
  return {
    apiSchema,
    mistakesIn: planner.mistakesIn,
    execute,
    apolloGateway: loadedGateway(apiSchema, supergraphSdl, executor),
    compile,
    ...prepareNamedOperations({
      apiSchema,
      executors,
      compile: (document) => runLogged(compile(document), log),
      execute,
    }),
  };
};

const openStockGateway = (
  supergraphSdl: string,
  executors: SupergraphParts['executors'],
  log: Logger,
): ApolloGateway => {
  const sources: Readonly<Record<string, GraphQLDataSource>> = Object.fromEntries(
    subgraphNames.map((name) => [name, subgraphSource(executors[name])]),
  );
  disableTelemetry();
  return new ApolloGateway({
    supergraphSdl,
    logger: log,
    buildService: ({ name }) => sources[name] ?? unknownSubgraph(name),
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    // Composition validated it when it was built, and a test proves that it is current.
    validateSupergraph: false,
  });
};

const unknownSubgraph = (name: string): never => {
  throw new Error(`the supergraph names a subgraph that is not ours: ${name}`);
};

/**
 * Compiles documents of clients. Their fetches are prepared once, whatever document they are in.
 */
const compilerForClients = (
  apiSchema: GraphQLSchema,
  subgraphs: SupergraphParts['executors'],
): ((document: DocumentNode, plan: QueryPlan) => Promise<PreparedDocument>) => {
  const executors = cachePrepared(subgraphs);
  return async (document, plan) => {
    await prepareGradually(plan, executors);
    return compileOperation({ document, plan, apiSchema, executors, counts: true });
  };
};
