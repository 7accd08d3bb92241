/**
 * How subscriptions and their charges are written. `storeSubscriptions` is the only writer of an
 * existing subscription: one statement moves as many as it is given, each with the charge that the
 * same fact begins or settles and the event of a new status, and leaves out those that were
 * written since they were read (their version has grown). Rows are locked in the order of
 * their keys, so that two of these never wait for each other.
 */
import type pg from 'pg';
import { dueOn, type Timeline } from '../../platform/clock/due.ts';
import { eachMerchant, runByMerchant } from '../../platform/database/sql-file.ts';
import { eventRow, insertEvents, type OutboxEvent } from '../../platform/events/outbox.ts';
import {
  columnNames,
  columns,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import {
  chargeNames,
  findCharges,
  loadSubscriptions,
  subscriptionNames,
} from '../find-recurring.ts';
import { subscriptionEvents } from '../recurring-view.ts';
import type { StandingPatch } from '../rules/subscription.ts';
import type { Subscription, SubscriptionCharge } from '../entities.ts';

/** What becomes of one subscription, and of one of its charges when the same fact concerns it. */
export interface SubscriptionChange {
  readonly before: Subscription;
  readonly patch: StandingPatch;
  readonly charge?: SubscriptionCharge;
  /** When it happens. */
  readonly at: Temporal.Instant;
}

/** The columns that change during a subscription's life. */
const mutable = [
  'status',
  'anchorAt',
  'periods',
  'failures',
  'dueAt',
  'nextChargeAt',
  'lastChargeAt',
  'pausedAt',
  'cancelledAt',
  'cancelReason',
] as const satisfies readonly (keyof StandingPatch & keyof Subscription)[];

const assigned = [...mutable, 'version'].map(
  (name) => `${columnNames([name])} = given.${columnNames([name])}`,
);

const store: Statement = {
  name: 'subscription.store',
  text: `with given as (select * from jsonb_populate_recordset(null::subscription, $1::jsonb)),
    moved as (update subscription set ${assigned.join(', ')} from given
        join (select subscription.id from subscription join given on given.id = subscription.id and given.version = subscription.version + 1
          where subscription.merchant_id = $4 order by subscription.id for update of subscription) as locked on locked.id = given.id
      where subscription.merchant_id = $4 and subscription.id = given.id and subscription.version = given.version - 1
      returning subscription.merchant_id, subscription.id),
    charged as (insert into subscription_charge select charge.* from jsonb_populate_recordset(null::subscription_charge, $2::jsonb) as charge
        where charge.subscription_id in (select id from moved)
      on conflict (merchant_id, subscription_id, period, attempt) do update set status = excluded.status, failure_code = excluded.failure_code,
        payment_id = excluded.payment_id, ask_at = excluded.ask_at, settled_at = excluded.settled_at),
    published as (${insertEvents('$3', 'select 1 from moved where moved.merchant_id = row.merchant_id and moved.id = row.subject_id')})
    select id from moved`,
};

const statusEvents = ({ before, patch, at }: SubscriptionChange): readonly OutboxEvent[] =>
  subscriptionEvents(before.status, { ...before, ...patch }, at);

/**
 * Writes the changes of subscriptions that are unchanged since they were read; returns their ids.
 * The others stay as they are.
 */
export const storeSubscriptions = async (
  runner: Runner,
  changes: readonly SubscriptionChange[],
): Promise<ReadonlySet<string>> => {
  const named = changes
    .map((change) => ({ merchantId: change.before.merchantId, ...change }))
    // Merchants in one order, so that two transactions never deadlock.
    .toSorted((one, other) => (one.merchantId < other.merchantId ? -1 : 1));
  const stored = await eachMerchant(named, (own, merchantId) => {
    const after = own.map(({ before, patch }) =>
      rowJson(subscriptionNames, { ...before, ...patch, version: before.version + 1 }),
    );
    const charges = own.flatMap(({ charge }) => (charge ? [rowJson(chargeNames, charge)] : []));
    const events = own.flatMap(statusEvents).map(eventRow);
    const texts = [after, charges, events].map((list) => JSON.stringify(list));
    return run<{ id: string }>(runner, store, [...texts, merchantId]);
  });
  return new Set(stored.map(({ id }) => id));
};

const races_max = 20;

/**
 * Changes one subscription: reads it with its charges, lets a rule decide, writes the decision, and
 * repeats when it was changed in between. Returns the updated subscription, or the refusal;
 * `unchanged` when there is nothing to do.
 */
export const changeSubscription = async (
  runner: Runner,
  { merchantId, subscriptionId }: Pick<SubscriptionCharge, 'merchantId' | 'subscriptionId'>,
  decide: (
    subscription: Subscription,
    charges: readonly SubscriptionCharge[],
  ) => Omit<SubscriptionChange, 'before'> | Refusal | 'unchanged',
): Promise<Subscription | Refusal> => {
  for (let race = 0; race < races_max; race += 1) {
    // The subscription first: a charge that was settled after this read has grown the version, and
    // the decision is made again.
    const [before] = await loadSubscriptions(runner, [{ merchantId, id: subscriptionId }]);
    if (!before) return refuse('not_found', 'there is no such subscription');
    const [charges = []] = await findCharges(runner, [before]);
    const change = decide(before, charges);
    if (change === 'unchanged') return before;
    if (isRefusal(change)) return change;
    const stored = await storeSubscriptions(runner, [{ before, ...change }]);
    if (stored.size > 0) return { ...before, ...change.patch, version: before.version + 1 };
  }
  throw new Error(
    `subscription ${subscriptionId} was written by others ${races_max} times in a row`,
  );
};

// Null: it is not asked for any more.
const askAt: Statement = {
  name: 'subscription_charge.ask_at',
  text: `update subscription_charge set ask_at = $5
    from unnest($2::uuid[], $3::int[], $4::int[]) as asked(subscription_id, period, attempt)
    where subscription_charge.merchant_id = $1 and subscription_charge.subscription_id = asked.subscription_id
      and subscription_charge.period = asked.period and subscription_charge.attempt = asked.attempt and ask_at is not null`,
};

/** The payments of these charges exist and are requested no more; events report the rest. */
export const noteAsked = async (
  runner: Runner,
  charges: readonly SubscriptionCharge[],
): Promise<void> => {
  await runByMerchant(runner, askAt, charges, (own) => [...keysOf(own), null]);
};

/** The keys of a merchant's charges as the parameters of `unnest`. */
export const keysOf = (charges: readonly SubscriptionCharge[]): readonly unknown[] => [
  charges.map(({ subscriptionId }) => subscriptionId),
  charges.map(({ period }) => period),
  charges.map(({ attempt }) => attempt),
];

/**
 * Subscriptions that wait to be charged. They are locked until the end of the caller's transaction;
 * what others hold is left to them.
 */
export const dueSubscriptions = dueOn<Subscription>({
  name: 'subscriptions',
  table: 'subscription',
  at: 'due_at',
  columns: columns(subscriptionNames),
  where: 'due_at is not null',
  locked: true,
});

/** Charges whose payments are still to be asked for, likewise. */
export const dueAsks = dueOn<SubscriptionCharge>({
  name: 'subscription_asks',
  table: 'subscription_charge',
  at: 'ask_at',
  subject: 'subscription_id',
  columns: columns(chargeNames),
  where: 'ask_at is not null',
  locked: true,
});

/**
 * Takes up to `limit` charges whose payments are to be asked for, in the caller's transaction: they
 * are found again at `until`.
 */
export const takeAsks = async (
  client: pg.PoolClient,
  timeline: Timeline,
  now: Temporal.Instant,
  until: Temporal.Instant,
  limit: number,
): Promise<readonly SubscriptionCharge[]> => {
  const taken = await dueAsks.due(client, timeline, now, limit);
  await runByMerchant(client, askAt, taken, (own) => [...keysOf(own), until]);
  return taken;
};
