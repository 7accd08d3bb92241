/**
 * `@apollo/gateway` as this service uses it: without telemetry, with access to its planner, and
 * with its executor outside of Apollo Server.
 */
import { randomUUID } from 'node:crypto';
import { env } from 'node:process';
import { operationFromDocument, type Schema } from '@apollo/federation-internals';
import type { ApolloGateway } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import type {
  GatewayGraphQLRequestContext,
  GatewayInterface,
} from '@apollo/server-gateway-interface';
import {
  getOperationAST,
  GraphQLError,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { presentInputError } from '../subgraphs/kernel/service/graph/present-errors.ts';
import type { Logger } from '../subgraphs/kernel/service/tracing/telemetry.ts';
import type { ExecuteGraphRequest } from './graph-request.ts';
import type { GatewayExecutor } from './graphql/run-documents.ts';

/**
 * The package reports every process to its vendor and queries the clouds' metadata services. It can
 * be switched off by the environment alone.
 */
export const disableTelemetry = (): void => {
  env['APOLLO_TELEMETRY_DISABLED'] = 'true';
};

/** Internals of the gateway that have no public access. */
interface GatewayInternals {
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
export const plannerAndExecutorOf = (gateway: ApolloGateway, stock: GatewayExecutor) => {
  const { queryPlanner, apiSchema, queryPlanStore } = gateway as unknown as GatewayInternals;
  if (!queryPlanner || !apiSchema || !queryPlanStore)
    throw new Error('the gateway has loaded no supergraph');
  return {
    plan: (document: DocumentNode): QueryPlan =>
      queryPlanner.buildQueryPlan(operationFromDocument(apiSchema, document)),
    /**
     * The executor looks plans up by the hash of the document: this one is stored under a random
     * name.
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

/**
 * The stock executor validates variables itself. Their values are removed from its messages
 * (decision D-06).
 */
export const withoutValues =
  (executor: GatewayExecutor): GatewayExecutor =>
  async (context) => {
    const result = await executor(context);
    return result.errors && !('data' in result)
      ? { ...result, errors: result.errors.map(presentInputError) }
      : result;
  };

/** The executor without Apollo Server, for documents that have been read. Never rejects. */
export const executeWithoutServer =
  (schema: GraphQLSchema, executor: GatewayExecutor, logger: Logger): ExecuteGraphRequest =>
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

/** The loaded gateway, behind the interface by which Apollo Server loads one. */
export const loadedGateway = (
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
