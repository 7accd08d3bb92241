/**
 * The bus as the parts of the service see it: best-effort messages between processes. Messages are
 * hints; PostgreSQL holds the facts (`kernel/queue/bus` carries them).
 */
import type { AlertKind } from '../rules/alert.ts';
import type { StreamedEvent } from '../rules/event.ts';
import type { Mode } from '../rules/mode.ts';

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

/** Lists that people watch and of which no event of the stream says that they have changed. */
export const changedLists = [
  'alerts',
  'audit_log',
  'payout_drafts',
  'reconciliation_differences',
  'webhook_deliveries',
  'webhook_failures',
] as const;
export type ChangedList = (typeof changedLists)[number];

/** That a list of a merchant has changed. */
export interface ListChange {
  readonly list: ChangedList;
  /** Null: it is the platform's, or that of merchants who are not named. */
  readonly merchantId: string | null;
}

/**
 * What webhooks share a bound by, and do not wait for others: an endpoint, or the origin of the
 * addresses of a merchant's payments.
 */
export interface WebhookLane {
  readonly merchantId: string;
  readonly lane: string;
}

/** What goes over the bus: topic to message. Messages are hints; PostgreSQL holds the facts. */
export interface BusMessages {
  /**
   * Events that have just been given their sequence numbers, in order; now and then without any, to
   * give the position of the stream.
   */
  events: StreamStretch;
  /**
   * The outbox has something: the relay need not wait for its next poll. A message that is
   * published in the relay's own process goes no further.
   */
  outbox: null;
  /** Lanes of webhooks in which something may be due. */
  webhooks: readonly WebhookLane[];
  /** A key, its shop or its merchant changed: forget what was cached of them. */
  keys: { readonly merchantId: string };
  /** The operator's policies changed: read them anew before they are used. */
  policies: null;
  /** A test clock was made or removed. */
  clocks: null;
  /** A key has opened an event stream: its older ones end, in whatever process they are. */
  streams: { readonly keyId: string; readonly streamId: string };
  /** A session of the console has ended: forget it, and end its sockets. */
  sessions: { readonly sessionId: string };
  /** Alerts that have just been raised. For operators alone. */
  alerts: readonly PublishedAlert[];
  /** Lists that have just changed, each of a merchant once. For people alone. */
  lists: readonly ListChange[];
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
