/**
 * A payment that only verified the method. A card is authorised and voided, any other method is
 * charged and refunded. The payment succeeds without a fee and is refunded in the same statement. A
 * voided authorisation moved no money and is not booked; a charge is booked in both directions.
 */
import { newRowId } from '../../platform/database/new-id.ts';
import { minorUnits } from '../../rules/money.ts';
import { paymentSucceeded, refundOpened } from '../../rules/postings.ts';
import { approvalPatch, type Approval } from '../bank-answers/orders.ts';
import { statusEvents } from '../change-payment.ts';
import type { Payment, Refund } from '../entities.ts';
import { newRefund, refundCreated } from '../refunds/record-refund.ts';
import type { PaymentChange } from '../store-payment.ts';

/**
 * Whether an approval of this payment has moved no money: the bank gave the authorisation up again.
 */
export const isVoided = ({ verification, method }: Payment): boolean =>
  verification && method === 'cards';

const returnOf = (payment: Payment, now: Temporal.Instant): Refund => {
  const base = { id: newRowId(), amount: payment.amount };
  const back = { ...base, reason: 'The verification is given back', askAt: now };
  if (!isVoided(payment)) return newRefund(payment, back, now);
  const voided = { ...base, reason: 'The verification was voided', askAt: null };
  return { ...newRefund(payment, voided, now), status: 'succeeded', completedAt: now };
};

/** The effect of an approved verification: the payment succeeds, and its money returns. */
export const verified = (
  payment: Payment,
  answer: Approval,
  now: Temporal.Instant,
): PaymentChange => {
  const amount = minorUnits(payment.amount);
  const nothing = minorUnits(0n);
  const refund = returnOf(payment, now);
  const succeeded = {
    ...approvalPatch(payment, answer, now),
    status: 'succeeded',
    fee: nothing,
    feeRateBps: 0,
    finalizedAt: now,
  } as const;
  const before = { ...payment, ...succeeded };
  if (!isVoided(payment)) {
    return {
      patch: succeeded,
      postings: paymentSucceeded({ amount, fee: nothing }),
      events: (after) => [...statusEvents(after, [refund], now), refundCreated(refund, now)],
      refund: { row: refund, postings: refundOpened({ amount }) },
    };
  }
  return {
    patch: { ...succeeded, status: 'refunded', amountRefunded: amount },
    postings: [],
    events: (after) => [
      ...statusEvents(before, [], now),
      refundCreated(refund, now),
      ...statusEvents(after, [refund], now),
    ],
    refund: { row: refund, postings: [] },
  };
};
