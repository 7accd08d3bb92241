/**
 * Captures a payment. POST /v1/public/payments/{id}/capture. The order is written into the
 * payment's row before the bank is called: a crash in between leaves an order that is given again
 * under the same key, so that the bank takes the money once.
 */
import type pg from 'pg';
import type { Banks } from '../../acquirers/route.ts';
import { writeEntry } from '../../platform/database/audit.ts';
import {
  answerUnderKey,
  claimAnswer,
  claimOf,
  createOnce,
  type Created,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import type { Database } from '../../platform/database/orm.ts';
import { newRowId, inTransaction } from '../../platform/database/statement.ts';
import { receiptCurrencyMistake, sumMistake } from '../../rules/receipt.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import { actingOf, isOfCaller, type PaymentCaller } from '../parts.ts';
import type { Payment } from '../entities.ts';
import { loadPayments } from '../find-payments.ts';
import { lockPayment, storeLocked } from '../lock-payment.ts';
import { insertTerms, termsRow, type GivenReceipt } from '../../acquirers/receipt-terms.ts';
import { partReceiptMistake } from '../receipts/part-receipt.ts';
import { captureAmount } from '../rules/amounts.ts';
import { unpublished, type PaymentKey } from '../store-payment.ts';
import { askAfterOrder, sendHoldOrder, type SentHoldOrder } from './send-hold-order.ts';

interface CaptureRequest {
  readonly paymentId: string;
  /** Null or 0: everything. */
  readonly amount: bigint | null;
  /** The captured items; absent: those of the payment's own receipt. */
  readonly receipt?: GivenReceipt | null;
  /** For the audit log. */
  readonly requestId?: string;
  readonly idempotency?: IdempotencyArgument;
}

/** Writes the order, with its audit entry, under the payment's lock. */
const orderCapture = async (
  client: pg.PoolClient,
  caller: PaymentCaller,
  { paymentId, amount, receipt = null, requestId = '' }: CaptureRequest,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const { merchantId } = caller;
  const locked = await lockPayment(client, { merchantId, paymentId }, now);
  if (!locked || !isOfCaller(locked.payment, caller))
    return refuse('not_found', 'there is no such payment');
  const { payment } = locked;
  const agreed = captureAmount(payment, amount, now);
  if (isRefusal(agreed)) return agreed;
  const mistake = receipt
    ? (receiptCurrencyMistake(payment.currency) ?? sumMistake(receipt.terms, agreed.amount))
    : agreed.amount < payment.amount &&
      (await partReceiptMistake(client, caller, payment, 'capture'));
  if (mistake) return mistake;
  const holdKey = newRowId();
  const patch = {
    holdOrder: 'capture',
    holdKey,
    amountCaptured: agreed.amount,
    captureTermsId: receipt && holdKey,
    askAt: askAfterOrder(now),
  } as const;
  if (receipt)
    await insertTerms(client, [
      termsRow(receipt, { ...payment, subjectId: holdKey, paymentId, createdAt: now }),
    ]);
  const stored = await storeLocked(client, locked, unpublished(patch), now);
  const { publicId, currency } = payment;
  await writeEntry(
    client,
    actingOf(caller, requestId, now),
    { action: 'payment.capture', merchantId, id: paymentId },
    { before: null, after: { payment: publicId, amount: agreed.amount, currency } },
  );
  return stored;
};

/** Why the capture came to nothing; null when it took the money, or may have. */
const refusalOf = ({ payment, answer }: SentHoldOrder): Refusal | null => {
  if (answer?.kind === 'declined' && payment.status === 'authorized')
    return refuse('capture_declined', `the bank refused the capture: ${answer.failureCode}`);
  // Another order than this one has had its effect at the bank.
  if (payment.status === 'cancelled' || payment.status === 'expired')
    return refuse('payment_not_authorized', `the bank has released the hold of the payment`);
  return payment.status === 'authorized' && payment.holdOrder === null
    ? refuse('capture_declined', 'the bank refused the capture: limit_exceeded')
    : null;
};

/**
 * Whether the bank refused the capture of an earlier call after that call was answered. A repeated
 * call then orders it again.
 */
const isTurnedDown = ({ status, holdOrder }: Payment): boolean =>
  status === 'authorized' && holdOrder === null;

/** Gives the bank the row's order; the payment as it is then, or why nothing was taken. */
const sendCapture = async (
  database: Database,
  banks: Banks,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const sent = await sendHoldOrder(database, banks, key, now);
  return isRefusal(sent) ? sent : (refusalOf(sent) ?? sent.payment);
};

/**
 * Captures a payment of the caller, or finds the one that an earlier call with the same idempotency
 * key captured, once the bank has answered that. Gives it as it is then: succeeded when the bank
 * has taken the money, else authorized until its word is known. Refuses with `not_found`,
 * `payment_not_authorized`, `amount_exceeds_remainder`, `capture_declined` (it stays authorized),
 * or about the key, which a refusal leaves free.
 */
export const capturePayment = async (
  database: Database,
  banks: Banks,
  caller: PaymentCaller,
  request: CaptureRequest,
  now: Temporal.Instant,
): Promise<Created<Payment> | Refusal> => {
  const { paymentId, amount, receipt = null, idempotency } = request;
  const named = { paymentId, amount, ...(receipt ? { receipt: receipt.terms } : {}) };
  const claim = claimOf(idempotency, 'paymentCapture', named, true);
  if (isRefusal(claim)) return claim;
  if (!isUuid(paymentId)) return refuse('not_found', 'there is no such payment');
  const { pool } = database;
  const key = { merchantId: caller.merchantId, paymentId };
  const find = async (id: string): Promise<Payment | null> =>
    (await loadPayments(pool, [{ merchantId: caller.merchantId, id }]))[0] ?? null;
  const claimed = { caller, claim, resourceId: paymentId };
  const order = (client: pg.PoolClient) => orderCapture(client, caller, request, now);
  const orderAgain = async (client: pg.PoolClient): Promise<Payment | Refusal> => {
    const ordered = await order(client);
    if (!isRefusal(ordered)) await claimAnswer(client, claimed);
    return ordered;
  };
  const orderOnce = async (): Promise<Created<Payment> | Refusal> => {
    const ordered = await createOnce(pool, { ...claimed, find, at: now }, order);
    if (isRefusal(ordered) || !ordered.replayed || !isTurnedDown(ordered.made)) return ordered;
    const again = await inTransaction(pool, orderAgain);
    if (!isRefusal(again)) return { made: again, replayed: false };
    // Another replay was quicker, whose answer is this one's, or the hold has ended.
    const payment = await find(paymentId);
    return payment && !isTurnedDown(payment) ? orderOnce() : again;
  };
  const ordered = await orderOnce();
  if (isRefusal(ordered) || ordered.replayed) return ordered;
  const made = await answerUnderKey(pool, claimed, () => sendCapture(database, banks, key, now));
  return isRefusal(made) ? made : { made, replayed: false };
};
