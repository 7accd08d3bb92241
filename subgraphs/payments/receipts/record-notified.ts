/**
 * Records a bank's notification of a receipt that it has no query for. A repeated notification
 * changes nothing. One that arrives before its movement is known here is too early, and the bank
 * must repeat it.
 */
import type { ReceiptAnswer } from '../../acquirers/receipt-bank.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { ReceiptType } from '../../rules/receipt.ts';
import type { Payment } from '../entities.ts';
import { loadPayments } from '../find-payments.ts';
import { findRefunds } from '../store-payment.ts';
import { applyReceiptAnswer } from './apply-receipt-answer.ts';
import type { Receipt } from './entities.ts';
import { termsOf } from './rules.ts';
import { findReceipts } from './store-receipts.ts';

/** What was notified. */
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
