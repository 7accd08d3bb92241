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
  /** Effective rate of its method when it was read, basis points; null: it was not read. */
  readonly rateBps: number | null;
}

/** A payment to be read, with its rate at a moment. */
interface Finding {
  readonly key: PaymentKey;
  readonly now: Temporal.Instant;
}
type FoundRow = Payment & { readonly rateBps: number };

/** SQL: the effective rate of a payment's method at a moment, basis points. */
const rateAt = (moment: string): string =>
  `coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', moment)}, 0)`;

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
    join payment on payment.merchant_id = asked.merchant_id and payment.id = asked.id`,
};

const findAlone = async (runner: Runner, { key, now }: Finding): Promise<PaymentInHand | null> => {
  const [row] = await run<FoundRow>(runner, find, [key.merchantId, key.paymentId, now]);
  if (!row) return null;
  const { rateBps, ...payment } = row;
  return { payment, rateBps };
};

const findGathered = gathered<Finding, PaymentInHand | null>({
  name: find.name,
  callerOf: ({ key }) => key.merchantId,
  alone: findAlone,
  together: async (pool, findings) => {
    const found = new Map<number, PaymentInHand>();
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
): Promise<PaymentInHand | null> =>
  runner instanceof pg.Pool ? findGathered(runner, { key, now }) : findAlone(runner, { key, now });

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

/** SQL: whether the rate by which a change takes its fee is still the one that applies. */
const isRateOf = (rate: string, finalizedAt: string): string =>
  `case when ${rate} is null then true else ${rate} = ${rateAt(finalizedAt)} end`;

/** `beside` is one more part, which happens with the move or not at all. */
const storeText = (beside = ''): string =>
  `with moved as (update payment set version = version + 1, ${assignments.join(', ')}
      where merchant_id = $1 and id = $2 and version = $3
        and ${isRateOf(`${behind(4)}::int`, `$${mutable.indexOf('finalizedAt') + 4}::timestamptz`)}
      returning 1),
    booked as (${insertPostings(behind(1), moved)}),
    balanced as (${insertDeltas(behind(2), moved)}),
    published as (${insertEvents(behind(3), moved)})${beside}
    select 1 from moved`;

const store: Statement = { name: 'payment.store', text: storeText() };

/** SQL: writes refunds, new or moved, from the JSON array in `parameter`. */
const writeRefunds = (parameter: string, condition: string): string =>
  `insert into refund select row.* from jsonb_populate_recordset(null::refund, ${parameter}::jsonb) as row where exists (${condition})
      on conflict (merchant_id, id) do update set status = excluded.status, fail_reason = excluded.fail_reason, completed_at = excluded.completed_at,
        bank_ref = excluded.bank_ref, ask_at = excluded.ask_at`;

const storeWithRefund: Statement = {
  name: 'payment.store_with_refund',
  text: storeText(`, refunded as (${writeRefunds(behind(5), moved)})`),
};

/** SQL: a list of the rows that come with the payments which were moved, as one JSON array. */
const ofMoved = (list: 'postings' | 'deltas' | 'events'): string =>
  `(select coalesce(jsonb_agg(each.value order by sent.ordinality, each.place), '[]') from moved
      join sent on sent.merchant_id = moved.merchant_id and sent.id = moved.id
      cross join jsonb_array_elements(sent.${list}) with ordinality as each (value, place))`;

/**
 * The statement of one change for several payments, each once. It waits for nobody: a payment that
 * somebody else has locked is left alone, like one whose version is another. A payment is found by
 * itself, so that no plan walks the table; that both keys are compared once more has the planner
 * expect few.
 */
const storeManyText = (beside = ''): string =>
  `with sent as materialized (select * from rows from (json_populate_recordset(null::payment, $1::json),
        jsonb_to_recordset($2::jsonb) as (postings jsonb, deltas jsonb, events jsonb, rate_bps int)) with ordinality),
    free as materialized (select sent.* from sent cross join lateral (
        select merchant_id, id from payment
        where merchant_id = sent.merchant_id and id = sent.id and version = sent.version
          and ${isRateOf('sent.rate_bps', 'sent.finalized_at')} for update skip locked) as unlocked
      where unlocked.merchant_id = sent.merchant_id and unlocked.id = sent.id),
    moved as (update payment set version = payment.version + 1, ${mutableColumns.map((column) => `${column} = free.${column}`).join(', ')}
      from free where payment.merchant_id = free.merchant_id and payment.id = free.id and payment.version = free.version
      returning payment.merchant_id, payment.id),
    booked as (${insertPostings(ofMoved('postings'), 'select 1')}),
    balanced as (${insertDeltas(ofMoved('deltas'), 'select 1')}),
    published as (${insertEvents(ofMoved('events'), 'select 1')})${beside}
    select id from moved`;

const storeMany: Statement = { name: 'payment.store_many', text: storeManyText() };

const storeManyWithRefunds: Statement = {
  name: 'payment.store_many_with_refunds',
  text: storeManyText(
    `, refunded as (${writeRefunds(
      '$3',
      'select 1 from moved where moved.merchant_id = row.merchant_id and moved.id = row.payment_id',
    )})`,
  ),
};

const parametersOf = ({ before, after, postings, deltas, events, rateBps }: Storing): unknown[] => [
  after.merchantId,
  after.id,
  before.version,
  ...mutable.map((name) => (name === 'metadata' ? JSON.stringify(after.metadata) : after[name])),
  JSON.stringify(postings),
  JSON.stringify(deltas),
  JSON.stringify(events),
  rateBps,
];

const storeAlone = async (runner: Runner, storing: Storing): Promise<Payment | null> =>
  (await run(runner, store, parametersOf(storing))).length === 0 ? null : storing.after;

const sentNames = ['merchantId', 'id', 'version', ...mutable];

/**
 * Writes changes of several payments, one of each, and refunds of them; gives the ids of those that
 * were written.
 */
export const storeTogether = async (
  runner: Runner,
  storings: readonly Storing[],
  refunds: readonly Refund[] = [],
): Promise<ReadonlySet<string>> => {
  const values = [
    JSON.stringify(
      storings.map(({ before: { version }, after }) => rowJson(sentNames, { ...after, version })),
    ),
    JSON.stringify(
      storings.map(({ postings, deltas, events, rateBps }) => ({
        postings,
        deltas,
        events,
        rate_bps: rateBps,
      })),
    ),
  ];
  const written = await (refunds.length === 0
    ? run<{ id: string }>(runner, storeMany, values)
    : run<{ id: string }>(runner, storeManyWithRefunds, [
        ...values,
        JSON.stringify(refunds.map((refund) => rowJson(refundNames, refund))),
      ]));
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
 * Writes a change; null when the payment was written by somebody else since it was read, or its
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
  if (change.refund) {
    const refund = JSON.stringify([rowJson(refundNames, change.refund.row)]);
    const written = await run(runner, storeWithRefund, [...parametersOf(storing), refund]);
    return written.length === 0 ? null : storing.after;
  }
  const stored = runner instanceof pg.Pool ? await storeGathered(runner, storing) : 'left';
  // Outside of the batches, which go on, it may wait for whoever has the row.
  return stored === 'left' ? storeAlone(runner, storing) : stored;
};
