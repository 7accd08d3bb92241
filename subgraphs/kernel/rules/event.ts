/**
 * Events. Contract "Events": webhook events are final facts, stream kinds include intermediate
 * changes; two different lists. The graph's subscriptions know one kind more than the contract's
 * stream does: consoles follow subscriptions, too. Payloads of the kinds: contract "Realtime
 * stream" and decision D-77.
 */
import type { Mode } from './mode.ts';

export const streamKinds = [
  'payment.created',
  'payment.status_changed',
  'payout.created',
  'payout.status_changed',
  'refund.created',
] as const;
/**
 * The kinds of the graph's subscriptions: those of the contract's stream, and what a subscription
 * comes to.
 */
export const liveKinds = [...streamKinds, 'subscription.status_changed'] as const;
export type LiveKind = (typeof liveKinds)[number];

export const webhookEvents = [
  'payment.succeeded',
  'payment.failed',
  'payment.cancelled',
  'payment.expired',
  'payment.refunded',
  'payout.succeeded',
  'payout.failed',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/**
 * One event of the stream as the bus carries it and the stream publishes it. `sequence` ascends in
 * the order of the stream.
 */
export interface StreamedEvent {
  readonly sequence: string;
  readonly kind: LiveKind;
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  /** The payment, payout, refund or subscription that it is about. */
  readonly subjectId: string;
  /** RFC 3339. */
  readonly at: string;
  readonly payload: Readonly<Record<string, unknown>>;
}
