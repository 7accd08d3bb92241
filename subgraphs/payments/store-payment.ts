/**
 * How payments are read and written. One statement moves a payment, books its postings and
 * publishes its events, or does nothing when the payment was written in between (its
 * version has grown). Only the erasure and `bankAskAgain` write an existing payment elsewhere.
 */
import pg from 'pg';
import {
  isSharded,
  runSharded,
  shardedByKey,
  eachMerchant,
} from '../platform/database/sharding.ts';
import { batched } from '../platform/database/batch-calls.ts';
import {
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../platform/database/statement.ts';
import { numberForShard, runRows, sqlFile } from '../platform/database/sql-file.ts';
import type { Subject } from '../platform/alerts/dead-letters.ts';
import { type Payment, PaymentEntity } from './entities.ts';
import { mutable, storingOf, type PaymentChange, type Storing } from './payment-change.ts';
import { type Refund, RefundEntity } from './refunds/entities.ts';
import { effectiveRate } from '../ledger/rate.ts';

export const refundNames = propertyNames(RefundEntity);

/** SQL: the effective rate of a payment's method at a moment, basis points. */
const rateAt = (moment: string): string =>
  `coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', moment)}, 0)`;

export const paymentNames = propertyNames(PaymentEntity);
const paymentColumns = columns(paymentNames, 'payment');

export interface PaymentKey {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** The payment as the subject of a dead letter. */
export const subjectOfPayment = ({ merchantId, paymentId }: PaymentKey): Subject => ({
  merchantId,
  subjectId: paymentId,
});

/** A payment with what a decision about it needs. */
export interface RatedPayment {
  readonly payment: Payment;
  /** Effective rate of its method when it was read, basis points; null: it was not read. */
  readonly rateBps: number | null;
}

/** A payment to be read, with its rate at a moment. */
interface Finding {
  readonly key: PaymentKey;
  readonly now: Temporal.Instant;
}
type FoundRow = Payment & { readonly rateBps: number };

const find: Statement = {
  name: 'payment.find',
  text: `select ${paymentColumns}, ${rateAt('$3::timestamptz')} as "rateBps"
    from payment where merchant_id = $1 and id = $2`,
};

// As subqueries the arrays say nothing to the planner, so that the plan is made once.
const findMany: Statement = {
  name: 'payment.find_many',
  text: `select ${paymentColumns}, ${rateAt('asked.at')} as "rateBps", asked.place::int as place
    from unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::timestamptz[]))
      with ordinality as asked (merchant_id, id, at, place)
    cross join lateral (select * from payment where merchant_id = asked.merchant_id and id = asked.id limit 1) as payment`,
};

const findAlone = async (runner: Runner, { key, now }: Finding): Promise<RatedPayment | null> => {
  const [row] = await run<FoundRow>(runner, find, [key.merchantId, key.paymentId, now]);
  if (!row) return null;
  const { rateBps, ...payment } = row;
  return { payment, rateBps };
};

const findGathered = batched<Finding, RatedPayment | null>({
  name: find.name,
  callerOf: ({ key }) => key.merchantId,
  run: async (pool, findings) => {
    if (findings.length === 1 || (await isSharded(pool)))
      return Promise.all(findings.map((one) => findAlone(pool, one)));
    const found = new Map<number, RatedPayment>();
    const rows = await run<FoundRow & { readonly place: number }>(pool, findMany, [
      findings.map(({ key }) => key.merchantId),
      findings.map(({ key }) => key.paymentId),
      findings.map(({ now }) => now),
    ]);
    for (const { place, rateBps, ...payment } of rows) found.set(place, { payment, rateBps });
    return findings.map((_, index) => found.get(index + 1) ?? null);
  },
});

/** Reads a payment; null when there is none. Reads of the same moment share a statement. */
export const findPayment = (
  runner: Runner,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<RatedPayment | null> =>
  runner instanceof pg.Pool ? findGathered(runner, { key, now }) : findAlone(runner, { key, now });

const refundsOf = shardedByKey(
  'payment.refunds',
  'payment_id',
  (ofKeys) =>
    `select ${columns(refundNames)} from refund where ${ofKeys} order by created_at, id limit $3`,
);

/** The refunds of payments, oldest first, at most so many of all together; null: all of them. */
export const findRefunds = async (
  runner: Runner,
  payments: readonly Pick<Payment, 'merchantId' | 'id'>[],
  limit: number | null = null,
): Promise<Refund[]> => {
  type Key = Pick<Payment, 'merchantId' | 'id'>;
  const refunds = await runSharded<Refund, Key>(runner, refundsOf, payments, (own) => [
    own.map(({ id }) => id),
    limit,
  ]);
  return limit === null ? refunds : refunds.slice(0, limit);
};

const store = sqlFile(import.meta.dirname, 'store-payment.sql');
const sentNames = ['merchantId', 'id', ...mutable];

const sentRow = ({ before, after, rateBps, refunds, ...written }: Storing) => ({
  ...rowJson(sentNames, after),
  version: before.version,
  shop_id: before.shopId,
  read_method: before.method,
  rate_bps: rateBps,
  refunds: refunds.map((refund) => rowJson(refundNames, refund)),
  ...written,
});

/**
 * Writes changes of payments of one merchant, one of each; gives the ids of those that were
 * written. Without `mayWait`, a payment that is locked is left alone.
 */
export const storeTogether = async (
  runner: Runner,
  storings: readonly Storing[],
  mayWait: boolean,
): Promise<ReadonlySet<string>> => {
  const [first] = storings;
  if (!first) return new Set();
  const rows = storings.map(sentRow);
  const events = rows.flatMap((row) => row.events);
  await numberForShard(runner, events, 'position', 'event_position_seq');
  const { merchantId } = first.after;
  const written = await runRows<{ id: string }>(runner, store, merchantId, rows, mayWait);
  return new Set(written.map(({ id }) => id));
};

/**
 * Writes many changes in one statement for each merchant, for thousands of payments that end in the
 * same minute. A payment that was written since it was read, or that is locked, is left alone.
 * Returns the number written.
 */
export const storePayments = async (
  runner: Runner,
  changes: readonly { readonly before: Payment; readonly change: PaymentChange }[],
  now: Temporal.Instant,
): Promise<number> => {
  const storings = changes.map(({ before, change }) => ({
    merchantId: before.merchantId,
    ...storingOf(before, change, now),
  }));
  const written = await eachMerchant(storings, async (own) => [
    ...(await storeTogether(runner, own, false)),
  ]);
  return written.length;
};

/** Gives `left` for what a batch did not write: its version is another, or it is locked. */
const storeGathered = batched<Storing, Payment | 'left' | null>({
  name: store.name,
  callerOf: ({ after }) => after.merchantId,
  perCaller: true,
  run: async (pool, storings) => {
    const first = new Map(storings.toReversed().map((one) => [one.after.id, one]));
    const isAlone = storings.length === 1;
    const written = await storeTogether(pool, [...first.values()].toReversed(), isAlone);
    return storings.map((one) => {
      const { id } = one.after;
      if (written.has(id) && first.get(id) === one) return one.after;
      return isAlone ? null : 'left';
    });
  },
});

/**
 * Writes a change; null when the payment was written since it was read, or its
 * fee's rate is another by now, and then nothing has happened. Changes of the same moment share a
 * statement.
 */
export const storePayment = async (
  runner: Runner,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const storing = storingOf(before, change, now);
  const stored = runner instanceof pg.Pool ? await storeGathered(runner, storing) : 'left';
  if (stored !== 'left') return stored;
  // Outside the batches, it may wait for the row.
  const written = await storeTogether(runner, [storing], true);
  return written.has(before.id) ? storing.after : null;
};
