/** The end of a hold that nobody captured in its time. */
import { statusEvents } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import type { PaymentChange } from '../payment-change.ts';
import { paymentMove } from '../rules/payment.ts';

/** What a payment is without a hold, and without an order about one. */
export const unheld = {
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
  return {
    patch: {
      ...unheld,
      status,
      failureCode: 'capture_expired',
      finalizedAt: now,
      metadata: { ...payment.metadata, failure_code: 'capture_expired' },
    },
    postings: [],
    events: (after) => statusEvents(after, [], now),
  };
};
