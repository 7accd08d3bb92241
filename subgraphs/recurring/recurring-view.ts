/** Subscriptions and tokens in the public JSON, as REST answers them and webhooks freeze them. */
import { rfc3339 } from '../../schema/scalars.ts';
import type {
  SubscriptionFieldsFragment,
  TokenFieldsFragment,
} from '../../schema/generated/operations.ts';
import type { OutboxEvent } from '../platform/events/outbox.ts';
import { asSubject } from '../rules/event.ts';
import type { Subscription, Token } from './entities.ts';

const text = (instant: Temporal.Instant | null): string | null => instant && rfc3339(instant);

const publicSubscription = (subscription: Subscription): SubscriptionFieldsFragment => ({
  id: subscription.id,
  merchant_id: subscription.merchantId,
  shop_id: subscription.shopId,
  customer_ref: subscription.customerRef,
  plan_name: subscription.planName,
  metadata: subscription.metadata ?? {},
  amount: Number(subscription.amount),
  currency: subscription.currency,
  method: subscription.method,
  period: subscription.period,
  interval_count: subscription.intervalCount,
  trial_days: subscription.trialDays,
  status: subscription.status,
  next_charge_at: text(subscription.nextChargeAt),
  last_charge_at: text(subscription.lastChargeAt),
  created_at: rfc3339(subscription.createdAt),
});

const publicToken = (token: Token): TokenFieldsFragment => ({
  id: token.id,
  merchant_id: token.merchantId,
  shop_id: token.shopId,
  customer_ref: token.customerRef,
  metadata: token.metadata ?? {},
  method: token.method,
  status: token.status,
  card_brand: token.cardBrand,
  card_mask: token.cardMask,
  card_holder: token.cardHolder,
  last_charged_at: text(token.lastChargedAt),
  created_at: rfc3339(token.createdAt),
});

/** The webhook of a move; none while a subscription is pending. */
const subscriptionEventOf = (from: Subscription['status'], to: Subscription['status']) => {
  if (to === 'pending') return null;
  if (to !== 'active') return `subscription.${to}` as const;
  return from === 'paused' ? 'subscription.resumed' : 'subscription.activated';
};

/** The events of a subscription's new status: to live consoles, and to webhooks. */
export const subscriptionEvents = (
  from: Subscription['status'],
  subscription: Subscription,
  at: Temporal.Instant,
): readonly OutboxEvent[] => {
  const { id, status } = subscription;
  if (status === from) return [];
  const event = subscriptionEventOf(from, status);
  return [
    {
      ...asSubject(subscription),
      stream: { kind: 'subscription.status_changed', payload: { id, status } },
      webhook: event && { event, data: publicSubscription(subscription), url: null },
      at,
    },
  ];
};

/** The events of a token's new status: to webhooks only. */
export const tokenEvents = (
  from: Token['status'],
  token: Token,
  at: Temporal.Instant,
): readonly OutboxEvent[] => {
  const { status } = token;
  if (status === from || status === 'pending') return [];
  const event = `token.${status === 'active' ? 'activated' : 'cancelled'}` as const;
  const webhook = { event, data: publicToken(token), url: null };
  return [{ ...asSubject(token), stream: null, webhook, at }];
};
