/** GraphQL resolvers for reconciliation, for platform operators. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  MutationResolvers,
  QueryResolvers,
  QueryreconciliationDifferencesArgs,
  MutationreconciliationDifferenceResolveArgs,
} from '../../../schema/generated/merchants.ts';
import type { Database, OnDatabase } from '../../platform/database/orm.ts';
import { platformMerchantId, isUuid, merchantOrNone } from '../../rules/ids.ts';
import { type Refusal, refuse } from '../../rules/refusal.ts';
import { byVerb, orThrow } from '../../platform/access/access.ts';
import {
  type ReconciliationDifference,
  type OperationSide,
  type ReconciliationRun,
  ReconciliationDifferenceEntity,
  ReconciliationRunEntity,
} from './entities.ts';
import { addRegistryPart, matchReconciliation, openReconciliation } from './upload-report.ts';
import { perCall, type SubgraphContext } from '../../platform/graph/subgraph.ts';
import { findPage, given, type Page } from '../../platform/database/keyset.ts';
import {
  actorOf,
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';

/* Reconciliation for operators: runs, differences, and resolving a difference. */

/** A page of differences, newest first; `bad_request` for a wrong size, cursor or id. */
export const listDifferences = async (
  em: EntityManager,
  query: Partial<QueryreconciliationDifferencesArgs>,
): Promise<Page<ReconciliationDifference> | Refusal> => {
  const { runId = null, kind = null, mode = null, resolved = null, merchantId = null } = query;
  for (const [field, id] of Object.entries({ runId, merchantId })) {
    if (id !== null && !isUuid(id)) return refuse('bad_request', `${field}: expected a UUID`);
  }
  const resolvedAt = resolved === null ? {} : { resolvedAt: resolved ? { $ne: null } : null };
  const where = { ...given({ runId, kind, mode, merchantId }), ...resolvedAt };
  return findPage(em, { entity: ReconciliationDifferenceEntity, at: 'foundAt', where }, query);
};

/**
 * Resolves a difference; `merchantId` null: a difference without a merchant. Refuses with
 * `not_found`, and with `bad_request` an empty note and a difference that is already resolved.
 */
export const resolveDifference = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  { merchantId = null, id, note }: MutationreconciliationDifferenceResolveArgs,
): Promise<ReconciliationDifference | Refusal> => {
  const mistake = reasonMistake(note, 'note');
  if (mistake) return mistake;
  const action: AuditedAction = { action: 'reconciliation_difference.resolve', merchantId, id };
  const key = { merchantId: merchantId ?? platformMerchantId, id };
  const entity = ReconciliationDifferenceEntity;
  const resolve = changing(entity, key, 'difference', (difference, em) => {
    if (difference.resolvedAt)
      return refuse('bad_request', 'id: the difference is already resolved');
    const resolvedBy = actorOf(acting.principal).actor;
    return em.assign(difference, { resolvedAt: acting.now(), resolvedBy, note });
  });
  return changeEntities(database, acting, action, resolve);
};

export const reconciliationQueries = ({ database }: OnDatabase<'emOf'>) =>
  ({
    reconciliationRuns: async (_, { connector, mode, ...page }, context) => {
      const where = given({ connector, mode });
      const list = { entity: ReconciliationRunEntity, at: 'createdAt', where } as const;
      return orThrow(await findPage(database.emOf(context), list, page));
    },
    reconciliationDifferences: async (_, query, context) =>
      orThrow(await listDifferences(database.emOf(context), query)),
  }) satisfies QueryResolvers;

/** The mutations of reconciliation; each writes an audit entry. */
export const reconciliationMutations = ({ database }: OnDatabase<'emOf'>) =>
  ({
    reconciliationOpen: byVerb('ReconciliationRun', openReconciliation, database),
    reconciliationPartAdd: byVerb('ReconciliationRun', addRegistryPart, database),
    reconciliationMatch: byVerb('ReconciliationRun', matchReconciliation, database),
    reconciliationDifferenceResolve: byVerb(
      'ReconciliationDifference',
      resolveDifference,
      database,
    ),
  }) satisfies MutationResolvers;

const shownSide = (side: OperationSide | null) => side && { ...side, amount: BigInt(side.amount) };

/** Fields that are shown differently from how they are stored, or not stored. */
export const reconciliationFields = ({ database }: OnDatabase<'emOf'>) => {
  const openOf = perCall<string, number>(async (ids, context) => {
    const open = { where: { runId: { $in: [...ids] }, resolvedAt: null } };
    const em = database.emOf(context);
    const counts = await em.countBy(ReconciliationDifferenceEntity, 'runId', open);
    return ids.map((id) => counts[id] ?? 0);
  });
  return {
    ReconciliationRun: {
      openDifferences: ({ id }: ReconciliationRun, _: unknown, context: SubgraphContext) =>
        openOf(context).load(id),
    },
    ReconciliationDifference: {
      merchantId: ({ merchantId }: ReconciliationDifference) => merchantOrNone(merchantId),
      atBank: ({ atBank }: ReconciliationDifference) => shownSide(atBank),
      here: ({ here }: ReconciliationDifference) => shownSide(here),
    },
  };
};
