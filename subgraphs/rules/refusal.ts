/**
 * Refusals: the closed list of docs/contract.md#errors. A refusal is a value; a broken invariant
 * throws. And what is wrong with the texts that callers give.
 */
import { enums } from '../../schema/generated/enums.ts';

export const refusalCodes = enums.RefusalCode;

export type RefusalCode = (typeof refusalCodes)[number];

/** A field of a body or a query, and what is wrong with it. */
export interface FieldMistake {
  /** `items[2].price`. */
  readonly path: string;
  /** What was expected and what came. */
  readonly message: string;
}

/** What an idempotency key was first used for. */
interface FirstRequest {
  readonly method: string;
  readonly path: string;
  readonly at: Temporal.Instant;
  /** Null for a call of the graph, which is found by its own operation. */
  readonly requestId: string | null;
}

/**
 * The operation was refused and nothing was changed. The field names are those of the GraphQL type.
 */
export interface Refusal {
  readonly __typename: 'Refused';
  readonly code: RefusalCode;
  readonly message: string;
  /** Of `bad_request`, the fields with mistakes. */
  readonly fields: FieldMistake[];
  /** Of `idempotent_conflict`; null when it is not known. */
  readonly firstRequest: FirstRequest | null;
}

/** How many mistakes one refusal names. */
export const fieldMistakes_max = 20;

const inField = /^(?:a (?:name|value) in )?([a-z]\w*(?:\.[\w-]+|\[\d+\])*): (.+)$/s;

/** The field that a message begins with; null if it names none. */
export const fieldsOf = (code: string, message: string): FieldMistake[] => {
  const [, path, words] = (code === 'bad_request' && inField.exec(message)) || [];
  return path !== undefined && words !== undefined ? [{ path, message: words }] : [];
};

/** A refusal with a message that the caller can act on; never a card number or a secret. */
export const refuse = (
  code: RefusalCode,
  message: string,
  firstRequest: FirstRequest | null = null,
): Refusal => ({
  __typename: 'Refused',
  code,
  message,
  fields: fieldsOf(code, message),
  firstRequest,
});

/** Refuses with all mistakes at once, where there are any; the message is that of the first. */
export const refuseMistakes = (
  mistakes: readonly (string | null | undefined)[],
): Refusal | null => {
  const found = mistakes.flatMap((mistake) => mistake || []);
  const [first] = found;
  if (first === undefined) return null;
  const fields = new Map<string, FieldMistake>();
  for (const field of found.flatMap((mistake) => fieldsOf('bad_request', mistake)))
    if (!fields.has(field.path)) fields.set(field.path, field);
  return {
    ...refuse('bad_request', first),
    fields: [...fields.values()].slice(0, fieldMistakes_max),
  };
};

/** Whether a value is a refusal and not a result. */
export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' &&
  value !== null &&
  '__typename' in value &&
  value.__typename === 'Refused';

// Texts that callers give: what is wrong with them, in words that name the field, and what a message
// may repeat of them.

type Absent = null | undefined;

/** Whether PostgreSQL can keep a text: no U+0000, no halves of surrogate pairs. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** As people count: a character outside the basic plane is one, although it has two code units. */
export const charactersOf = (text: string): number => Array.from(text).length;

/** What is wrong with a text that may be absent, in words that name the field; null when nothing is. */
export const textMistake = (
  name: string,
  text: string | Absent,
  min: number,
  max_chars: number,
): string | null => {
  if (text === null || text === undefined) return null;
  if (!isPlainText(text)) return `${name}: expected a text without U+0000 and unpaired surrogates`;
  if (text.length >= min && text.length <= max_chars) return null;
  const came = charactersOf(text);
  return came >= min && came <= max_chars
    ? null
    : `${name}: expected ${min} to ${max_chars} characters, got ${came}`;
};

/** The merchant's own pairs on an object, within docs/contract.md#limits. */
export type Metadata = Readonly<Record<string, string>>;

const pairs_max = 20;
const name_max_chars = 128;
const value_max_chars = 500;

/** A message repeats names that are plain words: a number may be that of a card. */
const valueName = (name: string): string =>
  /^[A-Za-z_.-]{1,64}$/.test(name) ? `metadata.${name}` : 'a value in metadata';

/** What is wrong with metadata; empty when nothing is, or there is none. */
export const metadataMistakes = (metadata: Metadata | null | undefined): (string | null)[] => {
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length > pairs_max)
    return [`metadata: expected up to ${pairs_max} pairs, got ${pairs.length}`];
  return pairs.flatMap(([name, value]) => [
    textMistake('a name in metadata', name, 1, name_max_chars),
    textMistake(valueName(name), value, 0, value_max_chars),
  ]);
};

// What a message may repeat of a caller's text: it says what came, and never a card number or a
// secret.

/**
 * Long runs of digits may be card or account numbers; these prefixes are those of keys and secrets.
 */
const sensitive = /\d(?:[ -]?\d){11,}|(?:sk_(?:test|live)_|thm_|whs_)[\w-]*/i;
const everySensitive = new RegExp(sensitive, 'gi');
const repeated_max = 64;

export const repeatable = (text: string): boolean =>
  text.length <= repeated_max && !sensitive.test(text);

/** A text of the caller as the end of a message says it: itself, or how long it is. */
export const asCame = (text: string): string =>
  repeatable(text) ? JSON.stringify(text) : `a string of ${Array.from(text).length} characters`;

/** A message that a library wrote, and that may quote the caller, without what must not be repeated. */
export const withoutSensitive = (message: string): string =>
  message.replaceAll(everySensitive, '…');
