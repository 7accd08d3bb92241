/**
 * Queries banks about receipts, orders receipts that need an order of their own, and applies the
 * answers. Each merchant has an equal share of a round. A receipt that makes the task fail is set
 * aside.
 */
import type pg from 'pg';
import { eachAlone, workBatch } from '../../platform/alerts/dead-letters.ts';
import type { ReceiptAnswer, ReceiptOrder } from '../../acquirers/bank.ts';
import { openReadTerms, type ReadTerms } from '../../acquirers/receipt-terms.ts';
import type { Banks } from '../../acquirers/route.ts';
import type { Timeline } from '../../platform/clock/due.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { minorUnits } from '../../rules/money.ts';
import { isRefusal } from '../../rules/refusal.ts';
import type { Receipt, Payment, Refund } from '../entities.ts';
import { loadPayments, loadRefunds } from '../find-payments.ts';
import type { PaymentsDeps } from '../parts.ts';
import { order_max_s } from '../rules/order.ts';
import { inPaymentTrace } from '../store-payment.ts';
import { applyReceiptAnswer } from './apply-receipt-answer.ts';
import { plannedReceipt } from './rules.ts';
import { leaseReceipts, receiptAsks } from './store-receipts.ts';

export type AskingDeps = Pick<PaymentsDeps, 'database' | 'banks' | 'customers'>;

/** Receipts of one round: at a slow bank those of others wait for no more than these. */
const round_max = 64;
const asksAtOnce = 16;

/** A receipt with the movement that it is about. */
interface Asking {
  readonly receipt: Receipt;
  readonly payment: Payment;
  readonly refund: Refund | null;
}

const orderOf = async (
  readTerms: ReadTerms,
  { receipt, payment, refund }: Asking,
  now: Temporal.Instant,
): Promise<ReceiptOrder> => {
  const { merchantId, id, attempt, type, amount, currency, termsId, createdAt } = receipt;
  return {
    merchantId,
    receiptId: id,
    attempt,
    type,
    payment: { operationId: payment.id, reference: payment.bankRef },
    refund: refund && { operationId: refund.id, reference: refund.bankRef },
    amount: minorUnits(amount),
    currency,
    terms: await readTerms(merchantId, termsId),
    planned: plannedReceipt(payment),
    createdAt,
    now,
  };
};

const ask = async (
  { banks, readTerms }: { readonly banks: Banks; readonly readTerms: ReadTerms },
  asking: Asking,
  now: Temporal.Instant,
): Promise<ReceiptAnswer> => {
  const bank = banks.bankOf(asking.payment);
  // A connector that this installation lost answers nothing: the receipt waits for it.
  if (isRefusal(bank)) return { kind: 'unknown' };
  if (!bank.receipt) return { kind: 'failed', reason: `${bank.bankName} registers no receipts` };
  return bank.receipt(await orderOf(readTerms, asking, now));
};

/** Takes a round of due receipts under a lease. */
const take = (
  pool: pg.Pool,
  timeline: Timeline,
  now: Temporal.Instant,
  { some, isShared }: { readonly some: number; readonly isShared: boolean },
): Promise<readonly Receipt[]> =>
  inTransaction(pool, async (client) => {
    const due = isShared
      ? await receiptAsks.dueOfEach(client, now, some, [])
      : await receiptAsks.due(client, timeline, now, some);
    return leaseReceipts(client, due, now.add({ seconds: order_max_s }));
  });

const withMovements = async (pool: pg.Pool, receipt: Receipt): Promise<Asking> => {
  const { merchantId, id, paymentId, refundId } = receipt;
  const [payment] = await loadPayments(pool, [{ merchantId, id: paymentId }]);
  if (!payment) throw new Error(`receipt ${id} has no payment`);
  const [refund = null] =
    refundId === null ? [] : await loadRefunds(pool, [{ merchantId, id: refundId }]);
  return { receipt, payment, refund };
};

const subjectOf = ({ merchantId, id: subjectId }: Receipt) => ({ merchantId, subjectId });

/**
 * Queries due receipts of a timeline, a round at a time; returns their number. Rejects at the end
 * of a round with its failures.
 */
export const askReceipts = async (
  { database: { pool }, banks, customers }: AskingDeps,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const readTerms = openReadTerms(pool, customers);
  for (let seen = 0; ;) {
    const now = clock();
    const { result: taken, limit } = await workBatch(pool, {
      task: receiptAsks.task,
      limit: round_max,
      // A round that fails is tried again by age, in which the row that fails is found.
      work: (some) =>
        take(pool, timeline, now, { some, isShared: timeline === null && some === round_max }),
      first: () => receiptAsks.first(pool, timeline, now),
    });
    await eachAlone(
      pool,
      { task: receiptAsks.task, limit: asksAtOnce, subjectOf },
      taken,
      (receipt) =>
        inPaymentTrace({ pool }, receipt, 'ask receipt', async () => {
          const asking = await withMovements(pool, receipt);
          const answer = await ask({ banks, readTerms }, asking, now);
          return applyReceiptAnswer(pool, asking, answer, now);
        }),
    );
    seen += taken.length;
    // What one merchant leaves of its share, another gets in the next round.
    const isLast = timeline === null ? taken.length === 0 : taken.length < limit;
    if (isLast) return seen;
  }
};
