/**
 * The statements that write a change of existing payments, one or those of one moment: each moves
 * the payment if nobody else wrote it in between (its version), books its postings, publishes its
 * events, and writes the refund and the receipts that come with it. All of it happens or nothing.
 */
import { columnNames, propertyNames, type Statement } from '../kernel/database/statement.ts';
import { insertEvents } from '../kernel/events/outbox.ts';
import { effectiveRate } from '../kernel/ledger/rate.ts';
import { insertDeltas, insertPostings } from '../kernel/ledger/post.ts';
import { mutable } from './payment-change.ts';
import { insertReceiptsFrom } from './receipts/made-receipts.ts';
import { RefundEntity } from './refunds/entities.ts';

export const refundNames = propertyNames(RefundEntity);

/** SQL: the effective rate of a payment's method at a moment, basis points. */
export const rateAt = (moment: string): string =>
  `coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', moment)}, 0)`;

/** The optional rows that a change writes in addition to the payment. */
export interface Beside {
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
  { refunds, receipts }: Beside,
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

const storeText = (beside: Beside): string =>
  `with moved as (update payment set version = version + 1, ${assignments.join(', ')}
      where merchant_id = $1 and id = $2 and version = $3
        and ${isRateOf(`${behind(4)}::int`, `$${mutable.indexOf('finalizedAt') + 4}::timestamptz`)}
      returning 1),
    booked as (${insertPostings(behind(1), moved)}),
    balanced as (${insertDeltas(behind(2), moved)}),
    published as (${insertEvents(behind(3), moved)})${besideText(
      beside,
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
const storeManyText = (beside: Beside): string =>
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
    published as (${insertEvents(ofMoved('events'), 'select 1')})${besideText(beside, '$3', (place) => `$${place + 3}`, movedOf)}
    select id from moved`;

/** The four statements of a kind: with refunds or without, with receipts or without. */
const statementsOf = (name: string, textOf: (beside: Beside) => string) => {
  const statement = (beside: Beside): Statement => ({
    name: [
      name,
      ...(beside.refunds ? ['refunds'] : []),
      ...(beside.receipts ? ['receipts'] : []),
    ].join('_with_'),
    text: textOf(beside),
  });
  const plain = statement({ refunds: false, receipts: false });
  const refunds = statement({ refunds: true, receipts: false });
  const receipts = statement({ refunds: false, receipts: true });
  const both = statement({ refunds: true, receipts: true });
  return (beside: Beside): Statement => {
    if (beside.receipts) return beside.refunds ? both : receipts;
    return beside.refunds ? refunds : plain;
  };
};

/**
 * The statement of one change. Behind the payment's columns: postings, deltas, events and the rate;
 * then refunds, then receipts.
 */
export const storeStatement = statementsOf('payment.store', storeText);

/**
 * That of several: payments, what comes with each, their merchant, then all refunds, then all
 * receipts.
 */
export const storeManyStatement = statementsOf('payment.store_many', storeManyText);
