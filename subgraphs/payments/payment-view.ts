/**
 * A payment and a refund as GraphQL and the public JSON see them. The frozen webhook body is made
 * of the same view.
 */
import { rfc3339 } from '../../schema/rfc3339.ts';
import {
  paymentJson,
  refundJson,
  type PaymentFieldsFragment,
  type RefundFieldsFragment,
} from '../../schema/wire.ts';
import type { Payment } from './entities.ts';
import { capturableOf, capturedOf, type Capturing } from './holds/rules.ts';
import type { Refund } from './refunds/entities.ts';

const text = (instant: Temporal.Instant | null): string | null => instant && rfc3339(instant);

const refundView = (refund: Refund): RefundFieldsFragment => ({
  id: refund.id,
  paymentId: refund.paymentId,
  merchantId: refund.merchantId,
  amount: Number(refund.amount),
  reason: refund.reason,
  metadata: refund.metadata ?? {},
  status: refund.status,
  failReason: refund.failReason ?? '',
  createdAt: rfc3339(refund.createdAt),
  completedAt: text(refund.completedAt),
});

/** The public JSON of a refund at this moment: its row in GET /v1/public/refunds. */
export const publicRefund = (refund: Refund): ReturnType<typeof refundJson> =>
  refundJson(refundView(refund));

/** What was captured less the fee; null until the payment has succeeded. */
export const netOf = (payment: Capturing & Pick<Payment, 'fee'>): bigint | null =>
  payment.fee === null ? null : capturedOf(payment) - payment.fee;

const number = (amount: bigint | null): number | null => (amount === null ? null : Number(amount));

/**
 * The public JSON of a payment at this moment: the body of GET /v1/public/payments/{id} and the
 * `data` of its webhooks.
 */
export const publicPayment = (
  payment: Payment,
  refunds: readonly Refund[],
): ReturnType<typeof paymentJson> => {
  const view: PaymentFieldsFragment = {
    ...payment,
    amount: Number(payment.amount),
    capture: payment.capture ?? 'automatic',
    onDecline: payment.onDecline ?? 'return',
    amountCapturable: Number(capturableOf(payment)),
    amountCaptured: Number(capturedOf(payment)),
    captureBefore: text(payment.captureBefore),
    amountRefunded: Number(payment.amountRefunded),
    fee: number(payment.fee),
    net: number(netOf(payment)),
    createdAt: rfc3339(payment.createdAt),
    expiresAt: rfc3339(payment.expiresAt),
    capturedAt: text(payment.capturedAt),
    finalizedAt: text(payment.finalizedAt),
    processingUntil: text(payment.processingUntil),
    refunds: refunds.map(refundView),
  };
  return paymentJson(view);
};
