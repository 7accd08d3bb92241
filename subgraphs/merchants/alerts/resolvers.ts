/**
 * GraphQL resolvers for alerts: the operators' list, resolving and assigning, and querying a bank
 * again.
 */
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
} from '../../../schema/generated/merchants.ts';
import type { Alert } from '../../kernel/alerts/entities.ts';
import { listAlerts } from '../../kernel/alerts/find-alerts.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { alertSeverities } from '../../kernel/rules/alert.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import { orThrow, refusal } from '../../kernel/service/access/reach.ts';
import { perCall } from '../../kernel/service/graph/per-call.ts';
import { findPaymentsOf, type PaymentKey } from './payments-of-alerts.ts';
import { assignAlert, findAssignees } from './assign-alert.ts';
import { askBankAgain } from './ask-bank-again.ts';
import { resolveAlert } from './resolve-alert.ts';

/** The query of alerts. */
export const alertQueries = ({ database }: { readonly database: Database }) =>
  ({
    alerts: async (_, { merchantId, ...query }, context) => {
      if (merchantId && !isUuid(merchantId))
        throw refusal('not_found', 'there is no such merchant');
      return orThrow(await listAlerts(database.emOf(context), { ...query, merchantId }));
    },
    alertAssignees: async (_, __, context) => [...(await findAssignees(database.pool, context))],
  }) satisfies QueryResolvers;

/** The mutations of alerts; each leaves its audit entry. */
export const alertMutations = ({ database }: { readonly database: Database }) =>
  ({
    alertResolve: async (_, { merchantId, id, note }, context) => {
      const resolved = await resolveAlert(database, context, {
        merchantId: merchantId ?? null,
        id,
        note,
      });
      return isRefused(resolved) ? resolved : { ...resolved, __typename: 'Alert' };
    },
    alertAssign: async (_, { merchantId, id, assignee }, context) => {
      const assignment = { merchantId: merchantId ?? null, id, assignee: assignee ?? null };
      const assigned = await assignAlert(database, context, assignment);
      return isRefused(assigned) ? assigned : { ...assigned, __typename: 'Alert' };
    },
    bankAskAgain: async (_, operation, context) => {
      const asked = await askBankAgain(database, context, operation);
      return isRefused(asked) ? asked : { ...asked, __typename: 'BankAskedAgain' };
    },
  }) satisfies MutationResolvers;

/** Fields that are shown differently from how they are stored. */
export const alertFields = ({ database }: { readonly database: Pick<Database, 'pool'> }) => {
  const paymentOf = perCall<Alert, PaymentKey | null>((alerts) =>
    findPaymentsOf(database.pool, alerts),
  );
  return {
    Alert: {
      merchantId: ({ merchantId }: Alert) =>
        merchantId === platformMerchantId ? null : merchantId,
      severity: ({ kind }: Alert) => alertSeverities[kind],
      payment: (alert, _, context) => paymentOf(context).load(alert),
    },
  } satisfies Pick<Resolvers, 'Alert'>;
};
