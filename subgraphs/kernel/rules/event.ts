/**
 * Events. Contract "Events": webhook events are final facts, stream kinds include intermediate
 * changes; two different lists. The graph's subscriptions know one kind more than the contract's
 * stream does: consoles follow subscriptions, too. Payloads of the kinds: contract "Realtime
 * stream" and decision D-77.
 */
import type { AlertKind } from './alert.ts';
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

/**
 * A stretch of the stream: all its events behind the number `behind`, up to and with the number
 * `last`. Who stands before `behind` has missed something. Not every number is an event of the
 * stream.
 */
export interface StreamStretch {
  readonly behind: string;
  readonly last: string;
  readonly events: readonly StreamedEvent[];
}

/** An alert as it is published to operators. */
export interface PublishedAlert {
  readonly id: string;
  readonly kind: AlertKind;
  /** Null: it is about the platform itself. */
  readonly merchantId: string | null;
  readonly shopId: string | null;
  readonly mode: Mode | null;
  readonly subjectId: string;
  readonly detail: string;
  /** RFC 3339. */
  readonly raisedAt: string;
}

/** What goes over the bus: topic to message. Messages are hints; PostgreSQL holds the facts. */
export interface BusMessages {
  /**
   * Events that have just been given their sequence numbers, in order; now and then without any, to
   * give the position of the stream.
   */
  events: StreamStretch;
  /** The outbox has something: the relay need not wait for its next poll. */
  outbox: null;
  /** A key, its shop or its merchant changed: forget what was cached of them. */
  keys: { readonly merchantId: string };
  /** The operator's policies changed: read them anew before they are used. */
  policies: null;
  /** A test clock was made or removed. */
  clocks: null;
  /**
   * A key has opened an event stream: its older ones end, in whatever process they are (decision
   * D-75).
   */
  streams: { readonly keyId: string; readonly streamId: string };
  /** Alerts that have just been raised. For operators alone. */
  alerts: readonly PublishedAlert[];
}
export type BusTopic = keyof BusMessages;

/** Best-effort messages between processes. */
export interface Bus {
  publish<Topic extends BusTopic>(topic: Topic, message: BusMessages[Topic]): Promise<void>;
  /** Returns a function that ends the subscription. */
  subscribe<Topic extends BusTopic>(
    topic: Topic,
    listener: (message: BusMessages[Topic]) => void,
  ): () => void;
}
