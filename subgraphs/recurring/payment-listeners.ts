/**
 * The listeners to payments that have moved, in this order, in one transaction
 * (consume-payments.ts). Tokens first: a subscription that becomes active has one.
 */
import { emOn } from '../platform/database/orm-connections.ts';
import { eachMerchant } from '../platform/database/sql-file.ts';
import { isBinding } from '../rules/recurring.ts';
import { tokenMove } from './rules/token.ts';
import { standingOf } from './subscriptions/ask-charge.ts';
import { SubscriptionChargeEntity, type Token } from './entities.ts';
import { settleCharges, type ChargeNews } from './subscriptions/settle-charges.ts';
import { lockTokens, storeTokens } from './tokens/store-token.ts';
import type { RecurringPayment } from './ask-payments.ts';
import type { OnPaymentsMoved } from './consume-payments.ts';

// Applies payment events to subscriptions: bindings and charges that have ended.

/**
 * Settles the charges whose payments are final; the first charge activates or cancels the
 * subscription. Idempotent.
 */
const followSubscriptions: OnPaymentsMoved = async (client, payments) => {
  const charged = payments.filter(({ subscriptionId }) => subscriptionId !== null);
  if (charged.length === 0) return;
  const byId = new Map(charged.map((payment) => [payment.id, payment]));
  const charges = await eachMerchant(charged, (own, merchantId) => {
    const paid = { merchantId, paymentId: { $in: own.map(({ id }) => id) } };
    return emOn(client).find(SubscriptionChargeEntity, paid);
  });
  const news = charges.flatMap((charge): ChargeNews[] => {
    const payment = byId.get(charge.paymentId ?? '');
    return payment ? [{ charge, payment: standingOf(payment) }] : [];
  });
  await settleCharges(client, news);
};

// Applies the payments of tokens (docs/contract.md#token-states). A binding that succeeded
// activates its token unless the merchant has cancelled it; one that ended without money cancels
// it. A charge that succeeded becomes the token's last one.

const later = (
  one: Temporal.Instant | null,
  other: Temporal.Instant | null,
): Temporal.Instant | null =>
  one && other ? (Temporal.Instant.compare(one, other) >= 0 ? one : other) : (one ?? other);

const bound = (
  token: Token,
  { savedReference, cardBrand, cardMask, cardHolder }: RecurringPayment,
): Token => {
  // A bank that took the money and saved nothing leaves nothing to charge.
  const status = tokenMove(token.status, savedReference === null ? 'binding_ended' : 'bound');
  if (!status) return token;
  return {
    ...token,
    status,
    savedReference,
    cardBrand,
    cardMask: cardMask?.slice(-4) ?? null,
    cardHolder,
  };
};

const afterPayment = (token: Token, payment: RecurringPayment): Token => {
  switch (payment.status) {
    case 'pending':
    case 'processing':
    case 'authorized':
      return token;
    // What was verified with is given back, and a charge that was refunded was a charge.
    case 'succeeded':
    case 'refunded':
      return isBinding(payment.kind)
        ? bound(token, payment)
        : { ...token, lastChargedAt: later(token.lastChargedAt, payment.capturedAt) };
    case 'failed':
    case 'expired':
    case 'cancelled': {
      const status = isBinding(payment.kind) ? tokenMove(token.status, 'binding_ended') : undefined;
      return status ? { ...token, status } : token;
    }
  }
};

/** Brings home what the payments of tokens came to. Given the same again, it changes nothing. */
export const settleTokens: OnPaymentsMoved = async (client, payments) => {
  const byToken = Map.groupBy(payments, ({ merchantId, tokenId }) => `${merchantId}/${tokenId}`);
  const keys = [...byToken.values()].flatMap(([first]) =>
    first ? [{ merchantId: first.merchantId, id: first.tokenId }] : [],
  );
  const tokens = await lockTokens(client, keys);
  const changed = tokens.flatMap((token) => {
    const own = byToken.get(`${token.merchantId}/${token.id}`) ?? [];
    const after = own.reduce(afterPayment, token);
    const moved = own.find(({ kind }) => isBinding(kind)) ?? own[0];
    return !moved || (after.status === token.status && after.lastChargedAt === token.lastChargedAt)
      ? []
      : [{ before: token, after, at: standingOf(moved).at }];
  });
  await storeTokens(client, changed);
};

export const paymentListeners: readonly OnPaymentsMoved[] = [settleTokens, followSubscriptions];
