/**
 * The events of refunds: one payment.refunded for each refund that succeeded, with the payment as
 * it is at that moment.
 */
import type { OutboxEvent } from '../../platform/events/outbox.ts';
import { statusEvents } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import type { Refund } from './entities.ts';
import { publicPayment, publicRefund } from '../payment-view.ts';

/** A refund was made: published on the stream alone. */
export const refundCreated = (
  { merchantId, shopId, mode, id, paymentId, amount, status }: Refund,
  at: Temporal.Instant,
): OutboxEvent => ({
  merchantId,
  shopId,
  mode,
  subjectId: id,
  stream: {
    kind: 'refund.created',
    payload: { id, payment_id: paymentId, amount: Number(amount), status },
  },
  webhook: null,
  at,
});

/**
 * A failed refund, published to webhooks only. It is not an event of its payment, so the payment's
 * own address does not receive it.
 */
export const refundFailedEvent = (refund: Refund, at: Temporal.Instant): OutboxEvent => {
  const { merchantId, shopId, mode, id } = refund;
  const webhook = { event: 'refund.failed', data: publicRefund(refund), url: null } as const;
  return { merchantId, shopId, mode, subjectId: id, stream: null, webhook, at };
};

/**
 * A refund succeeded: the payment's webhook; when it was the last of the payment, its new status is
 * published with it.
 */
export const refundedEvents = (
  payment: Payment,
  refunds: readonly Refund[],
  at: Temporal.Instant,
): readonly OutboxEvent[] => {
  if (payment.status === 'refunded') return statusEvents(payment, refunds, at);
  const { merchantId, shopId, mode, id, webhookUrl } = payment;
  const webhook = {
    event: 'payment.refunded',
    data: publicPayment(payment, refunds),
    url: webhookUrl,
  } as const;
  return [{ merchantId, shopId, mode, subjectId: id, stream: null, webhook, at }];
};
