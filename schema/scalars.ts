/**
 * The scalars of every subgraph. Money is a bigint inside and a JSON integer on the wire; a moment
 * is a Temporal.Instant inside and RFC 3339 in UTC with milliseconds on the wire.
 */
import { GraphQLScalarType, GraphQLError, Kind } from 'graphql';
import { GraphQLJSONObject } from 'graphql-scalars';

const bad = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });

const toSafeBigInt = (value: unknown, min: number): bigint => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) {
    throw bad(
      `expected an integer from ${min} to 2^53-1, got ${typeof value === 'number' ? value : typeof value}`,
    );
  }
  return BigInt(value);
};

const fromBigInt = (value: unknown): number => {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new Error(`an amount left the safe range: ${String(value)}`);
  return number;
};

declare global {
  interface JSON {
    /**
     * A value that JSON.stringify writes as the text says (ES2025 proposal "JSON.parse source text
     * access").
     */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * A sum may leave the range that one amount keeps: it is then written digit by digit, as an integer
 * still.
 */
const fromSum = (value: unknown): number | object => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
};

const integerScalar = (
  name: string,
  description: string,
  min: number,
  serialize: (value: unknown) => number | object,
): GraphQLScalarType<bigint, number | object> =>
  new GraphQLScalarType({
    name,
    description,
    serialize,
    parseValue: (value) => toSafeBigInt(value, min),
    parseLiteral: (node) => {
      if (node.kind !== Kind.INT) throw bad(`expected an integer, got ${node.kind}`);
      return toSafeBigInt(Number(node.value), min);
    },
  });

const minorUnits = integerScalar(
  'MinorUnits',
  'Money in minor currency units (kopecks, cents): an integer from 0 to 2^53-1.',
  0,
  fromBigInt,
);
const signedMinorUnits = integerScalar(
  'SignedMinorUnits',
  'Money with a sign, in minor units.',
  Number.MIN_SAFE_INTEGER,
  fromSum,
);

const firstMoment = Temporal.Instant.from('0001-01-01T00:00:00Z');
const lastMoment = Temporal.Instant.from('9999-12-31T23:59:59.999Z');

/**
 * The moment that a text states, in a year of four digits; null when it states none. One before the
 * year 1 or after 9999 in UTC is the first or the last of them: PostgreSQL reads no other in the form
 * in which moments are written here.
 */
export const readInstant = (text: string): Temporal.Instant | null => {
  if (!/^\d{4}-/.test(text)) return null;
  try {
    const instant = Temporal.Instant.from(text);
    if (Temporal.Instant.compare(instant, firstMoment) < 0) return firstMoment;
    return Temporal.Instant.compare(instant, lastMoment) > 0 ? lastMoment : instant;
  } catch {
    return null;
  }
};

const parseInstant = (value: unknown): Temporal.Instant => {
  if (typeof value !== 'string') throw bad(`expected an RFC 3339 date-time, got ${typeof value}`);
  const instant = readInstant(value);
  if (instant === null) throw bad(`expected an RFC 3339 date-time, got ${value}`);
  return instant;
};

const dateTime = new GraphQLScalarType<Temporal.Instant, string>({
  name: 'DateTime',
  description: 'A moment: RFC 3339 in UTC with milliseconds.',
  serialize: (value) => {
    if (value instanceof Temporal.Instant) return rfc3339(value);
    throw new Error(`a DateTime was resolved with ${typeof value}`);
  },
  parseValue: parseInstant,
  parseLiteral: (node) => parseInstant(node.kind === Kind.STRING ? node.value : undefined),
});

const toStringMap = (value: unknown): Record<string, string> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad('expected an object of strings');
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'string')
      throw bad(`expected a string in "${key}", got ${item === null ? 'null' : typeof item}`);
  }
  return value as Record<string, string>;
};

const stringMap = new GraphQLScalarType<Record<string, string>, Record<string, string>>({
  name: 'StringMap',
  description: 'A map of string to string.',
  serialize: toStringMap,
  parseValue: toStringMap,
  parseLiteral: (node, variables) => toStringMap(GraphQLJSONObject.parseLiteral(node, variables)),
});

/** Scalar resolvers by name; a subgraph takes those that its SDL declares. */
export const scalars = {
  MinorUnits: minorUnits,
  SignedMinorUnits: signedMinorUnits,
  DateTime: dateTime,
  StringMap: stringMap,
  JSONObject: GraphQLJSONObject,
} as const;

// Moments as text: RFC 3339 in UTC with milliseconds.

const day_ms = 86_400_000;

/**
 * The last day that was written. Most moments of an answer are of one day, and writing the rest is
 * several times faster than Temporal's own.
 */
const last = { day: Number.NaN, text: '' };

const twoDigits = (number: number): string => (number < 10 ? `0${number}` : `${number}`);
const threeDigits = (number: number): string =>
  number < 100 ? `0${twoDigits(number)}` : `${number}`;

/**
 * The moment as text, what is below a millisecond cut off: `2026-05-06T10:00:00.123Z`. Joined, it
 * is a text in one piece: with one that V8 still keeps as parts, JSON.stringify takes three times
 * as long for the whole answer.
 */
export const rfc3339 = (instant: Temporal.Instant): string => {
  const all_ms = instant.epochMilliseconds;
  const day = Math.floor(all_ms / day_ms);
  if (day !== last.day) {
    const midnight = new Date(day * day_ms).toISOString();
    Object.assign(last, { day, text: midnight.slice(0, midnight.indexOf('T') + 1) });
  }
  const within_ms = all_ms - day * day_ms;
  const seconds = Math.floor(within_ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const time = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}.${threeDigits(within_ms % 1_000)}Z`;
  return [last.text, time].join('');
};
