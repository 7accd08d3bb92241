/** GraphQL resolvers for reconciliation, for platform operators. */
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { isRefused, type Refused } from '../../kernel/rules/refusal.ts';
import { orThrow } from '../../kernel/service/access/reach.ts';
import type { ReconciliationDifference, ReconciliationRun } from './entities.ts';
import { listDifferences, listRuns, resolveDifference } from './list-reconciliation.ts';
import { addRegistryPart, matchReconciliation, openReconciliation } from './upload-report.ts';

interface Parts {
  readonly database: Pick<Database, 'pool' | 'emOf'>;
}

const named = (result: ReconciliationRun | Refused) =>
  isRefused(result) ? result : { ...result, __typename: 'ReconciliationRun' as const };

/** The queries of reconciliation. */
export const reconciliationQueries = ({ database }: Parts) =>
  ({
    reconciliationRuns: async (_, query, context) =>
      orThrow(await listRuns(database.emOf(context), query)),
    reconciliationDifferences: async (_, query, context) =>
      orThrow(await listDifferences(database.emOf(context), query)),
  }) satisfies QueryResolvers;

/** The mutations of reconciliation; each writes an audit entry. */
export const reconciliationMutations = ({ database }: Parts) =>
  ({
    reconciliationOpen: async (_, name, context) =>
      named(await openReconciliation(database, context, name)),
    reconciliationPartAdd: async (_, part, context) =>
      named(await addRegistryPart(database, context, part)),
    reconciliationMatch: async (_, { runId }, context) =>
      named(await matchReconciliation(database, context, runId)),
    reconciliationDifferenceResolve: async (_, { merchantId, ...input }, context) => {
      const resolved = await resolveDifference(database, context, {
        ...input,
        merchantId: merchantId ?? null,
      });
      return isRefused(resolved)
        ? resolved
        : { ...resolved, __typename: 'ReconciliationDifference' };
    },
  }) satisfies MutationResolvers;

/** Fields of a difference that are shown differently from how they are stored. */
export const reconciliationFields = {
  ReconciliationDifference: {
    merchantId: ({ merchantId }: ReconciliationDifference) =>
      merchantId === platformMerchantId ? null : merchantId,
  },
};
