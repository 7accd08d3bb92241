/**
 * Subscriptions and tokens in the public JSON. The frozen webhook body and the REST answers use the
 * same view.
 */
import { rfc3339 } from '../../schema/scalars.ts';
import { subscriptionJson, tokenJson } from '../../schema/wire.ts';
import type { OutboxEvent } from '../platform/events/outbox.ts';
import { asSubject } from '../rules/event.ts';
import type { Subscription, Token } from './entities.ts';

const text = (instant: Temporal.Instant | null): string | null => instant && rfc3339(instant);

const publicSubscription = (subscription: Subscription): ReturnType<typeof subscriptionJson> =>
  subscriptionJson({
    ...subscription,
    amount: Number(subscription.amount),
    metadata: subscription.metadata ?? {},
    nextChargeAt: text(subscription.nextChargeAt),
    lastChargeAt: text(subscription.lastChargeAt),
    createdAt: rfc3339(subscription.createdAt),
  });

const publicToken = (token: Token): ReturnType<typeof tokenJson> =>
  tokenJson({
    ...token,
    metadata: token.metadata ?? {},
    lastChargedAt: text(token.lastChargedAt),
    createdAt: rfc3339(token.createdAt),
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
