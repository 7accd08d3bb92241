/**
 * Sends the order about a hold that the payment's row contains, or queries it, and applies the
 * answer. It repeats under the same key until the result is known; an unknown result changes
 * nothing.
 */
import type { HoldAnswer, HoldOrder } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import { newRowId } from '../../platform/database/statement.ts';
import type { Database } from '../../platform/database/orm.ts';
import { minorUnits, type MinorUnits } from '../../rules/money.ts';
import { paymentSucceeded } from '../../rules/postings.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { applyWithinBound } from '../bank-answers/keep-bound.ts';
import { statusEvents, type Decision, statusChange } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { askAgain_s, order_max_s } from '../rules/order.ts';
import { paymentMove, feeOf } from '../rules/payment.ts';
import {
  findPayment,
  inPaymentTrace,
  type PaymentKey,
  type RatedPayment,
  type PaymentChange,
  unpublished,
} from '../store-payment.ts';
import type { HoldOrderKind } from '../rules/amounts.ts';

export const askAfterOrder = (now: Temporal.Instant): Temporal.Instant =>
  now.add({ seconds: order_max_s });

/** A payment, and what the bank has just answered about its hold; null: nothing was ordered. */
export interface SentHoldOrder {
  readonly payment: Payment;
  readonly answer: HoldAnswer | null;
}

const orderOf = (payment: Payment, now: Temporal.Instant): HoldOrder | null => {
  const { holdOrder, holdKey, amount } = payment;
  if (holdOrder === null || holdKey === null) return null;
  return {
    kind: holdOrder === 'capture' ? 'capture' : 'release',
    merchantId: payment.merchantId,
    operationId: holdKey,
    payment: { operationId: payment.id, reference: payment.bankRef },
    amount: minorUnits(payment.amountCaptured ?? amount),
    held: minorUnits(amount),
    currency: payment.currency,
    // A full capture uses the receipt of the payment's order, which the bank already has.
    receiptTermsId: holdOrder === 'capture' ? payment.captureTermsId : null,
    now,
  };
};

const askedOf = async (banks: Banks, payment: Payment, order: HoldOrder): Promise<HoldAnswer> => {
  const bank = banks.bankOf(payment);
  // A connector that this installation lost answers nothing: the hold waits for it.
  if (isRefusal(bank) || !bank.settleHold) return { kind: 'unknown' };
  return bank.settleHold(order);
};

// Applies a bank's answer about a hold, whatever its source. A capture books the captured amount
// and its fee; a release books nothing. Only this code moves an authorized payment, except a
// capture that was made at the bank itself (`bank-answers/apply-bank-answer`).

/** The patch that orders a release. Its key begins with the time, which `money_unsettled` reads. */
export const releaseOrder = (
  holdOrder: Exclude<HoldOrderKind, 'capture'>,
  askAt: Temporal.Instant,
) => ({ holdOrder, holdKey: newRowId(), askAt });

/** What a payment is without a hold, and without an order about one. */
const unheld = {
  holdOrder: null,
  holdKey: null,
  askAt: null,
  amountCaptured: null,
  captureTermsId: null,
  captureBefore: null,
} as const;

/** An authorized payment expires with its hold: nothing was booked, and nothing is. */
export const elapsed = (payment: Payment, now: Temporal.Instant): PaymentChange => {
  const status = paymentMove(payment.status, 'hold_elapsed');
  if (!status)
    throw new Error(`payment ${payment.id} is ${payment.status}, and its hold has ended`);
  return statusChange(now, {
    ...unheld,
    status,
    failureCode: 'capture_expired',
    finalizedAt: now,
    metadata: { ...payment.metadata, failure_code: 'capture_expired' },
  });
};

/** The bank took the money: what was captured is booked, with the fee of it. */
const captured = (
  { payment, rateBps }: RatedPayment,
  amount: MinorUnits,
  now: Temporal.Instant,
): Decision => {
  const status = paymentMove(payment.status, 'captured');
  // Decided again from the row, which is read with its rate.
  if (!status || rateBps === null) return 'unchanged';
  const fee = feeOf(payment.mode, amount, rateBps);
  return {
    patch: {
      ...unheld,
      status,
      fee,
      amountCaptured: amount,
      captureTermsId: payment.captureTermsId,
      capturedAt: now,
      finalizedAt: now,
      feeRateBps: rateBps,
    },
    postings: paymentSucceeded({ amount, fee }),
    rateBps,
    events: (after) => statusEvents(after, [], now),
  };
};

/** The bank gave the money back to the buyer's account: nothing was booked, and nothing is. */
const released = ({ payment }: RatedPayment, now: Temporal.Instant): Decision => {
  // It had ended before the bank held the money.
  if (payment.status !== 'authorized') return unpublished(unheld);
  const status = paymentMove(payment.status, 'hold_released');
  if (payment.holdOrder !== 'cancel' || !status) return elapsed(payment, now);
  return statusChange(now, { ...unheld, status, finalizedAt: now });
};

const decide = (
  rated: RatedPayment,
  ordered: Payment,
  answer: HoldAnswer,
  now: Temporal.Instant,
): Decision => {
  const { payment } = rated;
  // The answer to an order that is over.
  if (payment.holdKey === null || payment.holdKey !== ordered.holdKey) return 'unchanged';
  switch (answer.kind) {
    case 'captured':
      // It had ended here: the question about it finds the money, which goes back.
      if (payment.status !== 'authorized') return unpublished({ ...unheld, askAt: now });
      return captured(rated, answer.amount, now);
    case 'released':
      return released(rated, now);
    case 'declined':
      return payment.holdOrder === 'capture'
        ? unpublished({ ...unheld, captureBefore: payment.captureBefore })
        : unpublished({ askAt: now.add({ seconds: askAgain_s }) });
    case 'pending':
      return unpublished({ askAt: answer.askAt });
    case 'unknown':
      return unpublished({ askAt: now.add({ seconds: askAgain_s }) });
  }
};

/**
 * Applies the answer to the order in `ordered` and returns the payment. An answer to an earlier
 * order changes nothing. If a capture would exceed the bound of the merchant's balance, the
 * simulated bank refuses it, and money that an acquirer has taken goes to suspense.
 */
const applyHoldAnswer = (
  database: Database,
  ordered: RatedPayment,
  answer: HoldAnswer,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const { merchantId, id: paymentId, holdKey, connector } = ordered.payment;
  const key = { merchantId, paymentId };
  const operationId = answer.kind === 'captured' ? holdKey : null;
  const bounded = { key, connector: connector ?? '', answer, now, operationId, known: ordered };
  return applyWithinBound(database, bounded, (rated, given) =>
    decide(rated, ordered.payment, given, now),
  );
};

/** Sends the order of the payment's row; one without an order is left as it is. */
export const sendHoldOrder = (
  database: Database,
  banks: Banks,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<SentHoldOrder | Refusal> =>
  inPaymentTrace(database, key, 'settle hold', async () => {
    const found = await findPayment(database.pool, key, now);
    if (!found) return refuse('not_found', 'there is no such payment');
    const order = orderOf(found.payment, now);
    if (!order) return { payment: found.payment, answer: null };
    const answer = await askedOf(banks, found.payment, order);
    const payment = await applyHoldAnswer(database, found, answer, now);
    return isRefusal(payment) ? payment : { payment, answer };
  });
