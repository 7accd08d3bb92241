/**
 * Messages of the bus as text. What comes in is checked: another process may run another version,
 * or may not be ours at all.
 */
import {
  array,
  check,
  custom,
  digits,
  type GenericSchema,
  is,
  nonEmpty,
  nullable,
  object,
  picklist,
  pipe,
  string,
  transform,
  unknown,
} from 'valibot';
import { alertKinds, type AlertKind } from '../rules/alert.ts';
import { liveKinds } from '../rules/event.ts';
import { modes } from '../rules/mode.ts';
import { changedLists, type BusMessages, type BusTopic } from '../service/bus.ts';
import { fields, readAs } from '../service/read-as.ts';

const text = pipe(string(), nonEmpty());
const number = pipe(string(), digits());
const mode = picklist(modes);
/** A message that only wakes. */
const signal = pipe(
  unknown(),
  transform(() => null),
);

/** A list without the items of a kind that only a newer version knows. */
const listOf = <Item>(
  kinds: GenericSchema,
  item: GenericSchema<unknown, Item>,
  kindOf: (item: Readonly<Record<string, unknown>>) => unknown = ({ kind }) => kind,
) =>
  pipe(
    array(fields),
    transform((items): unknown[] => items.filter((one) => is(kinds, kindOf(one)))),
    array(item),
  );

const eventKind = picklist(liveKinds);
const event = object({
  sequence: number,
  kind: eventKind,
  merchantId: text,
  shopId: text,
  mode,
  subjectId: text,
  at: pipe(
    text,
    check((at) => !Number.isNaN(Date.parse(at))),
  ),
  payload: fields,
});

const alertKind = custom<AlertKind>(
  (kind) => typeof kind === 'string' && Object.hasOwn(alertKinds, kind),
);
const alert = object({
  id: text,
  kind: alertKind,
  merchantId: nullable(text),
  shopId: nullable(text),
  mode: nullable(mode),
  subjectId: text,
  detail: text,
  raisedAt: text,
});

const changedList = picklist(changedLists);
const listChange = object({ list: changedList, merchantId: nullable(text) });

const schemas: {
  readonly [Topic in BusTopic]: GenericSchema<unknown, BusMessages[Topic]>;
} = {
  events: object({
    behind: number,
    last: number,
    events: listOf(eventKind, event),
  }),
  outbox: signal,
  keys: object({ merchantId: text }),
  policies: signal,
  clocks: signal,
  streams: object({ keyId: text, streamId: text }),
  sessions: object({ sessionId: text }),
  alerts: listOf(alertKind, alert),
  lists: listOf(changedList, listChange, ({ list }) => list),
};

/** The names of all topics. */
export const topicNames: readonly string[] = Object.keys(schemas);

/** Whether a channel is one of the topics. */
export const isTopic = (name: string): name is BusTopic => Object.hasOwn(schemas, name);

/** A message as text. */
export const writeMessage = (message: BusMessages[BusTopic]): string => JSON.stringify(message);

/** Reads a message of `topic`; throws when the text is none. */
export const readMessage = <Topic extends BusTopic>(
  topic: Topic,
  written: string,
): BusMessages[Topic] => {
  const schema: GenericSchema<unknown, BusMessages[Topic]> = schemas[topic];
  return readAs(schema, JSON.parse(written), `the topic ${topic}`);
};
