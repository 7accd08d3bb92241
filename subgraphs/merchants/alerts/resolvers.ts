/**
 * GraphQL resolvers for alerts: the operators' list, resolving and assigning, and querying a bank
 * again.
 */
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
} from '../../../schema/generated/merchants.ts';
import { type Alert, AlertEntity } from '../../platform/alerts/entities.ts';
import { listAlerts } from '../../platform/alerts/alerts.ts';
import { isUuid, platformMerchantId } from '../../rules/ids.ts';
import type { Database } from '../../platform/database/orm.ts';
import { alertFieldNames, alertSeverities, placeOf } from '../../rules/alert.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { orThrow, refusal } from '../../platform/access/access.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import { askBankAgain } from './ask-bank-again.ts';
import { forUpdate } from '../../platform/database/orm-connections.ts';
import { actorOf, changeEntities, type Acting, type AuditedAction } from '../audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';
import { runByMerchant } from '../../platform/database/sharding.ts';
import { type Runner, run, type Statement } from '../../platform/database/statement.ts';
import { sessionKept_days } from '../sessions/sessions.ts';

/* Assigns an alert to a platform operator. */

const assignees_max = 200;
/** Limit on the sessions read: far more than the platform's operators have in a month. */
const sessions_max = 10_000;

const peopleOfPlatform: Statement = {
  name: 'console_session.people',
  text: `select distinct subject from (select subject from console_session
      where merchant_id is null and ends_at > $1::timestamptz - interval '${sessionKept_days} days' order by ends_at desc limit ${sessions_max}) recent
    order by subject limit ${assignees_max}`,
};

/** Possible assignees: the caller, and people who have logged in to the console recently. */
const findAssignees = async (
  runner: Runner,
  { principal, now }: Acting,
): Promise<readonly string[]> => {
  const people = await run<{ subject: string }>(runner, peopleOfPlatform, [now()]);
  const { actor } = actorOf(principal);
  return [actor, ...people.map(({ subject }) => subject).filter((subject) => subject !== actor)];
};

/** The alert and its assignee; null unassigns it. */
interface Assignment {
  /** Null: an alert about the platform itself. */
  readonly merchantId: string | null;
  readonly id: string;
  readonly assignee: string | null;
}

/**
 * Assigns an alert to a person. Refuses with `not_found`, and with `bad_request` an assignee that
 * is not a platform operator and an alert that is resolved.
 */
const assignAlert = async (
  database: Pick<Database, 'emOf' | 'pool'>,
  acting: Acting,
  { merchantId, id, assignee }: Assignment,
): Promise<Alert | Refusal> => {
  const none = refuse('not_found', 'there is no such alert');
  if (!isUuid(id)) return none;
  if (assignee !== null && !(await findAssignees(database.pool, acting)).includes(assignee))
    return refuse('bad_request', 'assignee: no person of the platform has this name');
  const action: AuditedAction = {
    action: 'alert.assign',
    merchantId,
    subject: { kind: 'alert', id },
  };
  return changeEntities(database, acting, action, async (em) => {
    const key = { merchantId: merchantId ?? platformMerchantId, id };
    const alert = await em.findOne(AlertEntity, key, forUpdate);
    if (!alert) return none;
    if (alert.resolvedAt) return refuse('bad_request', 'id: the alert is already resolved');
    return em.assign(alert, { assignee });
  });
};

/* Finds the payments behind alerts about payments, refunds and receipts. */

interface PaymentKey {
  readonly merchantId: string;
  readonly id: string;
}

type About = Pick<Alert, 'merchantId' | 'subjectId'>;

/** Reads primary keys only. */
const payments: Statement = {
  name: 'alert.payments',
  text: `select about.id as "subjectId", $1::uuid as "merchantId", coalesce(payment.id, refund.payment_id, receipt.payment_id) as id
    from unnest((select $2::uuid[])) as about (id)
    left join payment on payment.merchant_id = $1 and payment.id = about.id
    left join refund on refund.merchant_id = $1 and refund.id = about.id
    left join receipt on receipt.merchant_id = $1 and receipt.id = about.id
    where coalesce(payment.id, refund.payment_id, receipt.payment_id) is not null`,
};

/** The payment of each alert; null where there is none. */
const findPaymentsOf = async (
  runner: Runner,
  alerts: readonly About[],
): Promise<(PaymentKey | null)[]> => {
  const sane = alerts.filter(({ subjectId }) => isUuid(subjectId));
  const rows = await runByMerchant<PaymentKey & { readonly subjectId: string }, About>(
    runner,
    payments,
    sane,
    (own) => [own.map(({ subjectId }) => subjectId)],
  );
  const found = new Map(rows.map((row) => [`${row.merchantId}/${row.subjectId}`, row]));
  return alerts.map(({ merchantId, subjectId }) => {
    const row = found.get(`${merchantId}/${subjectId}`);
    return row ? { merchantId, id: row.id } : null;
  });
};

/* Resolves an alert: an operator records the outcome. */

/**
 * Marks an alert as resolved by the caller. `merchantId` null: an alert about the platform itself.
 * Refuses with `not_found`, and with `bad_request` an empty note and an alert that is already
 * resolved.
 */
const resolveAlert = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  {
    merchantId,
    id,
    note,
  }: { readonly merchantId: string | null; readonly id: string; readonly note: string },
): Promise<Alert | Refusal> => {
  const none = refuse('not_found', 'there is no such alert');
  if (!isUuid(id)) return none;
  const mistake = reasonMistake(note);
  if (mistake) return mistake;
  const action: AuditedAction = {
    action: 'alert.resolve',
    merchantId,
    subject: { kind: 'alert', id },
  };
  return changeEntities(database, acting, action, async (em) => {
    const key = { merchantId: merchantId ?? platformMerchantId, id };
    const alert = await em.findOne(AlertEntity, key, forUpdate);
    if (!alert) return none;
    if (alert.resolvedAt) return refuse('bad_request', 'id: the alert is already resolved');
    const resolvedBy = actorOf(acting.principal).actor;
    return em.assign(alert, { resolvedAt: acting.now(), resolvedBy, note });
  });
};

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
      return isRefusal(resolved) ? resolved : { ...resolved, __typename: 'Alert' };
    },
    alertAssign: async (_, { merchantId, id, assignee }, context) => {
      const assignment = { merchantId: merchantId ?? null, id, assignee: assignee ?? null };
      const assigned = await assignAlert(database, context, assignment);
      return isRefusal(assigned) ? assigned : { ...assigned, __typename: 'Alert' };
    },
    bankAskAgain: async (_, operation, context) => {
      const asked = await askBankAgain(database, context, operation);
      return isRefusal(asked) ? asked : { ...asked, __typename: 'BankAskedAgain' };
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
      place: ({ merchantId, ...about }: Alert) =>
        placeOf({ ...about, merchantId: merchantId === platformMerchantId ? null : merchantId }),
      fields: ({ fields }: Alert) =>
        alertFieldNames.flatMap((name) => {
          const value = fields[name];
          return value === undefined ? [] : [{ name, value }];
        }),
      payment: (alert, _, context) => paymentOf(context).load(alert),
    },
  } satisfies Pick<Resolvers, 'Alert'>;
};
