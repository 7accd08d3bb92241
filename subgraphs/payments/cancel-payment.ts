/**
 * Cancels a payment (docs/contract.md#payment-states). Only a pending payment is cancelled here;
 * `holds/release-hold` releases the hold of an authorized one. If the bank already has the order,
 * it is cancelled there afterwards, or left to expire where the bank cannot cancel.
 */
import type { Database } from '../platform/database/orm.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { KeyPrincipal } from '../platform/access/principal.ts';
import type { Payment } from './entities.ts';
import { changePayment, statusEvents, type Decision } from './change-payment.ts';
import { paymentMove, earlyOrderAskAt } from './rules/payment.ts';

/** What cancelling a pending payment means; refuses with `not_pending`. */
export const cancellation = (payment: Payment, now: Temporal.Instant): Decision => {
  const status = paymentMove(payment.status, 'merchant_cancelled');
  if (!status)
    return refuse(
      'not_pending',
      `only a pending payment can be cancelled; this one is ${payment.status}`,
    );
  // Over already, although the sweep has not written it yet: the merchant must not get `cancelled`
  // of one payment and `expired` of the next.
  if (Temporal.Instant.compare(payment.expiresAt, now) <= 0)
    return refuse(
      'not_pending',
      'only a pending payment can be cancelled; the link of this one has expired',
    );
  return {
    patch: { status, finalizedAt: now, askAt: earlyOrderAskAt(payment, now) },
    postings: [],
    events: (after) => statusEvents(after, [], now),
  };
};

/** Cancels a pending payment of the shop; refuses with `not_found` or `not_pending`. */
export const cancelPayment = (
  database: Database,
  key: Pick<KeyPrincipal, 'merchantId' | 'shopId' | 'mode'>,
  paymentId: string,
  now: Temporal.Instant,
): Promise<Payment | Refusal> =>
  changePayment(database, { merchantId: key.merchantId, paymentId }, now, ({ payment }) =>
    payment.shopId === key.shopId && payment.mode === key.mode
      ? cancellation(payment, now)
      : refuse('not_found', 'there is no such payment'),
  );
