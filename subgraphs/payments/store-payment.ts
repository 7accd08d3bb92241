/**
 * How payments are read and written. `storePayment` is the only writer of an existing payment: one
 * statement moves the payment, books its postings and publishes its events, or does nothing when
 * somebody else wrote the payment in between (its version has grown).
 */
import pg from 'pg';
import { gathered } from '../kernel/database/gather-calls.ts';
import {
  columnNames,
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../kernel/database/statement.ts';
import { insertEvents } from '../kernel/events/outbox.ts';
import type { Subject } from '../kernel/alerts/set-aside.ts';
import { effectiveRate } from '../kernel/ledger/rate.ts';
import { insertDeltas, insertPostings } from '../kernel/ledger/post.ts';
import { type Payment, PaymentEntity } from './entities.ts';
import { mutable, storingOf, type PaymentChange, type Storing } from './payment-change.ts';
import { type Refund, RefundEntity } from './refunds/entities.ts';

export const paymentNames = propertyNames(PaymentEntity);
const paymentColumns = columns(paymentNames, 'payment');
export const refundNames = propertyNames(RefundEntity);

export interface PaymentKey {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** The payment as the background sets it aside. */
export const subjectOfPayment = ({ merchantId, paymentId }: PaymentKey): Subject => ({
  merchantId,
  subjectId: paymentId,
});

/** A payment with what a decision about it needs. */
export interface PaymentInHand {
  readonly payment: Payment;
  /** Effective rate of its method now, basis points. */
  readonly rateBps: number;
}

const find: Statement = {
  name: 'payment.find',
  text: `select ${paymentColumns}, coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', '$3::timestamptz')}, 0) as "rateBps"
    from payment where merchant_id = $1 and id = $2`,
};

/** Reads a payment; null when there is none. */
export const findPayment = async (
  runner: Runner,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<PaymentInHand | null> => {
  const [row] = await run<Payment & { rateBps: number }>(runner, find, [
    key.merchantId,
    key.paymentId,
    now,
  ]);
  if (!row) return null;
  const { rateBps, ...payment } = row;
  return { payment, rateBps };
};

const refundsOf: Statement = {
  name: 'payment.refunds',
  text: `select ${columns(refundNames)} from refund where (merchant_id, payment_id) in (select * from unnest($1::uuid[], $2::uuid[])) order by created_at, id limit $3`,
};

/** The refunds of payments, oldest first, at most so many of all together; null: all of them. */
export const findRefunds = (
  runner: Runner,
  payments: readonly Pick<Payment, 'merchantId' | 'id'>[],
  limit: number | null = null,
): Promise<Refund[]> =>
  run(runner, refundsOf, [
    payments.map(({ merchantId }) => merchantId),
    payments.map(({ id }) => id),
    limit,
  ]);

const moved = 'select 1 from moved';
const mutableColumns = mutable.map((name) => columnNames([name]));
const assignments = mutableColumns.map((column, index) => `${column} = $${index + 4}`);

/** The parameter behind those of the payment's own columns. */
const behind = (place: number): string => `$${mutable.length + 3 + place}`;

/** `beside` is one more part, which happens with the move or not at all. */
const storeText = (beside = ''): string =>
  `with moved as (update payment set version = version + 1, ${assignments.join(', ')}
      where merchant_id = $1 and id = $2 and version = $3 returning 1),
    booked as (${insertPostings(behind(1), moved)}),
    balanced as (${insertDeltas(behind(2), moved)}),
    published as (${insertEvents(behind(3), moved)})${beside}
    select 1 from moved`;

const store: Statement = { name: 'payment.store', text: storeText() };

const storeWithRefund: Statement = {
  name: 'payment.store_with_refund',
  text: storeText(`,
    refunded as (insert into refund select row.* from jsonb_populate_recordset(null::refund, ${behind(4)}::jsonb) as row where exists (${moved})
      on conflict (merchant_id, id) do update set status = excluded.status, fail_reason = excluded.fail_reason, completed_at = excluded.completed_at,
        bank_ref = excluded.bank_ref, ask_at = excluded.ask_at)`),
};

/** SQL: a list of the rows that come with the payments which were moved, as one JSON array. */
const ofMoved = (list: 'postings' | 'deltas' | 'events'): string =>
  `(select coalesce(jsonb_agg(each.value order by sent.place, each.place), '[]') from moved
      join sent on sent.merchant_id = moved.merchant_id and sent.id = moved.id
      cross join jsonb_array_elements(sent.${list}) with ordinality as each (value, place))`;

/**
 * The statement of one change for several payments, each once. It waits for nobody: a payment that
 * somebody else has locked is left alone, like one whose version is another.
 */
const storeMany: Statement = {
  name: 'payment.store_many',
  text: `with sent as materialized (select * from rows from (jsonb_to_recordset($2::jsonb)
        as (merchant_id uuid, id uuid, postings jsonb, deltas jsonb, events jsonb))
        with ordinality as sent (merchant_id, id, postings, deltas, events, place)),
    after as materialized (select * from json_populate_recordset(null::payment, $1::json)),
    free as materialized (select payment.merchant_id, payment.id from after join payment
      on payment.merchant_id = after.merchant_id and payment.id = after.id and payment.version = after.version
      for update of payment skip locked),
    moved as (update payment set version = payment.version + 1, ${mutableColumns.map((column) => `${column} = after.${column}`).join(', ')}
      from free join after on after.merchant_id = free.merchant_id and after.id = free.id
      where payment.merchant_id = free.merchant_id and payment.id = free.id and payment.version = after.version
      returning payment.merchant_id, payment.id),
    booked as (${insertPostings(ofMoved('postings'), 'select 1')}),
    balanced as (${insertDeltas(ofMoved('deltas'), 'select 1')}),
    published as (${insertEvents(ofMoved('events'), 'select 1')})
    select id from moved`,
};

const parametersOf = ({ before, after, postings, deltas, events }: Storing): unknown[] => [
  after.merchantId,
  after.id,
  before.version,
  ...mutable.map((name) => (name === 'metadata' ? JSON.stringify(after.metadata) : after[name])),
  JSON.stringify(postings),
  JSON.stringify(deltas),
  JSON.stringify(events),
];

const storeAlone = async (runner: Runner, storing: Storing): Promise<Payment | null> =>
  (await run(runner, store, parametersOf(storing))).length === 0 ? null : storing.after;

const sentNames = ['merchantId', 'id', 'version', ...mutable];

/** Writes changes of several payments, one of each; gives the ids of those that were written. */
const storeTogether = async (
  runner: Runner,
  storings: readonly Storing[],
): Promise<ReadonlySet<string>> => {
  const written = await run<{ id: string }>(runner, storeMany, [
    JSON.stringify(
      storings.map(({ before: { version }, after }) => rowJson(sentNames, { ...after, version })),
    ),
    JSON.stringify(
      storings.map(({ after: { merchantId, id }, postings, deltas, events }) => ({
        merchant_id: merchantId,
        id,
        postings,
        deltas,
        events,
      })),
    ),
  ]);
  return new Set(written.map(({ id }) => id));
};

/**
 * Writes changes of many payments in one statement, for what time does to thousands of them in the
 * same minute. Each is written if nobody else has written the payment since it was read, or has it
 * locked, else left alone. Gives how many were written.
 */
export const storePayments = async (
  runner: Runner,
  changes: readonly { readonly before: Payment; readonly change: PaymentChange }[],
  now: Temporal.Instant,
): Promise<number> => {
  const storings = changes.map(({ before, change }) => storingOf(before, change, now));
  return (await storeTogether(runner, storings)).size;
};

/** Gives `left` for what a batch did not write: its version is another, or it is locked. */
const storeGathered = gathered<Storing, Payment | 'left' | null>({
  name: store.name,
  callerOf: ({ after }) => after.merchantId,
  callersApart: true,
  alone: storeAlone,
  together: async (pool, storings) => {
    const first = new Map(storings.toReversed().map((storing) => [storing.after.id, storing]));
    const written = await storeTogether(pool, [...first.values()].toReversed());
    return storings.map((storing) => {
      const { id } = storing.after;
      return written.has(id) && first.get(id) === storing ? storing.after : 'left';
    });
  },
});

/**
 * Writes a change; null when the payment was written by somebody else since it was read, and then
 * nothing has happened. Changes of the same moment share a statement.
 */
export const storePayment = async (
  runner: Runner,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const storing = storingOf(before, change, now);
  if (change.refund) {
    const refund = JSON.stringify([rowJson(refundNames, change.refund.row)]);
    const written = await run(runner, storeWithRefund, [...parametersOf(storing), refund]);
    return written.length === 0 ? null : storing.after;
  }
  const stored = runner instanceof pg.Pool ? await storeGathered(runner, storing) : 'left';
  // Outside of the batches, which go on, it may wait for whoever has the row.
  return stored === 'left' ? storeAlone(runner, storing) : stored;
};
