/**
 * How payments are read and written. One statement moves a payment, books its postings and
 * publishes its events, or does nothing when somebody else wrote the payment in between (its
 * version has grown). Only the erasure and `bankAskAgain` write an existing payment elsewhere.
 */
import pg from 'pg';
import { isSharded, runSharded, shardedByKey } from '../kernel/database/sharding.ts';
import { eachMerchant } from '../kernel/database/by-merchant.ts';
import { batched } from '../kernel/database/batch-calls.ts';
import {
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
  columnNames,
} from '../kernel/database/statement.ts';
import type { Subject } from '../kernel/alerts/set-aside.ts';
import { type Payment, PaymentEntity } from './entities.ts';
import { mutable, storingOf, type PaymentChange, type Storing } from './payment-change.ts';
import { type Refund, RefundEntity } from './refunds/entities.ts';
import { insertEvents } from '../kernel/events/outbox.ts';
import { effectiveRate } from '../kernel/ledger/rate.ts';
import { insertDeltas, insertPostings } from '../kernel/ledger/post.ts';
import { insertReceiptsFrom } from './receipts/made-receipts.ts';

/*
 * The statements that write a change of existing payments, one or those of one moment: each moves
 * the payment if nobody else wrote it in between (its version), books its postings, publishes its
 * events, and writes the refund and the receipts that come with it. All of it happens or nothing.
 */

export const refundNames = propertyNames(RefundEntity);

/** SQL: the effective rate of a payment's method at a moment, basis points. */
const rateAt = (moment: string): string =>
  `coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', moment)}, 0)`;

/** The optional rows that a change writes in addition to the payment. */
interface WrittenRows {
  readonly refunds: boolean;
  readonly receipts: boolean;
}

const moved = 'select 1 from moved';
/** Of a row named so, whether its payment was moved. */
const movedOf = (row: string, payment: string): string =>
  `${moved} where moved.merchant_id = ${row}.merchant_id and moved.id = ${row}.${payment}`;
const mutableColumns = mutable.map((name) => columnNames([name]));
const assignments = mutableColumns.map((column, index) => `${column} = $${index + 4}`);

/** The parameter behind those of the payment's own columns. */
const behind = (place: number): string => `$${mutable.length + 3 + place}`;

/** SQL: whether the rate by which a change takes its fee is still the one that applies. */
const isRateOf = (rate: string, finalizedAt: string): string =>
  `case when ${rate} is null then true else ${rate} = ${rateAt(finalizedAt)} end`;

/** SQL: writes refunds, new or moved, from the JSON array in `parameter`. */
const writeRefunds = (parameter: string, condition: string): string =>
  `insert into refund select row.* from json_populate_recordset(null::refund, ${parameter}::json) as row where exists (${condition})
      on conflict (merchant_id, id) do update set status = excluded.status, fail_reason = excluded.fail_reason, completed_at = excluded.completed_at,
        bank_ref = excluded.bank_ref, ask_at = excluded.ask_at`;

/** SQL: the parts of a statement that write these rows; `$` names their parameters in order. */
const besideText = (
  { refunds, receipts }: WrittenRows,
  merchant: string,
  $: (place: number) => string,
  movedBy: (row: string, payment: string) => string,
): string => {
  const parts = [
    ...(refunds
      ? [(at: string) => `refunded as (${writeRefunds(at, movedBy('row', 'payment_id'))})`]
      : []),
    ...(receipts
      ? [
          (at: string) =>
            `receipted as (${insertReceiptsFrom(at, merchant, movedBy('made', 'payment_id'))})`,
        ]
      : []),
  ];
  return parts.map((part, index) => `,\n    ${part($(index + 1))}`).join('');
};

const storeText = (alsoWritten: WrittenRows): string =>
  `with moved as (update payment set version = version + 1, ${assignments.join(', ')}
      where merchant_id = $1 and id = $2 and version = $3
        and ${isRateOf(`${behind(4)}::int`, `$${mutable.indexOf('finalizedAt') + 4}::timestamptz`)}
      returning 1),
    booked as (${insertPostings(behind(1), moved)}),
    balanced as (${insertDeltas(behind(2), moved)}),
    published as (${insertEvents(behind(3), moved)})${besideText(
      alsoWritten,
      '$1',
      (place) => behind(4 + place),
      // A condition without a column is one that Citus does not take beside an outer join.
      (row) => `${moved} where ${row}.id is not null`,
    )}
    select 1 from moved`;

/** SQL: a list of the rows that come with the payments which were moved, as one JSON array. */
const ofMoved = (list: 'postings' | 'deltas' | 'events'): string =>
  `(select coalesce(jsonb_agg(each.value order by sent.ordinality, each.place), '[]') from moved
      join sent on sent.merchant_id = moved.merchant_id and sent.id = moved.id
      cross join jsonb_array_elements(sent.${list}) with ordinality as each (value, place))`;

/**
 * The statement of one change for several payments of one merchant. It never waits: a payment that
 * is locked, or whose version differs, is left alone. A payment is looked up by its key, so that no
 * plan scans the table; comparing both keys again makes the planner expect few rows.
 */
