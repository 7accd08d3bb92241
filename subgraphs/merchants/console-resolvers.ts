/** Console queries beyond the cabinet: the caller, and the search. */
import type { MutationResolvers, QueryResolvers } from '../../schema/generated/merchants.ts';
import type { Database } from '../platform/database/orm.ts';
import { bankHealthQueries } from './bank-health/resolvers.ts';
import { onboardMutations } from './onboard/resolvers.ts';
import { searchFields, searchQueries } from './search/resolvers.ts';
import { totalsQueries } from './totals/resolvers.ts';
import { timelineFields } from './timeline/resolvers.ts';
import type { EndpointDeps } from './webhooks/change-endpoint.ts';
import { failureQueries } from './webhooks/failure-resolvers.ts';
import { viewMutations, viewQueries } from './views/resolvers.ts';
import { viewerFields, viewerQueries } from './viewer/resolvers.ts';

export interface ConsoleDeps {
  readonly issuer: string | null;
  readonly database: Database;
}

/** The queries of a console. */
export const consoleQueries = (deps: ConsoleDeps) =>
  ({
    ...viewerQueries,
    ...searchQueries(deps),
    ...viewQueries(deps),
    ...totalsQueries(deps),
    ...bankHealthQueries(deps),
    ...failureQueries(deps),
  }) satisfies QueryResolvers;

/** The fields of its types. */
export const consoleFields = (deps: ConsoleDeps) => ({
  ...viewerFields(deps),
  ...searchFields,
  ...timelineFields,
});

/** The mutations of a console. */
export const consoleMutations = (deps: EndpointDeps) =>
  ({ ...onboardMutations(deps), ...viewMutations(deps) }) satisfies MutationResolvers;
