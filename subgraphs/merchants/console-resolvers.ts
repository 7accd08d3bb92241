/** Console queries beyond the cabinet: the caller, and the search. */
import type { MutationResolvers, QueryResolvers } from '../../schema/generated/merchants.ts';
import type { Database } from '../kernel/database/orm.ts';
import { bankHealthQueries } from './bank-health/resolvers.ts';
import { onboardMutations } from './onboard/resolvers.ts';
import { searchFields, searchQueries } from './search/resolvers.ts';
import { totalsQueries } from './totals/resolvers.ts';
import { timelineFields } from './timeline/resolvers.ts';
import type { EndpointParts } from './webhooks/change-endpoint.ts';
import { failureQueries } from './webhooks/failure-resolvers.ts';
import { viewMutations, viewQueries } from './views/resolvers.ts';
import { viewerFields, viewerQueries } from './viewer/resolvers.ts';

export interface ConsoleParts {
  readonly database: Database;
}

/** The queries of a console. */
export const consoleQueries = (parts: ConsoleParts) =>
  ({
    ...viewerQueries,
    ...searchQueries(parts),
    ...viewQueries(parts),
    ...totalsQueries(parts),
    ...bankHealthQueries(parts),
    ...failureQueries(parts),
  }) satisfies QueryResolvers;

/** The fields of its types. */
export const consoleFields = (parts: ConsoleParts) => ({
  ...viewerFields(parts),
  ...searchFields,
  ...timelineFields,
});

/** The mutations of a console. */
export const consoleMutations = (parts: EndpointParts) =>
  ({ ...onboardMutations(parts), ...viewMutations(parts) }) satisfies MutationResolvers;
