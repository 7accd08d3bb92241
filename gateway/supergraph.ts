/**
 * The four subgraphs as one graph: ad-hoc documents by the stock gateway, the named operations
 * compiled (architecture decision 6).
 */
import { randomUUID } from 'node:crypto';
import { env } from 'node:process';
import { operationFromDocument, type Schema } from '@apollo/federation-internals';
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import type {
  GatewayGraphQLRequestContext,
  GatewayInterface,
} from '@apollo/server-gateway-interface';
import {
  getOperationAST,
  GraphQLError,
  separateOperations,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { OperationMap, OperationName } from '../schema/generated/operation-map.ts';
import {
  askedSubgraphs,
  readInternalOperations,
  readOperations,
  subgraphNames,
  type SubgraphName,
} from '../schema/sources.ts';
import type { Call } from '../subgraphs/kernel/service/access/principal.ts';
import { presentInputError } from '../subgraphs/kernel/service/graph/present-errors.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../subgraphs/kernel/service/graph/subgraph.ts';
import type { Logger } from '../subgraphs/kernel/service/tracing/telemetry.ts';
import { currentSpan, spanned } from '../subgraphs/kernel/service/tracing/tracing.ts';
import { CannotCompile } from './compile/cannot-compile.ts';
import { compileOperation } from './compile/compiled-operation.ts';
import { keepPrepared, prepareInTurns } from './compile/kept-fetches.ts';
import { compileApart, executeApart, keyNamesOf, openKeepApart } from './compile/key-names.ts';
import { executeLogged, runLogged } from './graphql/log-own-errors.ts';
import { plannerOf, type DocumentPlanner } from './graphql/plan-documents.ts';
import { runDocuments, type GatewayExecutor } from './graphql/run-documents.ts';
import { subgraphSource } from './subgraph-source.ts';

export interface SupergraphParts {
  /** The composed schema, `schema/supergraph.graphql`. */
  readonly supergraphSdl: string;
  readonly executors: Readonly<Record<SubgraphName, SubgraphExecutor>>;
  readonly log: Logger;
  /** False: ad-hoc documents run on the stock executor, and nothing is counted, to compare with. */
  readonly compilesDocuments?: boolean;
}

/**
 * A document to run. It is parsed already; plans and prepared parts are kept for as long as the
 * document object is.
 */
export interface GraphRequest {
  readonly document: DocumentNode;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * A named operation, ready to run. Variables are those of the operation's type and are not checked
 * again.
 */
export interface CompiledOperation<Name extends OperationName = OperationName> {
  readonly name: Name;
  /** False: it runs on the stock executor. */
  readonly compiled: boolean;
  run(
    variables: OperationMap[Name]['variables'],
    call: Call,
  ): Promise<ExecutionResult<OperationMap[Name]['result']>>;
}

export interface Supergraph {
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
  /** What is wrong with a client's text: found in another thread, in the caller's turn. */
  readonly mistakesIn: DocumentPlanner['mistakesIn'];
  /** Runs any query or mutation that has been read. Never rejects. */
  execute(request: GraphRequest, call: Call): Promise<ExecutionResult>;
  /** For Apollo Server; its context value is the `Call`. */
  readonly apolloGateway: GatewayInterface;
  operation<Name extends OperationName>(name: Name): CompiledOperation<Name>;
  /** Compiles one more document, or throws CannotCompile. */
  compile(document: DocumentNode): PreparedDocument;
  readonly compiledNames: readonly OperationName[];
  /** Operations that run on the stock executor. */
  readonly fallbackNames: readonly OperationName[];
}

/**
 * The stock gateway tells its makers about every process that has one, and asks the clouds'
 * metadata services where it runs. Nobody hears of ours: it takes this word from the environment
 * alone.
 */
const keepToOurselves = (): void => {
  env['APOLLO_TELEMETRY_DISABLED'] = 'true';
};

/**
 * Opens the supergraph over its subgraphs. Throws when a named operation does not fit the schema.
 */
export const openSupergraph = async ({
  supergraphSdl,
  executors,
  log,
  compilesDocuments = true,
}: SupergraphParts): Promise<Supergraph> => {
  const sources: Readonly<Record<string, GraphQLDataSource>> = Object.fromEntries(
    subgraphNames.map((name) => [name, subgraphSource(executors[name])]),
  );
  keepToOurselves();
  const gateway = new ApolloGateway({
    supergraphSdl,
    logger: log,
    buildService: ({ name }) => sources[name] ?? unknownSubgraph(name),
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    // Composition has validated it when it was built, and a test proves it fresh.
    validateSupergraph: false,
  });
  const { schema: apiSchema, executor: found } = await gateway.load();
  const keepApart = openKeepApart(keyNamesOf(supergraphSdl));
  const { plan, runByPlan } = insideOf(gateway, withoutValues(found));
  const compile = compileApart(keepApart, (document) =>
    compileOperation({ document, plan: plan(document), apiSchema, executors, counts: false }),
  );
  const kept = keepPrepared(executors);
  const compileForCallers = async (
    document: DocumentNode,
    made: QueryPlan,
  ): Promise<PreparedDocument> => {
    await prepareInTurns(made, kept);
    return compileOperation({ document, plan: made, apiSchema, executors: kept, counts: true });
  };
  const planner = plannerOf(supergraphSdl);
  const running = runDocuments({
    apiSchema,
    planner,
    compile: compileForCallers,
    runByPlan,
    compiles: compilesDocuments,
  });
  const executor = executeLogged(executeApart(keepApart, running), log);
  const execute = bareExecute(apiSchema, executor, log);
  const compileOwn = (document: DocumentNode): PreparedDocument =>
    runLogged(compile(document), log);
  const { operations, compiledNames, fallbackNames } = prepareOperations(
    readNamedOperations(apiSchema),
    compileOwn,
    execute,
  );
  const internal = prepareInternal(executors);
  return {
    apiSchema,
    mistakesIn: planner.mistakesIn,
    execute,
    apolloGateway: loadedGateway(apiSchema, supergraphSdl, executor),
    operation: <Name extends OperationName>(name: Name) => {
      const run = operations.get(name) ?? internal.get(name);
      if (!run) throw new Error(`no operation is named ${name}`);
      // The map of types is generated from the very documents that were compiled.
      return { name, compiled: !fallbackNames.includes(name), run } as CompiledOperation<Name>;
    },
    compile,
    compiledNames,
    fallbackNames,
  };
};

/** What the gateway has no public way to. */
interface GatewayInside {
  readonly queryPlanner?: {
    buildQueryPlan(operation: ReturnType<typeof operationFromDocument>): QueryPlan;
  };
  readonly apiSchema?: Schema;
  readonly queryPlanStore?: {
    set(key: string, plan: QueryPlan): Promise<unknown>;
    delete(key: string): Promise<unknown>;
  };
}

/**
 * The gateway's own planner over the schema that clients see, and its executor with a plan that was
 * made elsewhere.
 */
const insideOf = (gateway: ApolloGateway, stock: GatewayExecutor) => {
  const { queryPlanner, apiSchema, queryPlanStore } = gateway as unknown as GatewayInside;
  if (!queryPlanner || !apiSchema || !queryPlanStore)
    throw new Error('the gateway has loaded no supergraph');
  return {
    plan: (document: DocumentNode): QueryPlan =>
      queryPlanner.buildQueryPlan(operationFromDocument(apiSchema, document)),
    /**
     * The executor looks its plans up by the hash of the document: it finds this one under a name
     * of its own.
     */
    runByPlan: async (
      made: QueryPlan,
      context: GatewayGraphQLRequestContext,
    ): Promise<ExecutionResult> => {
      const queryHash = randomUUID();
      await queryPlanStore.set(queryHash, made);
      try {
        return await stock({ ...context, queryHash });
      } finally {
        await queryPlanStore.delete(queryHash);
      }
    },
  };
};

interface PreparedOperations {
  readonly operations: ReadonlyMap<OperationName, PreparedDocument>;
  readonly compiledNames: readonly OperationName[];
  readonly fallbackNames: readonly OperationName[];
}

/**
 * Compiles every named query and mutation; what cannot be compiled is run on the stock executor.
 */
const prepareOperations = (
  documents: ReadonlyMap<string, DocumentNode>,
  compile: Supergraph['compile'],
  execute: Supergraph['execute'],
): PreparedOperations => {
  const operations = new Map<OperationName, PreparedDocument>();
  const compiledNames: OperationName[] = [];
  const fallbackNames: OperationName[] = [];
  for (const [text, document] of documents) {
    // Subscriptions are served over graphql-ws: the gateway has no way to run them.
    if (getOperationAST(document)?.operation === 'subscription') continue;
    const name = text as OperationName;
    try {
      operations.set(name, traced(name, compile(document)));
      compiledNames.push(name);
    } catch (error) {
      if (!(error instanceof CannotCompile)) throw error;
      operations.set(
        name,
        traced(name, (variables, call) => execute({ document, variables }, call)),
      );
      fallbackNames.push(name);
    }
  }
  return { operations, compiledNames, fallbackNames };
};

/**
 * The operations for the service alone, which are no part of the public graph: each runs on its
 * subgraph.
 */
const prepareInternal = (
  executors: SupergraphParts['executors'],
): ReadonlyMap<string, PreparedDocument> =>
  new Map(
    askedSubgraphs.flatMap((subgraph) =>
      Object.entries(separateOperations(readInternalOperations(subgraph))).map(
        ([name, document]) => [name, traced(name, executors[subgraph].prepare(document))] as const,
      ),
    ),
  );

/** An operation of ours in a span of its own. */
const traced = (name: string, run: PreparedDocument): PreparedDocument => {
  const start = { kind: 'internal', name: `operation ${name}` } as const;
  return (variables, call) =>
    currentSpan() ? spanned(start, () => run(variables, call)) : run(variables, call);
};

const unknownSubgraph = (name: string): never => {
  throw new Error(`the supergraph names a subgraph that is not ours: ${name}`);
};

/**
 * The stock executor, which checks variables itself, with their values left out of what it says of
 * them (decision D-06).
 */
const withoutValues =
  (executor: GatewayExecutor): GatewayExecutor =>
  async (context) => {
    const result = await executor(context);
    return result.errors && !('data' in result)
      ? { ...result, errors: result.errors.map(presentInputError) }
      : result;
  };

/**
 * The executor without Apollo Server around it, for documents that have been read. Never rejects.
 */
const bareExecute =
  (schema: GraphQLSchema, executor: GatewayExecutor, logger: Logger): Supergraph['execute'] =>
  async ({ document, operationName, variables }, call) => {
    const operation = getOperationAST(document, operationName);
    if (!operation) return { errors: [new GraphQLError('name the operation to run')] };
    if (operation.operation === 'subscription')
      return { errors: [new GraphQLError('a subscription is not run as a query')] };
    const request = {
      variables: { ...variables },
      ...(operationName === undefined ? {} : { operationName }),
    };
    // What the executor reads of a request; the rest is of Apollo Server's HTTP side.
    const context = {
      request,
      document,
      queryHash: '',
      operationName: operation.name?.value ?? null,
      operation,
      schema,
      context: call,
      logger,
      metrics: {},
    };
    try {
      return await executor(context as unknown as GatewayGraphQLRequestContext);
    } catch (thrown) {
      logger.error({ err: thrown, requestId: call.requestId }, 'the gateway failed');
      return {
        errors: [
          new GraphQLError('internal error', { extensions: { code: 'INTERNAL_SERVER_ERROR' } }),
        ],
      };
    }
  };

/** The gateway, which is loaded once and for all, as Apollo Server wants to load it. */
const loadedGateway = (
  apiSchema: GraphQLSchema,
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
      for (const listener of listeners) listener({ apiSchema, coreSupergraphSdl });
      return { executor };
    },
    stop: async () => {},
  };
};

/** The documents behind the named operations, each with its fragments. */
const readNamedOperations = (apiSchema: GraphQLSchema): ReadonlyMap<string, DocumentNode> => {
  const all = readOperations();
  const errors = validate(apiSchema, all);
  if (errors.length > 0) throw new Error(errors.map((error) => error.message).join('\n'));
  return new Map(Object.entries(separateOperations(all)));
};
