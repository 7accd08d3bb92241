/**
 * `@apollo/gateway` as this service uses it: without telemetry, and by plans that were made
 * elsewhere. It is loaded by the first document that cannot be compiled.
 */
import { randomUUID } from 'node:crypto';
import { env } from 'node:process';
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import type { GatewayGraphQLResponse } from '@apollo/server-gateway-interface';
import { subgraphNames, type SubgraphName } from '../schema/sources.ts';
import { presentInputError } from '../subgraphs/platform/graph/present-errors.ts';
import type { SubgraphExecutor } from '../subgraphs/platform/graph/subgraph.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { fetchDocument } from './compile/plan-fetches.ts';
import type { DocumentDeps, GatewayExecutor } from './graphql/run-documents.ts';
import type { Call } from '../subgraphs/platform/access/principal.ts';

/*
 * The stock gateway's access to a subgraph: through its executor, which prepares each document once.
 */

/** Opens a data source over the executor. The context of the gateway's request is the `Call`. */
const subgraphSource = (executor: SubgraphExecutor): GraphQLDataSource<Call> => ({
  process: async (options): Promise<GatewayGraphQLResponse> => {
    const { query, variables } = options.request;
    if (options.kind !== 'incoming operation' || query === undefined)
      throw new Error(`a subgraph was asked for ${options.kind}`);
    const document = fetchDocument({
      operation: query,
      ...(options.document ? { operationDocumentNode: options.document } : {}),
    });
    const { data, errors } = await executor.prepare(document)(variables ?? {}, options.context);
    return errors
      ? { data: data ?? null, errors: errors.map((error) => error.toJSON()) }
      : { data: data ?? null };
  },
});

/**
 * The package reports every process to its vendor and queries the clouds' metadata services. It can
 * be switched off by the environment alone.
 */
const disableTelemetry = (): void => {
  env['APOLLO_TELEMETRY_DISABLED'] = 'true';
};

/** Internals of the gateway that have no public access. */
interface GatewayInternals {
  readonly queryPlanStore?: {
    set(key: string, plan: QueryPlan): Promise<unknown>;
    delete(key: string): Promise<unknown>;
  };
}

export interface StockGatewayDeps {
  /** The composed schema, `schema/supergraph.graphql`. */
  readonly supergraphSdl: string;
  readonly executors: Readonly<Record<SubgraphName, SubgraphExecutor>>;
  readonly log: Logger;
}

/** Opens the gateway; gives its executor, which takes a plan that was made elsewhere. */
export const openStockGateway = async ({
  supergraphSdl,
  executors,
  log,
}: StockGatewayDeps): Promise<DocumentDeps['runByPlan']> => {
  const sources: Readonly<Record<string, GraphQLDataSource>> = Object.fromEntries(
    subgraphNames.map((name) => [name, subgraphSource(executors[name])]),
  );
  disableTelemetry();
  const gateway = new ApolloGateway({
    supergraphSdl,
    logger: log,
    buildService: ({ name }) => sources[name] ?? unknownSubgraph(name),
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    // Composition validated it when it was built, and a test proves that it is current.
    validateSupergraph: false,
  });
  const { executor } = await gateway.load();
  const run = withoutValues(executor);
  const { queryPlanStore } = gateway as unknown as GatewayInternals;
  if (!queryPlanStore) throw new Error('the gateway has loaded no supergraph');
  // The executor looks plans up by the hash of the document: this one has a random name.
  return async (made, context) => {
    const queryHash = randomUUID();
    await queryPlanStore.set(queryHash, made);
    try {
      return await run({ ...context, queryHash });
    } finally {
      await queryPlanStore.delete(queryHash);
    }
  };
};

const unknownSubgraph = (name: string): never => {
  throw new Error(`the supergraph names a subgraph that is not ours: ${name}`);
};

/** The stock executor validates variables itself. Their values are removed from its messages. */
const withoutValues =
  (executor: GatewayExecutor): GatewayExecutor =>
  async (context) => {
    const result = await executor(context);
    return result.errors && !('data' in result)
      ? { ...result, errors: result.errors.map(presentInputError) }
      : result;
  };
