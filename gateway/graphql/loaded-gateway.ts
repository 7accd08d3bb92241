/**
 * The gateway's executor, for use without Apollo Server, and as the gateway interface that Apollo
 * Server loads.
 */
import type {
  GatewayGraphQLRequestContext,
  GatewayInterface,
} from '@apollo/server-gateway-interface';
import { getOperationAST, GraphQLError, type GraphQLSchema, type ExecutionResult } from 'graphql';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import type { PreparedDocument } from '../../subgraphs/platform/graph/subgraph.ts';
import { type Logger, internalErrors } from '../../subgraphs/platform/tracing/telemetry.ts';
import { codedError, isForClients } from './errors.ts';
import type { ExecuteGraphRequest, GatewayExecutor } from './run-documents.ts';

/** The executor without Apollo Server, for documents that have been read. Never rejects. */
export const executeWithoutServer =
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

// Logs the failures of this process with their causes, before the client gets an internal error. A
// subgraph logs its own failures, wherever it runs; its errors carry its name.

const isOwn = (error: Error): boolean =>
  !(error instanceof GraphQLError) ||
  (error.extensions['serviceName'] === undefined && !isForClients(error));

const causeOf = (error: Error): Error =>
  error instanceof GraphQLError ? (error.originalError ?? error) : error;

/** Logs the errors of a result that this process caused; returns the result. */
const logOwnErrors = (
  result: ExecutionResult,
  { requestId }: Call,
  log: Logger,
): ExecutionResult => {
  for (const error of result.errors ?? []) {
    if (!isOwn(error)) continue;
    internalErrors.inc();
    log.error({ err: causeOf(error), path: error.path, requestId }, 'the gateway could not answer');
  }
  return result;
};

export const executeLogged =
  (executor: GatewayExecutor, log: Logger): GatewayExecutor =>
  async (context) =>
    // The gateway passes its context on as `unknown`.
    logOwnErrors(await executor(context), context.context as Call, log);

export const runLogged =
  (run: PreparedDocument, log: Logger): PreparedDocument =>
  async (variables, call) =>
    logOwnErrors(await run(variables, call), call, log);
