/**
 * Sends the order about a hold that the payment's row contains, or queries it, and applies the
 * answer. It repeats under the same key until the result is known; an unknown result changes
 * nothing.
 */
import type { HoldAnswer, HoldOrder } from '../../acquirers/hold-bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTraceOf } from '../../platform/database/subject-trace.ts';
import { minorUnits } from '../../rules/money.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Payment } from '../entities.ts';
import { findPayment, type PaymentKey } from '../store-payment.ts';
import { applyHoldAnswer } from './apply-hold-answer.ts';

/** When an order that we lost sight of is given again: later than any call to a bank may take. */
const lostOrder_s = 30;

/** When the bank is asked about an order that is given now. */
export const askAfterOrder = (now: Temporal.Instant): Temporal.Instant =>
  now.add({ seconds: lostOrder_s });

/** A payment, and what the bank has just answered about its hold; null: nothing was ordered. */
export interface SentHoldOrder {
  readonly payment: Payment;
  readonly answer: HoldAnswer | null;
}

const orderOf = (payment: Payment, now: Temporal.Instant): HoldOrder | null => {
  const { merchantId, id, bankRef, amount, amountCaptured, currency } = payment;
  const { holdOrder, holdKey, captureTermsId } = payment;
  if (holdOrder === null || holdKey === null) return null;
  return {
    kind: holdOrder === 'capture' ? 'capture' : 'release',
    merchantId,
    operationId: holdKey,
    payment: { operationId: id, reference: bankRef },
    amount: minorUnits(amountCaptured ?? amount),
    held: minorUnits(amount),
    currency,
    // A full capture uses the receipt of the payment's order, which the bank already has.
    receiptTermsId: holdOrder === 'capture' ? captureTermsId : null,
    now,
  };
};

const askedOf = async (banks: Banks, payment: Payment, order: HoldOrder): Promise<HoldAnswer> => {
  const bank = banks.bankOf(payment);
  // A connector that this installation lost answers nothing: the hold waits for it.
  if (isRefusal(bank) || !bank.settleHold) return { kind: 'unknown' };
  return bank.settleHold(order);
};

/** Sends the order of the payment's row; one without an order is left as it is. */
export const sendHoldOrder = (
  database: Database,
  banks: Banks,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<SentHoldOrder | Refusal> =>
  inTraceOf(
    database.pool,
    { merchantId: key.merchantId, subjectId: key.paymentId },
    { kind: 'internal', name: 'settle hold' },
    async () => {
      const found = await findPayment(database.pool, key, now);
      if (!found) return refuse('not_found', 'there is no such payment');
      const order = orderOf(found.payment, now);
      if (!order) return { payment: found.payment, answer: null };
      const answer = await askedOf(banks, found.payment, order);
      const payment = await applyHoldAnswer(database, found, answer, now);
      return isRefusal(payment) ? payment : { payment, answer };
    },
  );
