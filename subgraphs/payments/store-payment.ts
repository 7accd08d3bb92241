/**
 * How payments are read and written. `storePayment` is the only writer of an existing payment: one
 * statement moves the payment, books its postings and publishes its events, or does nothing when
 * somebody else wrote the payment in between (its version has grown).
 */
import {
  columnNames,
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../kernel/database/statement.ts';
import { eventRow, insertEvents, type OutboxEvent } from '../kernel/events/outbox.ts';
import type { Subject } from '../kernel/alerts/set-aside.ts';
import { effectiveRate } from '../kernel/ledger/rate.ts';
import { deltaRows, insertDeltas, insertPostings, postingRows } from '../kernel/ledger/post.ts';
import type { Posting } from '../kernel/rules/postings.ts';
import { type Payment, PaymentEntity } from './entities.ts';
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

/** The columns that change during a payment's life. */
const mutable = [
  'status',
  'method',
  'metadata',
  'amountRefunded',
  'rrn',
  'bankName',
  'connector',
  'bankRef',
  'processingUntil',
  'capturedAt',
  'finalizedAt',
  'askAt',
  'orderedAt',
  'customerCardBrand',
  'customerCardMask',
  'customerCardHolder',
  'customerPhoneMask',
  'customerPayerBank',
  'fee',
  'feeRateBps',
  'step',
  'stepUrl',
  'failureCode',
  'plannedOutcome',
  'plannedFailureCode',
  'savedReference',
] as const satisfies readonly (keyof Payment)[];

/** What may change of a payment. */
export type PaymentPatch = Partial<Pick<Payment, (typeof mutable)[number]>>;

/** A change of a payment: what it becomes, what is booked, what is published. */
export interface PaymentChange {
  readonly patch: PaymentPatch;
  readonly postings: readonly Posting[];
  /** What happened, from the payment as it becomes. */
  readonly events: (payment: Payment) => readonly OutboxEvent[];
  /** Present: an adjustment of the merchant's account that the same fact makes. */
  readonly adjustment?: { readonly postings: readonly Posting[]; readonly description: string };
  /**
   * A refund of it that the same fact makes or moves, as it becomes, with what is booked for it.
   */
  readonly refund?: { readonly row: Refund; readonly postings: readonly Posting[] };
}

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

const storeMany: Statement = {
  name: 'payment.store_many',
  text: `with moved as (update payment set version = payment.version + 1, ${mutableColumns.map((column) => `${column} = after.${column}`).join(', ')}
      from json_populate_recordset(null::payment, $1::json) as after
      where payment.merchant_id = after.merchant_id and payment.id = after.id and payment.version = after.version returning payment.merchant_id, payment.id),
    published as (${insertEvents('$2', 'select 1 from moved where moved.merchant_id = row.merchant_id and moved.id = row.subject_id')})
    select count(*)::int as count from moved`,
};

/** A change of one of many payments, which moves no money. */
export interface MoneylessChange {
  readonly before: Payment;
  readonly patch: PaymentPatch;
  readonly events: (payment: Payment) => readonly OutboxEvent[];
}

/**
 * Writes changes of many payments in one statement, for what time does to thousands of them in the
 * same minute. Each is written if nobody else has written the payment since it was read, else left
 * alone. Gives how many were written.
 */
export const storePayments = async (
  runner: Runner,
  changes: readonly MoneylessChange[],
): Promise<number> => {
  const after = changes.map(({ before, patch }) => ({ ...before, ...patch }));
  const events = changes.flatMap(({ before, patch, events: eventsOf }) =>
    eventsOf({ ...before, ...patch, version: before.version + 1 }),
  );
  const [row] = await run<{ count: number }>(runner, storeMany, [
    JSON.stringify(after.map((payment) => rowJson(paymentNames, payment))),
    JSON.stringify(events.map(eventRow)),
  ]);
  return row?.count ?? 0;
};

/** What every posting of a payment's change has in common. */
const sourceOf = (
  { merchantId, shopId, mode, currency, id, publicId }: Payment,
  now: Temporal.Instant,
) => ({
  merchantId,
  shopId,
  mode,
  currency,
  paymentId: id,
  payoutId: null,
  description: publicId,
  at: now,
});

/** What a change books: for the payment, for an adjustment and for a refund, each by its source. */
const factsOf = (
  common: ReturnType<typeof sourceOf>,
  { postings, adjustment, refund }: PaymentChange,
) => [
  {
    source: { ...common, sourceKind: 'payment' as const, sourceId: common.paymentId },
    postings,
  },
  ...(adjustment
    ? [
        {
          source: {
            ...common,
            description: adjustment.description,
            sourceKind: 'adjustment' as const,
            sourceId: common.paymentId,
          },
          postings: adjustment.postings,
        },
      ]
    : []),
  ...(refund
    ? [
        {
          source: { ...common, sourceKind: 'refund' as const, sourceId: refund.row.id },
          postings: refund.postings,
        },
      ]
    : []),
];

/**
 * Writes a change; null when the payment was written by somebody else since it was read, and then
 * nothing has happened.
 */
export const storePayment = async (
  runner: Runner,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment | null> => {
  const after: Payment = { ...before, ...change.patch, version: before.version + 1 };
  const { refund } = change;
  const common = sourceOf(after, now);
  const facts = factsOf(common, change);
  const written = await run(runner, refund ? storeWithRefund : store, [
    after.merchantId,
    after.id,
    before.version,
    ...mutable.map((name) => (name === 'metadata' ? JSON.stringify(after.metadata) : after[name])),
    JSON.stringify(facts.flatMap(({ source, postings }) => postingRows(source, postings))),
    // What cancels out within the fact moves no balance.
    JSON.stringify(
      deltaRows(
        common,
        facts.flatMap(({ postings }) => postings),
      ),
    ),
    JSON.stringify(change.events(after).map(eventRow)),
    ...(refund ? [JSON.stringify([rowJson(refundNames, refund.row)])] : []),
  ]);
  return written.length === 0 ? null : after;
};
