/**
 * The gateway's executor, for use without Apollo Server, and as the gateway interface that Apollo
 * Server loads.
 */
import type {
  GatewayGraphQLRequestContext,
  GatewayInterface,
} from '@apollo/server-gateway-interface';
import { getOperationAST, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { ExecuteGraphRequest } from '../graph-request.ts';
import type { GatewayExecutor } from './run-documents.ts';

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
      return {
        errors: [
          new GraphQLError('internal error', { extensions: { code: 'INTERNAL_SERVER_ERROR' } }),
        ],
      };
    }
  };

/** The loaded gateway, as the interface that Apollo Server loads. */
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
