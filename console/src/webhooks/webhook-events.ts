/** The kinds of webhook events. */
import type * as graph from '../../../schema/generated/console.ts';

// Every kind has a line: a new one does not compile without its own.
const known = {
  payment_authorized: true,
  payment_succeeded: true,
  payment_failed: true,
  payment_cancelled: true,
  payment_expired: true,
  payment_refunded: true,
  refund_failed: true,
  payout_created: true,
  payout_succeeded: true,
  payout_failed: true,
  link_paid: true,
  receipt_registered: true,
  receipt_failed: true,
  subscription_activated: true,
  subscription_past_due: true,
  subscription_paused: true,
  subscription_resumed: true,
  subscription_cancelled: true,
  token_activated: true,
  token_cancelled: true,
} as const satisfies Readonly<Record<graph.WebhookEvent, true>>;

export const webhookEvents = Object.keys(known) as readonly graph.WebhookEvent[];

/** As it stands in a webhook: `payment.succeeded`. */
export const eventName = (event: graph.WebhookEvent): string => event.replace('_', '.');
