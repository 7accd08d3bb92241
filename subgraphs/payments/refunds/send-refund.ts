/**
 * Orders a pending refund at the bank, or queries it, and applies the answer. It repeats under the
 * refund's id, the bank's idempotency key, until the answer is final.
 */
import type { RefundAnswer } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import { dueOn, type Timeline } from '../../platform/clock/due.ts';
import type { Database } from '../../platform/database/orm.ts';
import { eachAlone } from '../../platform/alerts/dead-letters.ts';
import { inTraceOf } from '../../platform/database/subject-trace.ts';
import { minorUnits } from '../../rules/money.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { applyRefundAnswer } from './apply-refund-answer.ts';
import type { Payment } from '../entities.ts';
import { termsOf } from '../receipts/rules.ts';
import type { Refund } from './entities.ts';
import { loadPayments, loadRefunds } from '../find-payments.ts';
import { timedPlanOfAmount } from '../../rules/banks.ts';

export interface RefundKey {
  readonly merchantId: string;
  readonly refundId: string;
}

const order = async (
  banks: Banks,
  payment: Payment,
  refund: Refund,
  now: Temporal.Instant,
): Promise<RefundAnswer> => {
  const bank = banks.bankOf(payment);
  // A connector that this installation lost answers nothing: the refund waits for it.
  if (isRefusal(bank)) return { kind: 'unknown' };
  return bank.refund({
    merchantId: refund.merchantId,
    operationId: refund.id,
    payment: { operationId: payment.id, reference: payment.bankRef },
    amount: minorUnits(refund.amount),
    currency: payment.currency,
    planned: refund.mode === 'test' ? timedPlanOfAmount(refund.amount) : null,
    reference: refund.bankRef,
    // A whole refund repeats the payment's receipt at the bank, which has it.
    receiptTermsId: refund.receiptTermsId === termsOf(payment) ? null : refund.receiptTermsId,
    now,
  });
};

/**
 * The refund as it is afterwards; null when there is none. Anything but a pending one is left as it
 * is.
 */
export const sendRefund = (
  database: Database,
  banks: Banks,
  key: RefundKey,
  now: Temporal.Instant,
): Promise<Refund | null> => {
  const { merchantId, refundId: subjectId } = key;
  return inTraceOf(
    database.pool,
    { merchantId, subjectId },
    { kind: 'internal', name: 'send refund' },
    () => sendAndApply(database, banks, key, now),
  );
};

const sendAndApply = async (
  database: Database,
  banks: Banks,
  { merchantId, refundId }: RefundKey,
  now: Temporal.Instant,
): Promise<Refund | null> => {
  const [refund] = await loadRefunds(database.pool, [{ merchantId, id: refundId }]);
  if (refund?.status !== 'pending') return refund ?? null;
  const [payment] = await loadPayments(database.pool, [{ merchantId, id: refund.paymentId }]);
  if (!payment) throw new Error(`refund ${refundId} has no payment`);
  return applyRefundAnswer(database, refund, await order(banks, payment, refund, now), now);
};

/** Refunds that the bank is to be asked about at a known moment. */
export const refundAsks = dueOn<RefundKey>({
  name: 'refund_asks',
  table: 'refund',
  at: 'ask_at',
  columns: 'merchant_id as "merchantId", id as "refundId"',
});

/**
 * Refunds that the bank should be asked about by now, longest due first; merchants share a full
 * page.
 */
export const findRefundsDue = (
  database: Database,
  now: Temporal.Instant,
  limit: number,
  timeline: Timeline = null,
): Promise<RefundKey[]> => refundAsks.dueByTurns(database.pool, timeline, now, limit);

const sweep_max = 500;
const ordersAtOnce = 16;
const subjectOf = ({ merchantId, refundId }: RefundKey) => ({ merchantId, subjectId: refundId });

/**
 * Orders or queries due refunds, the longest due first; returns their number. Rejects at the end
 * with all failures.
 */
export const sendDueRefunds = async (
  database: Database,
  banks: Banks,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const due = await findRefundsDue(database, clock(), sweep_max, timeline);
  await eachAlone(
    database.pool,
    { task: refundAsks.task, limit: ordersAtOnce, subjectOf },
    due,
    (key) => sendRefund(database, banks, key, clock()),
  );
  return due.length;
};