const storeManyText = (alsoWritten: WrittenRows): string =>
  `with sent as materialized (select * from rows from (json_populate_recordset(null::payment, $1::json),
        jsonb_to_recordset($2::jsonb) as (postings jsonb, deltas jsonb, events jsonb, rate_bps int)) with ordinality),
    free as materialized (select sent.* from sent cross join lateral (
        select merchant_id, id from payment
        where merchant_id = $3 and id = sent.id and version = sent.version
          and ${isRateOf('sent.rate_bps', 'sent.finalized_at')} for update skip locked) as unlocked
      where unlocked.merchant_id = sent.merchant_id and unlocked.id = sent.id),
    moved as (update payment set version = payment.version + 1, ${mutableColumns.map((column) => `${column} = free.${column}`).join(', ')}
      from free where payment.merchant_id = $3 and payment.id = free.id and payment.version = free.version
      returning payment.merchant_id, payment.id),
    booked as (${insertPostings(ofMoved('postings'), 'select 1')}),
    balanced as (${insertDeltas(ofMoved('deltas'), 'select 1')}),
    published as (${insertEvents(ofMoved('events'), 'select 1')})${besideText(alsoWritten, '$3', (place) => `$${place + 3}`, movedOf)}
    select id from moved`;

/** The four statements of a kind: with refunds or without, with receipts or without. */
const statementsOf = (name: string, textOf: (alsoWritten: WrittenRows) => string) => {
  const statement = (alsoWritten: WrittenRows): Statement => ({
    name: [
      name,
      ...(alsoWritten.refunds ? ['refunds'] : []),
      ...(alsoWritten.receipts ? ['receipts'] : []),
    ].join('_with_'),
    text: textOf(alsoWritten),
  });
  const plain = statement({ refunds: false, receipts: false });
  const refunds = statement({ refunds: true, receipts: false });
  const receipts = statement({ refunds: false, receipts: true });
  const both = statement({ refunds: true, receipts: true });
  return (alsoWritten: WrittenRows): Statement => {
    if (alsoWritten.receipts) return alsoWritten.refunds ? both : receipts;
    return alsoWritten.refunds ? refunds : plain;
  };
};

/**
 * The statement of one change. Behind the payment's columns: postings, deltas, events and the rate;
 * then refunds, then receipts.
 */
const storeStatement = statementsOf('payment.store', storeText);

/**
 * That of several: payments, what comes with each, their merchant, then all refunds, then all
 * receipts.
 */
const storeManyStatement = statementsOf('payment.store_many', storeManyText);

export const paymentNames = propertyNames(PaymentEntity);
const paymentColumns = columns(paymentNames, 'payment');

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
    join payment on payment.merchant_id = asked.merchant_id and payment.id = asked.id`,
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
  alone: findAlone,
  together: async (pool, findings) => {
    if (await isSharded(pool)) return Promise.all(findings.map((one) => findAlone(pool, one)));
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

const storeAlone = async (
  runner: Runner,
  storing: Storing,
  refund: Refund | null = null,
): Promise<Payment | null> => {
  const { receipts } = storing;
  const alsoWritten = { refunds: refund !== null, receipts: receipts.length > 0 };
  const written = await run(runner, storeStatement(alsoWritten), [
    ...parametersOf(storing),
    ...(refund ? [JSON.stringify([rowJson(refundNames, refund)])] : []),
    ...(alsoWritten.receipts ? [JSON.stringify(receipts)] : []),
  ]);
  return written.length === 0 ? null : storing.after;
};

const sentNames = ['merchantId', 'id', 'version', ...mutable];

/**
 * Writes changes of several payments of one merchant, one of each, and refunds of them; gives the
 * ids of those that were written.
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
  const [first] = storings;
  if (!first) return new Set();
  const receipts = storings.flatMap((storing) => storing.receipts);
  const alsoWritten = { refunds: refunds.length > 0, receipts: receipts.length > 0 };
  const written = await run<{ id: string }>(runner, storeManyStatement(alsoWritten), [
    ...values,
    first.after.merchantId,
    ...(alsoWritten.refunds
      ? [JSON.stringify(refunds.map((refund) => rowJson(refundNames, refund)))]
      : []),
    ...(alsoWritten.receipts ? [JSON.stringify(receipts)] : []),
  ]);
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
    ...(await storeTogether(runner, own)),
  ]);
  return written.length;
};

/** Gives `left` for what a batch did not write: its version is another, or it is locked. */
const storeGathered = batched<Storing, Payment | 'left' | null>({
  name: storeStatement({ refunds: false, receipts: false }).name,
  callerOf: ({ after }) => after.merchantId,
  perCaller: true,
  alone: (pool, storing) => storeAlone(pool, storing),
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
  if (change.refund) return storeAlone(runner, storing, change.refund.row);
  const stored = runner instanceof pg.Pool ? await storeGathered(runner, storing) : 'left';
  // Outside the batches, it may wait for the row.
  return stored === 'left' ? storeAlone(runner, storing) : stored;
};
