/**
 * GraphQL resolvers for alerts: the operators' list, resolving and assigning, and querying a bank
 * again.
 */
import type {
  MutationalertAssignArgs,
  MutationalertResolveArgs,
  MutationResolvers,
  QueryResolvers,
  Resolvers,
} from '../../../schema/generated/merchants.ts';
import { listAlerts } from '../../platform/alerts/alerts.ts';
import { type Alert, AlertEntity } from '../../platform/alerts/entities.ts';
import { isUuid, merchantOrNone, platformMerchantId } from '../../rules/ids.ts';
import type { Database, OnDatabase } from '../../platform/database/orm.ts';
import { alertFieldNames, alertKinds, placeOf } from '../../rules/alert.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { byVerb, orThrow, refusal } from '../../platform/access/access.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import { askBankAgain } from './ask-bank-again.ts';
import { readByKey, type RowKey } from '../../platform/database/batch-calls.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { actorOf, changeEntities, changing, type Acting } from '../../platform/database/audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';
import type { Runner, Statement } from '../../platform/database/statement.ts';
import { ConsoleSessionEntity } from '../entities.ts';
import { sessionKept_days } from '../sessions/sessions.ts';

/* Assigns an alert to a platform operator. */

const assignees_max = 200;
/** Possible assignees: the caller, and people who have logged in to the console recently. */
const findAssignees = async (
  runner: Runner,
  { principal, now }: Acting,
): Promise<readonly string[]> => {
  const people = await emOn(runner)
    .createQueryBuilder(ConsoleSessionEntity)
    .select('subject', true)
    .where({ merchantId: null, endsAt: { $gt: now().subtract({ hours: 24 * sessionKept_days }) } })
    .orderBy({ subject: 'asc' })
    .limit(assignees_max)
    .execute<{ subject: string }[]>();
  const { actor } = actorOf(principal);
  return [actor, ...people.map(({ subject }) => subject).filter((subject) => subject !== actor)];
};

/** Changes an alert that is not resolved. Refuses with `not_found` and `bad_request`. */
const changeAlert = (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  action: 'alert.assign' | 'alert.resolve',
  { merchantId = null, id }: Pick<MutationalertResolveArgs, 'merchantId' | 'id'>,
  changes: Partial<Alert>,
): Promise<Alert | Refusal> => {
  const key = { merchantId: merchantId ?? platformMerchantId, id };
  const change = changing(AlertEntity, key, 'alert', (alert, em) =>
    alert.resolvedAt
      ? refuse('bad_request', 'id: the alert is already resolved')
      : em.assign(alert, changes),
  );
  return changeEntities(database, acting, { action, merchantId, id }, change);
};

/**
 * Assigns an alert to a person; null unassigns it. Refuses with `not_found`, and with `bad_request`
 * an assignee that is not a platform operator and an alert that is resolved.
 */
const assignAlert = async (
  database: Pick<Database, 'emOf' | 'pool'>,
  acting: Acting,
  { assignee = null, ...key }: MutationalertAssignArgs,
): Promise<Alert | Refusal> => {
  if (assignee !== null && !(await findAssignees(database.pool, acting)).includes(assignee))
    return refuse('bad_request', 'assignee: no person of the platform has this name');
  return changeAlert(database, acting, 'alert.assign', key, { assignee });
};

/* Finds the payments behind alerts about payments, refunds and receipts. */

/** Reads primary keys only. */
const payments: Statement = {
  name: 'alert.payments',
  text: `select about.id, $1::uuid as "merchantId", coalesce(payment.id, refund.payment_id, receipt.payment_id) as "paymentId"
    from unnest($2::uuid[]) as about (id)
    left join payment on payment.merchant_id = $1 and payment.id = about.id
    left join refund on refund.merchant_id = $1 and refund.id = about.id
    left join receipt on receipt.merchant_id = $1 and receipt.id = about.id
    where coalesce(payment.id, refund.payment_id, receipt.payment_id) is not null`,
};

const readPayments = readByKey<RowKey & { readonly paymentId: string }>(payments);

/** The payment of each alert; null where there is none. */
const findPaymentsOf = async (
  runner: Runner,
  alerts: readonly Alert[],
): Promise<(RowKey | null)[]> => {
  const about = alerts.map(({ merchantId, subjectId: id }) => ({ merchantId, id }));
  const found = await readPayments(runner, about);
  return found.map((row) => row && { merchantId: row.merchantId, id: row.paymentId });
};

/**
 * Marks an alert as resolved by the caller, with the outcome. Refuses with `not_found`, and with
 * `bad_request` an empty note and an alert that is already resolved.
 */
const resolveAlert = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  { note, ...key }: MutationalertResolveArgs,
): Promise<Alert | Refusal> => {
  const mistake = reasonMistake(note, 'note');
  if (mistake) return mistake;
  const resolvedBy = actorOf(acting.principal).actor;
  const changes = { resolvedAt: acting.now(), resolvedBy, note };
  return changeAlert(database, acting, 'alert.resolve', key, changes);
};

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
    alertResolve: byVerb('Alert', resolveAlert, database),
    alertAssign: byVerb('Alert', assignAlert, database),
    bankAskAgain: byVerb('BankAskedAgain', askBankAgain, database),
  }) satisfies MutationResolvers;

/** Fields that are shown differently from how they are stored. */
export const alertFields = ({ database }: OnDatabase<'pool'>) => {
  const paymentOf = perCall<Alert, RowKey | null>((alerts) =>
    findPaymentsOf(database.pool, alerts),
  );
  return {
    Alert: {
      merchantId: ({ merchantId }: Alert) => merchantOrNone(merchantId),
      severity: ({ kind }: Alert) => alertKinds[kind].severity,
      place: ({ merchantId, ...about }: Alert) =>
        placeOf({ ...about, merchantId: merchantOrNone(merchantId) }),
      fields: ({ fields }: Alert) =>
        alertFieldNames.flatMap((name) => {
          const value = fields[name];
          return value === undefined ? [] : [{ name, value }];
        }),
      payment: (alert, _, context) => paymentOf(context).load(alert),
    },
  } satisfies Resolvers;
};
