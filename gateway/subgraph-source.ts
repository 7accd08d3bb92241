/**
 * The stock gateway's access to a subgraph: through its executor, with each document prepared once.
 */
import type { GraphQLDataSource } from '@apollo/gateway';
import type { GatewayGraphQLResponse } from '@apollo/server-gateway-interface';
import { parse, type DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Call } from '../subgraphs/kernel/service/access/principal.ts';
import type {
  PreparedDocument,
  SubgraphExecutor,
} from '../subgraphs/kernel/service/graph/subgraph.ts';

const preparedDocuments = 1_000;

/** Opens a data source over the executor. The context of the gateway's request is the `Call`. */
export const subgraphSource = (executor: SubgraphExecutor): GraphQLDataSource<Call> => {
  const prepared = new LRUCache<string, PreparedDocument>({ max: preparedDocuments });
  const prepare = (query: string, document: DocumentNode | undefined): PreparedDocument => {
    const known = prepared.get(query);
    if (known) return known;
    const run = executor.prepare(document ?? parse(query));
    prepared.set(query, run);
    return run;
  };
  return {
    process: async (options): Promise<GatewayGraphQLResponse> => {
      const { query, variables } = options.request;
      if (options.kind !== 'incoming operation' || query === undefined)
        throw new Error(`a subgraph was asked for ${options.kind}`);
      const { data, errors } = await prepare(query, options.document)(
        variables ?? {},
        options.context,
      );
      return errors
        ? { data: data ?? null, errors: errors.map((error) => error.toJSON()) }
        : { data: data ?? null };
    },
  };
};
