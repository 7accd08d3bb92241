/**
 * Texts that callers give: what is wrong with them, in words that name the field, and what a message
 * may repeat of them.
 */

type Absent = null | undefined;

/** As people count: a character outside the basic plane is one, although it has two code units. */
export const charactersOf = (text: string): number => Array.from(text).length;

/**
 * What is wrong with a text that may be absent, in words that name the field; null when nothing is.
 * PostgreSQL holds neither U+0000 nor half characters.
 */
export const textMistake = (
  name: string,
  text: string | Absent,
  min: number,
  max_chars: number,
): string | null => {
  if (text === null || text === undefined) return null;
  if (!text.isWellFormed() || text.includes('\0'))
    return `${name}: expected a text without U+0000 and unpaired surrogates`;
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
const sensitive = /\d(?:[ -]?\d){11}|sk_(?:test|live)_|thm_|whs_/i;
const repeated_max = 64;

export const repeatable = (text: string): boolean =>
  text.length <= repeated_max && !sensitive.test(text);

/** A text of the caller as the end of a message says it: itself, or how long it is. */
export const asCame = (text: string): string =>
  repeatable(text) ? JSON.stringify(text) : `a string of ${Array.from(text).length} characters`;
