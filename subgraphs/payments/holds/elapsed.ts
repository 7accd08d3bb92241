/** The end of a hold that was not captured in time. */
import { statusEvents } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import type { PaymentChange } from '../payment-change.ts';
import { paymentMove } from '../rules/payment.ts';
import { newRowId } from '../../platform/database/new-id.ts';
import type { HoldOrderKind } from './rules.ts';

/* The order to give a hold up, as the payment's row has it. */

/** The patch that orders a release. Its key begins with the time, which `money_unsettled` reads. */
export const releaseOrder = (
  holdOrder: Exclude<HoldOrderKind, 'capture'>,
  askAt: Temporal.Instant,
) => ({ holdOrder, holdKey: newRowId(), askAt });

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
