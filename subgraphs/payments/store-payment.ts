/**
 * How payments are read and written. `storePayment` is the only writer of an existing payment: one statement moves the payment, books its postings
 * and tells its events, or does nothing when somebody else wrote the payment in between (its version has grown).
 */
import { columns, propertyNames, rowJson, run, type Runner, type Statement } from '../kernel/database/statement.ts';
import { eventRow, insertEvents, type OutboxEvent } from '../kernel/database/outbox.ts';
import { effectiveRate } from '../kernel/ledger/rate.ts';
import { deltaRows, insertDeltas, insertPostings, postingRows } from '../kernel/ledger/post.ts';
import type { Posting } from '../kernel/rules/postings.ts';
import type { Payment, Refund } from './entities.ts';
import { PaymentEntity, RefundEntity } from './entities.ts';

export const paymentNames = propertyNames(PaymentEntity);
const paymentColumns = columns(paymentNames, 'payment');
export const refundNames = propertyNames(RefundEntity);

export interface PaymentKey {
  readonly merchantId: string;
  readonly paymentId: string;
}

/** A payment with what a decision about it needs. */
export interface PaymentInHand {
  readonly payment: Payment;
  /** Effective rate of its method now, basis points. */
  readonly rateBps: number;
}

const find: Statement = {
  name: 'payment_find',
  text: `select ${paymentColumns}, coalesce(${effectiveRate('payment.merchant_id', 'payment.shop_id', 'payment.method', '$3::timestamptz')}, 0) as "rateBps"
    from payment where merchant_id = $1 and id = $2`,
};

/** Reads a payment; null when there is none. */
export const findPayment = async (runner: Runner, key: PaymentKey, now: Temporal.Instant): Promise<PaymentInHand | null> => {
  const [row] = await run<Payment & { rateBps: number }>(runner, find, [key.merchantId, key.paymentId, now]);
  if (!row) return null;
  const { rateBps, ...payment } = row;
  return { payment, rateBps };
};

const refundsOf: Statement = {
  name: 'payment_refunds',
  text: `select ${columns(refundNames)} from refund where (merchant_id, payment_id) in (select * from unnest($1::uuid[], $2::uuid[])) order by created_at, id`,
};

/** The refunds of payments, oldest first. */
export const findRefunds = (runner: Runner, payments: readonly Pick<Payment, 'merchantId' | 'id'>[]): Promise<Refund[]> =>
  run(runner, refundsOf, [payments.map(({ merchantId }) => merchantId), payments.map(({ id }) => id)]);

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
] as const satisfies readonly (keyof Payment)[];

/** What may change of a payment. */
export type PaymentPatch = Partial<Pick<Payment, (typeof mutable)[number]>>;

/** A change of a payment: what it becomes, what is booked, what is told. */
export interface PaymentChange {
  readonly patch: PaymentPatch;
  readonly postings: readonly Posting[];
  /** What happened, from the payment as it becomes. */
  readonly events: (payment: Payment) => readonly OutboxEvent[];
  /** A refund of it that the same fact makes or moves, as it becomes: the postings are booked for it. */
  readonly refund?: Refund;
}

const moved = 'select 1 from moved';
const assignments = mutable.map((name, index) => `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} = $${index + 4}`);

/** The parameter behind those of the payment's own columns. */
const behind = (place: number): string => `$${mutable.length + 3 + place}`;

/** `beside` is one more part, which happens with the move or not at all. */
const storeText = (beside = ''): string =>
  `with moved as (update payment set version = version + 1, ${assignments.join(', ')}
      where merchant_id = $1 and id = $2 and version = $3 returning 1),
    booked as (${insertPostings(behind(1), moved)}),
    balanced as (${insertDeltas(behind(2), moved)}),
    told as (${insertEvents(behind(3), moved)})${beside}
    select 1 from moved`;

const store: Statement = { name: 'payment_store', text: storeText() };

const storeWithRefund: Statement = {
  name: 'payment_store_with_refund',
  text: storeText(`,
    refunded as (insert into refund select row.* from jsonb_populate_recordset(null::refund, ${behind(4)}::jsonb) as row where exists (${moved})
      on conflict (merchant_id, id) do update set status = excluded.status, fail_reason = excluded.fail_reason, completed_at = excluded.completed_at,
        bank_ref = excluded.bank_ref, ask_at = excluded.ask_at)`),
};

/** Writes a change; null when the payment was written by somebody else since it was read, and then nothing has happened. */
export const storePayment = async (runner: Runner, before: Payment, change: PaymentChange, now: Temporal.Instant): Promise<Payment | null> => {
  const after: Payment = { ...before, ...change.patch, version: before.version + 1 };
  const { refund } = change;
  const { merchantId, shopId, mode, currency, id, publicId } = after;
  const source = {
    merchantId,
    shopId,
    mode,
    currency,
    sourceKind: refund ? ('refund' as const) : ('payment' as const),
    sourceId: refund?.id ?? id,
    paymentId: id,
    payoutId: null,
    description: publicId,
    at: now,
  };
  const written = await run(runner, refund ? storeWithRefund : store, [
    merchantId,
    id,
    before.version,
    ...mutable.map((name) => (name === 'metadata' ? JSON.stringify(after.metadata) : after[name])),
    JSON.stringify(postingRows(source, change.postings)),
    JSON.stringify(deltaRows(source, change.postings)),
    JSON.stringify(change.events(after).map(eventRow)),
    ...(refund ? [JSON.stringify([rowJson(refundNames, refund)])] : []),
  ]);
  return written.length === 0 ? null : after;
};
