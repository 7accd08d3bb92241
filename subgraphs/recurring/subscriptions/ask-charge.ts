/**
 * Requests a charge's payment. The same charge always requests the same payment, and there is only
 * one.
 */
import { recurringPaymentId, verificationAmount } from '../../rules/recurring.ts';
import type { Refusal } from '../../rules/refusal.ts';
import type { AskedBinding, AskedPayment, Payments, RecurringPayment } from '../ask-payments.ts';
import { startBinding } from '../tokens/bind-token.ts';
import type { Token, Subscription, SubscriptionCharge } from '../entities.ts';
import type { ChargePayment } from './settle-charges.ts';

type ChargeKey = Pick<
  SubscriptionCharge,
  'merchantId' | 'mode' | 'subscriptionId' | 'period' | 'attempt'
>;

const keyOf = ({ subscriptionId, period, attempt }: ChargeKey): string =>
  `subscription/${subscriptionId}/${period}/${attempt}`;

/** The id of a scheduled charge's payment, known before it is created. */
export const paymentOf = (charge: ChargeKey): string =>
  recurringPaymentId(charge.merchantId, charge.mode, keyOf(charge));

/**
 * The first payment: with a trial 1 RUB that only verifies the method, otherwise the first period.
 */
export const firstAmount = ({ trialDays, amount }: Subscription): bigint =>
  trialDays > 0 ? verificationAmount : amount;

/**
 * Requests the payment that binds the subscription's method, or finds it. Refuses and rejects as
 * `startBinding` does.
 */
export const bindSubscription = (
  payments: Payments,
  subscription: Subscription,
  token: Token,
  requestId?: string,
): Promise<AskedBinding | Refusal> => {
  const isTrial = subscription.trialDays > 0;
  const binding = {
    kind: 'subscription_init',
    amount: firstAmount(subscription),
    currency: subscription.currency,
    verification: isTrial,
    subscriptionId: subscription.id,
    // A trial begins without a charge, so there is no receipt.
    receiptTermsId: isTrial ? null : subscription.receiptTermsId,
    returnUrl: subscription.returnUrl,
    metadata: subscription.metadata,
  } as const;
  return startBinding({ payments }, token, binding, requestId);
};

export const askCharge = (
  payments: Payments,
  charge: SubscriptionCharge,
  subscription: Subscription,
  token: Token,
): Promise<AskedPayment | Refusal> => {
  if (charge.kind === 'subscription_init') return bindSubscription(payments, subscription, token);
  const { merchantId, shopId, mode, amount, currency, subscriptionId } = charge;
  const { savedReference, customerRef, id: tokenId } = token;
  if (savedReference === null)
    throw new Error(
      `token ${tokenId} was never bound, and subscription ${subscriptionId} is charged`,
    );
  const idempotencyKey = keyOf(charge);
  const whose = { merchantId, shopId, mode, tokenId, subscriptionId, customerRef, savedReference };
  return payments.askCharge({
    ...whose,
    kind: 'subscription_charge',
    idempotencyKey,
    amount,
    currency,
    receiptTermsId: subscription.receiptTermsId,
    metadata: subscription.metadata,
  });
};

/** Where a payment stands, for its charge: since when it is captured, else final. */
export const standingOf = (payment: RecurringPayment): ChargePayment => ({
  id: payment.id,
  status: payment.status,
  failureCode: payment.failureCode,
  at: payment.capturedAt ?? payment.finalizedAt ?? payment.createdAt,
});
