/**
 * The bus as the parts of the service see it: best-effort messages between processes. Messages are
 * hints; PostgreSQL holds the facts (`platform/queue/bus` carries them).
 */
import { enums } from '../../../schema/generated/enums.ts';
import type { AlertFields, AlertKind } from '../../rules/alert.ts';
import type { StreamedEvent } from '../../rules/event.ts';
import type { Mode } from '../../rules/mode.ts';

/**
 * A stretch of the stream: all its events after the number `behind`, up to and including the number
 * `last`. A reader before `behind` has missed something. Not every number is an event of the
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
  /** What it is about; with the kind and the merchant it is unique. */
  readonly subjectId: string;
  /**
   * What was found, in words that a person can act on; no secrets. A card number in it is masked.
   */
  readonly detail: string;
  /** The same for programs; a card number in a value is masked. */
  readonly fields: AlertFields;
  /** RFC 3339. */
  readonly raisedAt: string;
}

/** Lists that people watch and whose changes no event of the stream reports. */
export const changedLists = enums.ChangedList;
export type ChangedList = (typeof changedLists)[number];

export interface ListChange {
  readonly list: ChangedList;
  /** Null: it belongs to the platform, or to unnamed merchants. */
  readonly merchantId: string | null;
}

/**
 * Webhooks that share a limit and do not wait for others: an endpoint, or the origin of the
 * addresses of a merchant's payments.
 */
export interface WebhookLane {
  readonly merchantId: string;
  readonly lane: string;
}

/** The bus's topics and messages. Messages are hints; PostgreSQL holds the facts. */
export interface BusMessages {
  /**
   * Newly numbered events, in order; now and then without any, to give the position of the stream.
   */
  events: StreamStretch;
  /**
   * The outbox has events: the relay need not wait for its next poll. A message published in the
   * relay's own process stays there.
   */
  outbox: null;
  /** Lanes of webhooks in which something may be due. */
  webhooks: readonly WebhookLane[];
  /** A key, its shop or its merchant changed: drop them from caches. */
  keys: { readonly merchantId: string };
  /** The operator's policies changed: read them again before the next use. */
  policies: null;
  /** A test clock was made or removed. */
  clocks: null;
  /** A key has opened an event stream: its older ones end, in every process. */
  streams: { readonly keyId: string; readonly streamId: string };
  /** A session of the console has ended: drop it, and end its sockets. */
  sessions: { readonly sessionId: string };
  /** Alerts that have just been raised. For operators alone. */
  alerts: readonly PublishedAlert[];
  /** Lists that have just changed, each merchant's once. For people alone. */
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
