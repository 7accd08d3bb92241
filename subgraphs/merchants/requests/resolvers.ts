/**
 * GraphQL resolvers for the request log: a key reads its own shop's, a person that of a named shop.
 */
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
} from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { orThrow } from '../../kernel/service/access/reach.ts';
import { shopOf } from '../event-log/resolvers.ts';
import { findRequest, findRequests } from './read-requests.ts';
import { openRequestStore } from './store-requests.ts';

interface Parts {
  readonly database: Pick<Database, 'pool'>;
}

/** The queries of the log. */
export const requestQueries = ({ database: { pool } }: Parts) =>
  ({
    apiRequests: async (_, { merchantId, shopId, mode, ...query }, { principal }) =>
      orThrow(
        await findRequests(
          pool,
          shopOf(principal, { merchantId, shopId, mode }),
          query,
          Temporal.Now.instant(),
        ),
      ),
    apiRequest: (_, { id, ...named }, { principal }) =>
      findRequest(pool, shopOf(principal, named), id, Temporal.Now.instant()),
  }) satisfies QueryResolvers;

/** Requests from the edge. */
export const requestMutations = ({ database: { pool } }: Parts) => {
  const store = openRequestStore(pool);
  return {
    apiRequestsNote: (_, { requests }) => store(requests),
  } satisfies MutationResolvers;
};

export const requestFields = {
  ApiRequest: {
    id: ({ requestId }) => requestId,
    at: ({ createdAt }) => createdAt,
    durationMs: ({ duration_ms }) => duration_ms,
  },
} satisfies Pick<Resolvers, 'ApiRequest'>;
