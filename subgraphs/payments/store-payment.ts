/**
 * How payments are read and written. `storePayment` is the only writer of an existing payment: one statement moves the payment, books its postings
 * and tells its events, or does nothing when somebody else wrote the payment in between (its version has grown).
 */
import type pg from 'pg';
import { columns, propertyNames, run, type Statement } from '../kernel/database/statement.ts';
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
export const findPayment = async (pool: pg.Pool, key: PaymentKey, now: Temporal.Instant): Promise<PaymentInHand | null> => {
  const [row] = await run<Payment & { rateBps: number }>(pool, find, [key.merchantId, key.paymentId, now]);
  if (!row) return null;
  const { rateBps, ...payment } = row;
  return { payment, rateBps };
};

const refundsOf: Statement = {
  name: 'payment_refunds',
  text: `select ${columns(refundNames)} from refund where (merchant_id, payment_id) in (select * from unnest($1::uuid[], $2::uuid[])) order by created_at, id`,
};

/** The refunds of payments, oldest first. */
export const findRefunds = (pool: pg.Pool, payments: readonly Pick<Payment, 'merchantId' | 'id'>[]): Promise<Refund[]> =>
  run(pool, refundsOf, [payments.map(({ merchantId }) => merchantId), payments.map(({ id }) => id)]);

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
}

const moved = 'select 1 from moved';
const assignments = mutable.map((name, index) => `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} = $${index + 4}`);

const store: Statement = {
  name: 'payment_store',
  text: `with moved as (update payment set version = version + 1, ${assignments.join(', ')}
      where merchant_id = $1 and id = $2 and version = $3 returning 1),
    booked as (${insertPostings(`$${mutable.length + 4}`, moved)}),
    balanced as (${insertDeltas(`$${mutable.length + 5}`, moved)}),
    told as (${insertEvents(`$${mutable.length + 6}`, moved)})
    select 1 from moved`,
};

/** Writes a change; null when the payment was written by somebody else since it was read, and then nothing has happened. */
export const storePayment = async (pool: pg.Pool, before: Payment, change: PaymentChange, now: Temporal.Instant): Promise<Payment | null> => {
  const after: Payment = { ...before, ...change.patch, version: before.version + 1 };
  const { merchantId, shopId, mode, currency, id, publicId } = after;
  const source = {
    merchantId,
    shopId,
    mode,
    currency,
    sourceKind: 'payment' as const,
    sourceId: id,
    paymentId: id,
    payoutId: null,
    description: publicId,
    at: now,
  };
  const written = await run(pool, store, [
    merchantId,
    id,
    before.version,
    ...mutable.map((name) => (name === 'metadata' ? JSON.stringify(after.metadata) : after[name])),
    JSON.stringify(postingRows(source, change.postings)),
    JSON.stringify(deltaRows(source, change.postings)),
    JSON.stringify(change.events(after).map(eventRow)),
  ]);
  return written.length === 0 ? null : after;
};
