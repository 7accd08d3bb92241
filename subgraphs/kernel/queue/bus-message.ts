/**
 * Messages of the bus as text. What comes in is checked: another process may run another version,
 * or may not be ours at all.
 */
import { alertKinds, type AlertKind } from '../rules/alert.ts';
import { type StreamedEvent, liveKinds } from '../rules/event.ts';
import type { BusMessages, BusTopic, PublishedAlert } from '../service/bus.ts';
import { modes } from '../rules/mode.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Fields => {
  if (!isFields(value)) throw new Error('expected an object');
  return value;
};

const textOf = (fields: Fields, name: string): string => {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new Error(`expected text in ${name}`);
  return value;
};

const oneOf = <Value extends string>(
  fields: Fields,
  name: string,
  values: readonly Value[],
): Value => {
  const found = values.find((value) => value === fields[name]);
  if (found === undefined) throw new Error(`expected another ${name} than ${String(fields[name])}`);
  return found;
};

const digitsOf = (fields: Fields, name: string): string => {
  const digits = textOf(fields, name);
  if (!/^\d+$/.test(digits)) throw new Error(`expected digits in ${name}`);
  return digits;
};

const readEvent = (value: unknown): StreamedEvent => {
  const fields = fieldsOf(value);
  const at = textOf(fields, 'at');
  if (Number.isNaN(Date.parse(at))) throw new Error('expected a time in at');
  return {
    sequence: digitsOf(fields, 'sequence'),
    kind: oneOf(fields, 'kind', liveKinds),
    merchantId: textOf(fields, 'merchantId'),
    shopId: textOf(fields, 'shopId'),
    mode: oneOf(fields, 'mode', modes),
    subjectId: textOf(fields, 'subjectId'),
    at,
    payload: fieldsOf(fields['payload']),
  };
};

const isAlertKind = (kind: unknown): kind is AlertKind =>
  typeof kind === 'string' && Object.hasOwn(alertKinds, kind);

/** Nothing when a newer version sends a kind that this one does not know. */
const readAlert = (value: unknown): PublishedAlert[] => {
  const fields = fieldsOf(value);
  const { kind } = fields;
  if (!isAlertKind(kind)) return [];
  const textOrNull = (name: string): string | null =>
    fields[name] === null ? null : textOf(fields, name);
  return [
    {
      id: textOf(fields, 'id'),
      kind,
      merchantId: textOrNull('merchantId'),
      shopId: textOrNull('shopId'),
      mode: fields['mode'] === null ? null : oneOf(fields, 'mode', modes),
      subjectId: textOf(fields, 'subjectId'),
      detail: textOf(fields, 'detail'),
      raisedAt: textOf(fields, 'raisedAt'),
    },
  ];
};

const readers: { readonly [Topic in BusTopic]: (value: unknown) => BusMessages[Topic] } = {
  events: (value) => {
    const fields = fieldsOf(value);
    const { events } = fields;
    if (!Array.isArray(events)) throw new Error('expected a list of events');
    // A newer version may have kinds that this one does not know: they are left out, the others are
    // delivered.
    const known = events.filter((event) =>
      liveKinds.some((kind) => kind === fieldsOf(event)['kind']),
    );
    return {
      behind: digitsOf(fields, 'behind'),
      last: digitsOf(fields, 'last'),
      events: known.map(readEvent),
    };
  },
  outbox: () => null,
  keys: (value) => ({ merchantId: textOf(fieldsOf(value), 'merchantId') }),
  policies: () => null,
  clocks: () => null,
  streams: (value) => {
    const fields = fieldsOf(value);
    return { keyId: textOf(fields, 'keyId'), streamId: textOf(fields, 'streamId') };
  },
  alerts: (value) => {
    if (!Array.isArray(value)) throw new Error('expected a list of alerts');
    return value.flatMap(readAlert);
  },
};

/** The names of all topics. */
export const topicNames: readonly string[] = Object.keys(readers);

/** Whether a channel is one of the topics. */
export const isTopic = (name: string): name is BusTopic => Object.hasOwn(readers, name);

/** A message as text. */
export const writeMessage = (message: BusMessages[BusTopic]): string => JSON.stringify(message);

/** Reads a message of `topic`; throws when the text is none. */
export const readMessage = <Topic extends BusTopic>(
  topic: Topic,
  text: string,
): BusMessages[Topic] => readers[topic](JSON.parse(text));
