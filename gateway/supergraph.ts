/**
 * The four subgraphs as one graph. The named operations are compiled from generated plans, each by
 * its first call; ad-hoc documents are planned and compiled when they first come. The
 * stock gateway runs what cannot be compiled, and is loaded for nothing else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { QueryPlan } from '@apollo/query-planner';
import type {
  GatewayInterface,
  GatewayGraphQLRequestContext,
} from '@apollo/server-gateway-interface';
import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLObjectType,
  GraphQLSchema,
  buildASTSchema,
  isInterfaceType,
  Kind,
  parse,
  printSchema,
  type FieldDefinitionNode,
  getOperationAST,
  GraphQLError,
} from 'graphql';
import { readApiSchema, readPlans } from '../schema/generated-files.ts';
import { access, accessBelowRoot } from '../subgraphs/platform/access/access.ts';
import type { Call } from '../subgraphs/platform/access/principal.ts';
import { lazily, lazilyOf } from '../subgraphs/platform/graph/lazily.ts';
import type { PreparedDocument, SubgraphExecutor } from '../subgraphs/platform/graph/subgraph.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import {
  compileOperation,
  logOwnErrors,
  prepareNamedOperations,
} from './compile/compiled-operation.ts';
import { fetchDocument, fetchesOf } from './compile/plan-fetches.ts';
import { executeRenamed, keyFieldNames, openAliasRenamer } from './compile/key-aliases.ts';
import { plannerOf } from './graphql/plan-documents.ts';
import {
  type ExecuteGraphRequest,
  runDocuments,
  type GatewayExecutor,
} from './graphql/run-documents.ts';
import type { StockGatewayDeps } from './stock-gateway.ts';
import { codedError } from './graphql/errors.ts';

/*
 * The gateway's executor, for use without Apollo Server, and as the gateway interface that Apollo
 * Server loads.
 */

/** The executor without Apollo Server, for documents that have been read. Never rejects. */
const executeWithoutServer =
  (schema: () => GraphQLSchema, executor: GatewayExecutor, logger: Logger): ExecuteGraphRequest =>
  async ({ document, operationName, variables }, call) => {
    const operation = getOperationAST(document, operationName);
    if (!operation) return { errors: [new GraphQLError('name the operation to run')] };
    if (operation.operation === 'subscription')
      return { errors: [new GraphQLError('a subscription is not run as a query')] };
    const request = {
      variables: { ...variables },
      ...(operationName === undefined ? {} : { operationName }),
    };
    // The fields that the executor reads; the others belong to Apollo Server's HTTP side.
    const context = {
      request,
      document,
      queryHash: '',
      operationName: operation.name?.value ?? null,
      operation,
      schema: schema(),
      context: call,
      logger,
      metrics: {},
    };
    try {
      return await executor(context as unknown as GatewayGraphQLRequestContext);
    } catch (thrown) {
      logger.error({ err: thrown, requestId: call.requestId }, 'the gateway failed');
      return { errors: [codedError('INTERNAL_SERVER_ERROR', 'internal error')] };
    }
  };

export const loadedGateway = (
  apiSchema: () => GraphQLSchema,
  coreSupergraphSdl: string,
  executor: GatewayExecutor,
): GatewayInterface => {
  const listeners = new Set<Parameters<GatewayInterface['onSchemaLoadOrUpdate']>[0]>();
  return {
    onSchemaLoadOrUpdate: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    load: async () => {
      for (const listener of listeners) listener({ apiSchema: apiSchema(), coreSupergraphSdl });
      return { executor };
    },
    stop: async () => {},
  };
};

const executeLogged =
  (executor: GatewayExecutor, log: Logger): GatewayExecutor =>
  async (context) =>
    // The gateway passes its context on as `unknown`.
    logOwnErrors(await executor(context), context.context as Call, log);

/* Fetches of clients' documents, prepared once for each text: many documents share them. */

type Executors = SupergraphDeps['executors'];

/** The executors. Each prepares a document object only once. */
const cachePrepared = ({ payments, payouts, recurring, merchants }: Executors): Executors => ({
  payments: once(payments),
  payouts: once(payouts),
  recurring: once(recurring),
  merchants: once(merchants),
});

const once = (executor: SubgraphExecutor): SubgraphExecutor => ({
  prepare: lazilyOf((document: DocumentNode) => executor.prepare(document)),
});

/** Prepares a plan's fetches, one in each turn of the event loop, which all at once would block. */
const prepareGradually = async (
  { node }: QueryPlan,
  executors: Readonly<Record<string, SubgraphExecutor>>,
): Promise<void> => {
  for (const fetch of node ? fetchesOf(node) : []) {
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

// The part of the graph that API keys may call: introspection with a key shows no more.

const rootNames = ['Query', 'Mutation', 'Subscription'];

/** Whether a key, with the scopes for it, may select the field. */
const isForKeys = (type: string, { name }: FieldDefinitionNode): boolean => {
  const field = `${type}.${name.value}`;
  const row = rootNames.includes(type) ? (access[field] ?? {}) : accessBelowRoot[field];
  return row === undefined || row.key !== undefined;
};

/** Without the types that cannot be reached from the root; `behind` are those behind interfaces. */
const reachable = (
  schema: GraphQLSchema,
  behind: readonly GraphQLObjectType[] = [],
): GraphQLSchema => {
  const reached = new GraphQLSchema({ ...schema.toConfig(), types: behind });
  const interfaces = Object.values(reached.getTypeMap()).filter((type) => isInterfaceType(type));
  const all = [...new Set(interfaces.flatMap((type) => schema.getPossibleTypes(type)))];
  return all.length === behind.length ? reached : reachable(schema, all);
};

/** Derives it from the whole schema. */
const schemaForKeys = (schema: GraphQLSchema): GraphQLSchema => {
  const { definitions } = parse(printSchema(schema), { noLocation: true });
  const shown = definitions.flatMap<DefinitionNode>((node) => {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) return [node];
    const fields = (node.fields ?? []).filter((field) => isForKeys(node.name.value, field));
    return fields.length > 0 ? [{ ...node, fields }] : [];
  });
  return reachable(
    buildASTSchema({ kind: Kind.DOCUMENT, definitions: shown }, { assumeValidSDL: true }),
  );
};

export const openSupergraph = async ({
  supergraphSdl,
  executors,
  log,
  compilesDocuments = true,
}: SupergraphDeps) => {
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
    /** The schema that clients see, built when it is first asked for. */
    get apiSchema() {
      return apiSchema();
    },
    /** Validates a client's text in another thread, in the caller's turn. */
    mistakesIn: planner.mistakesIn,
    execute,
    /** For Apollo Server; its context value is the `Call`. */
    apolloGateway: loadedGateway(apiSchema, supergraphSdl, executor),
    operation: prepareNamedOperations({ apiSchema, executors, log, plans: await readPlans() }),
  };
};

export type Supergraph = Awaited<ReturnType<typeof openSupergraph>>;

const compilerForClients =
  (apiSchema: () => GraphQLSchema, executors: Executors) =>
  async (document: DocumentNode, plan: QueryPlan): Promise<PreparedDocument> => {
    await prepareGradually(plan, executors);
    return compileOperation({ document, plan, apiSchema: apiSchema(), executors, counts: true });
  };
