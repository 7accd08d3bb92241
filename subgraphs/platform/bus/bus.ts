/**
 * The bus as the parts of the service see it: best-effort messages between processes. Messages are
 * hints; PostgreSQL holds the facts (`platform/queue/bus` carries them).
 */
import * as v from 'valibot';
import { enums } from '../../../schema/generated/enums.ts';
import { alertFieldNames, alertKinds, type AlertKind } from '../../rules/alert.ts';
import { liveKinds } from '../../rules/event.ts';
import { modes } from '../../rules/mode.ts';
import { fields, readAs } from './process-messages.ts';

/** Lists that people watch and whose changes no event of the stream reports. */
export const changedLists = enums.ChangedList;
export type ChangedList = (typeof changedLists)[number];

// Incoming messages are checked: another process may run another version, or may not be ours at all.

const text = v.pipe(v.string(), v.nonEmpty());
const number = v.pipe(v.string(), v.digits());
const mode = v.picklist(modes);
/** A message that only wakes. */
const signal = v.pipe(
  v.unknown(),
  v.transform(() => null),
);

/** A list without the items of a kind that only a newer version knows. */
const listOf = <Item>(
  kinds: v.GenericSchema,
  item: v.GenericSchema<unknown, Item>,
  kindOf: (item: Readonly<Record<string, unknown>>) => unknown = ({ kind }) => kind,
) =>
  v.pipe(
    v.array(fields),
    v.transform((items): unknown[] => items.filter((one) => v.is(kinds, kindOf(one)))),
    v.array(item),
    v.readonly(),
  );

const eventKind = v.picklist(liveKinds);
const event = v.object({
  sequence: number,
  kind: eventKind,
  merchantId: text,
  shopId: text,
  mode,
  subjectId: text,
  at: v.pipe(
    text,
    v.check((at) => !Number.isNaN(Date.parse(at))),
  ),
  payload: fields,
});

const alertKind = v.custom<AlertKind>(
  (kind) => typeof kind === 'string' && Object.hasOwn(alertKinds, kind),
);
const alert = v.object({
  id: text,
  kind: alertKind,
  /** Null: it is about the platform itself. */
  merchantId: v.nullable(text),
  shopId: v.nullable(text),
  mode: v.nullable(mode),
  /** What it is about; with the kind and the merchant it is unique. */
  subjectId: text,
  /**
   * What was found, in words that a person can act on; no secrets. A card number in it is masked.
   */
  detail: text,
  /** The same for programs; a card number in a value is masked. */
  fields: v.record(v.picklist(alertFieldNames), text),
  /** RFC 3339. */
  raisedAt: text,
});
/** An alert as it is published to operators. */
export type PublishedAlert = v.InferOutput<typeof alert>;

const changedList = v.picklist(changedLists);
const listChange = v.object({
  list: changedList,
  /** Null: it belongs to the platform, or to unnamed merchants. */
  merchantId: v.nullable(text),
});
export type ListChange = v.InferOutput<typeof listChange>;

const stretch = v.object({ behind: number, last: number, events: listOf(eventKind, event) });
/**
 * A stretch of the stream: all its events after the number `behind`, up to and including the number
 * `last`. A reader before `behind` has missed something. Not every number is an event of the
 * stream.
 */
export type StreamStretch = v.InferOutput<typeof stretch>;

const lane = v.object({ merchantId: text, lane: text });
/**
 * Webhooks that share a limit and do not wait for others: an endpoint, or the origin of the
 * addresses of a merchant's payments.
 */
export type WebhookLane = v.InferOutput<typeof lane>;

/** The bus's topics and messages. */
const schemas = {
  /**
   * Newly numbered events, in order; now and then without any, to give the position of the stream.
   */
  events: stretch,
  /**
   * The outbox has events: the relay need not wait for its next poll. A message published in the
   * relay's own process stays there.
   */
  outbox: signal,
  /** Lanes of webhooks in which something may be due. */
  webhooks: v.pipe(v.array(lane), v.readonly()),
  /** A key, its shop or its merchant changed: drop them from caches. */
  keys: v.object({ merchantId: text }),
  /** The operator's policies changed: read them again before the next use. */
  policies: signal,
  /** A test clock was made or removed. */
  clocks: signal,
  /** A key has opened an event stream: its older ones end, in every process. */
  streams: v.object({ keyId: text, streamId: text }),
  /** A session of the console has ended: drop it, and end its sockets. */
  sessions: v.object({ sessionId: text }),
  /** Alerts that have just been raised. For operators alone. */
  alerts: listOf(alertKind, alert),
  /** Lists that have just changed, each merchant's once. For people alone. */
  lists: listOf(changedList, listChange, ({ list }) => list),
};

export type BusTopic = keyof typeof schemas;
export type BusMessages = {
  readonly [Topic in BusTopic]: v.InferOutput<(typeof schemas)[Topic]>;
};

export const topicNames: readonly string[] = Object.keys(schemas);

export const isTopic = (name: string): name is BusTopic => Object.hasOwn(schemas, name);

/** Reads a message of `topic`; throws when the text is none. */
export const readMessage = <Topic extends BusTopic>(
  topic: Topic,
  written: string,
): BusMessages[Topic] => {
  const typed: { readonly [Each in BusTopic]: v.GenericSchema<unknown, BusMessages[Each]> } =
    schemas;
  const schema: v.GenericSchema<unknown, BusMessages[Topic]> = typed[topic];
  return readAs(schema, JSON.parse(written), `the topic ${topic}`);
};

/** Best-effort messages between processes. */
export interface Bus {
  publish<Topic extends BusTopic>(topic: Topic, message: BusMessages[Topic]): Promise<void>;
  /** Returns a function that ends the subscription. */
  subscribe<Topic extends BusTopic>(
    topic: Topic,
    listener: (message: BusMessages[Topic]) => void,
  ): () => void;
}
