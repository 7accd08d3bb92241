/**
 * Applies a bank's answer or notification about a receipt: the row, the webhook, and an alert if it
 * failed.
 */
import type pg from 'pg';
import type { ReceiptAnswer } from '../../acquirers/bank.ts';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { eventRow } from '../../platform/events/outbox.ts';
import { asSubject } from '../../rules/event.ts';
import type { ReceiptType } from '../../rules/receipt.ts';
import type { Receipt, Payment } from '../entities.ts';
import { loadPayments } from '../find-payments.ts';
import { findRefunds } from '../store-payment.ts';
import { askAgain_s } from '../rules/order.ts';
import { termsOf } from './rules.ts';
import { receiptEnded, moveReceipt, findReceipts } from './store-receipts.ts';

const reason_max_chars = 500;

const answered = (receipt: Receipt, answer: ReceiptAnswer, now: Temporal.Instant): Receipt => {
  switch (answer.kind) {
    case 'registered': {
      const { kind: _, ...numbers } = answer;
      return { ...receipt, ...numbers, status: 'registered', failureReason: null, askAt: null };
    }
    case 'failed': {
      const failureReason = answer.reason.slice(0, reason_max_chars);
      return { ...receipt, status: 'failed', failureReason, askAt: null };
    }
    case 'pending':
      return { ...receipt, askAt: answer.askAt };
    case 'unknown':
      return { ...receipt, askAt: now.add({ seconds: askAgain_s }) };
  }
};

const alertOf = (client: pg.PoolClient, payment: Payment, receipt: Receipt, at: Temporal.Instant) =>
  raiseAlert(client, {
    ...asSubject(receipt),
    kind: 'receipt_failed',
    detail: `the ${receipt.type} receipt ${receipt.id} of ${payment.publicId} was refused: ${receipt.failureReason}`,
    fields: {
      receipt: receipt.id,
      payment: payment.publicId,
      ...(receipt.failureReason === null ? {} : { reason: receipt.failureReason }),
    },
    at,
  });

/**
 * Applies an answer to the receipt as it was asked about; false when it has moved since, and then
 * nothing has happened.
 */
export const applyReceiptAnswer = async (
  pool: pg.Pool,
  { receipt, payment }: { readonly receipt: Receipt; readonly payment: Payment },
  answer: ReceiptAnswer,
  now: Temporal.Instant,
): Promise<boolean> => {
  const after = answered(receipt, answer, now);
  if (after.status === 'pending') return moveReceipt(pool, receipt, after, []);
  const events = [eventRow(receiptEnded(after, payment.webhookUrl, now))];
  if (after.status === 'registered') return moveReceipt(pool, receipt, after, events);
  return inTransaction(
    pool,
    async (client) => {
      const isMoved = await moveReceipt(client, receipt, after, events);
      if (isMoved) await alertOf(client, payment, after, now);
      return isMoved;
    },
    (isMoved) => isMoved,
  );
};

// Records a bank's notification of a receipt that it has no query for. A repeated notification
// changes nothing. One that arrives before its movement is known here is too early, and the bank
// must repeat it.

export interface NotifiedEnd {
  readonly merchantId: string;
  readonly paymentId: string;
  /** What the bank takes it for: a closing one only where the payment has one. */
  readonly type: ReceiptType;
  readonly amount: bigint;
  readonly answer: Extract<ReceiptAnswer, { readonly kind: 'registered' | 'failed' }>;
}

type Recorded = 'recorded' | 'ignored' | 'early';

/** A receipt that another process has just moved is read and decided again. */
const tries = 5;

/** Whether these are the numbers of a receipt that is registered already. */
const isKnown = ({ answer }: NotifiedEnd, receipt: Receipt): boolean =>
  answer.kind === 'registered' &&
  receipt.fiscalStorageNumber === answer.fiscalStorageNumber &&
  receipt.fiscalDocumentNumber === answer.fiscalDocumentNumber;

/**
 * The receipt of a notification: among refunds of the same amount, the oldest that waits. A failed
 * one may be registered later; a registered one stays.
 */
const receiptIn = (receipts: readonly Receipt[], end: NotifiedEnd): Receipt | undefined => {
  const hasClosing = receipts.some(({ type }) => type === 'closing');
  const type = end.type === 'closing' && !hasClosing ? 'payment' : end.type;
  const same = receipts.filter((each) => each.type === type && each.amount === end.amount);
  const failed = end.answer.kind === 'registered' ? 'failed' : null;
  return (
    same.find(({ status }) => status === 'pending') ?? same.find(({ status }) => status === failed)
  );
};

/** Whether the movement of the receipt may still become known here. */
const isEarly = async (
  { pool }: Pick<Database, 'pool'>,
  payment: Payment,
  { type, amount }: NotifiedEnd,
): Promise<boolean> => {
  if (termsOf(payment) === null) return false;
  if (type !== 'refund') return payment.capturedAt === null && payment.status !== 'failed';
  const refunds = await findRefunds(pool, [payment]);
  return refunds.some((refund) => refund.status === 'pending' && refund.amount === amount);
};

/** Records it; `ignored` when it is about nothing that waits here. */
export const recordNotified = async (
  database: Pick<Database, 'pool'>,
  end: NotifiedEnd,
  now: Temporal.Instant,
): Promise<Recorded> => {
  const { pool } = database;
  for (let attempt = 0; attempt < tries; attempt++) {
    const [payment] = await loadPayments(pool, [{ merchantId: end.merchantId, id: end.paymentId }]);
    if (payment?.mode !== 'live') return 'ignored';
    const receipts = await findReceipts(pool, [payment]);
    if (receipts.some((receipt) => isKnown(end, receipt))) return 'recorded';
    const receipt = receiptIn(receipts, end);
    if (!receipt) return (await isEarly(database, payment, end)) ? 'early' : 'ignored';
    if (await applyReceiptAnswer(pool, { receipt, payment }, end.answer, now)) return 'recorded';
  }
  return 'early';
};
