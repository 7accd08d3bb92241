/**
 * Block lists. Blocked phones, card fingerprints, customer ids, account numbers and countries. A
 * card's or an account's number is never kept: the lists hold a keyed fingerprint of it, and people
 * see its last 4 characters.
 */
import { createHmac } from 'node:crypto';
import type { enums } from '../../schema/generated/enums.ts';
import { isCardNumber } from './card.ts';
import { charactersOf, isPlainText } from './refusal.ts';

export type BlockKind = (typeof enums.BlockKind)[number];

/** What a list keeps of a value. */
interface BlockValue {
  /**
   * What is compared: a fingerprint of a card or an account, else the value in its one spelling.
   */
  readonly value: string;
  /** What people may see of it. */
  readonly shown: string;
}

/**
 * The digits of a phone from its country code on; null when it is none. In Russia a number is
 * dialled with 8, or with nothing, where the country code 7 stands; a number abroad after 8 10, and
 * elsewhere after 00.
 */
const phoneDigits = (text: string): string | null => {
  const typed = text.normalize('NFKC').replaceAll(/[\s().\p{Pd}]/gu, '');
  const digits = typed
    .replace(/^8?(?=[3489]\d{9}$)|^\+8(?=9\d{9}$)/, '+7')
    .replace(/^(?:00|810)(?=[1-9])|^(?=[1-9]\d{10})/, '+');
  return /^\+(7\d{10}|[1-689]\d{7,14})$/.exec(digits)?.[1] ?? null;
};

const spelled = (kind: BlockKind, text: string): string | null => {
  switch (kind) {
    case 'phone':
      return phoneDigits(text);
    case 'card': {
      const digits = text.replaceAll(/[\s-]/g, '');
      return isCardNumber(digits) ? digits : null;
    }
    case 'customer':
      return text !== '' && charactersOf(text) <= 500 && isPlainText(text) ? text : null;
    case 'account': {
      const account = text.replaceAll(/\s/g, '').toUpperCase();
      return /^[0-9A-Z]{5,34}$/.test(account) ? account : null;
    }
    case 'country': {
      const country = text.toUpperCase();
      return /^[A-Z]{2}$/.test(country) ? country : null;
    }
  }
};

/** What each kind looks like, for a refusal: the value itself is never repeated. */
export const blockValueExpected: Readonly<Record<BlockKind, string>> = {
  phone: 'a phone with its country code: +7 and 10 digits in Russia',
  card: 'a card number',
  customer: '1 to 500 characters',
  account: '5 to 34 letters and digits',
  country: 'an ISO 3166 code of two letters',
};

/**
 * A value as the lists keep it; null when it is not one of its kind. `key` makes the fingerprints:
 * without it a number cannot be guessed back.
 */
export const blockValue = (key: Buffer, kind: BlockKind, text: string): BlockValue | null => {
  const value = spelled(kind, text);
  if (value === null) return null;
  if (kind === 'phone') return { value, shown: `+${value}` };
  if (kind !== 'card' && kind !== 'account') return { value, shown: value };
  return {
    value: createHmac('sha256', key).update(`${kind}:${value}`).digest('hex'),
    shown: value.slice(-4),
  };
};

// Forbidden purposes. Words that a `description` may not hold. A word is found as a whole word,
// whatever its case, in any script; a `*` at its end stands for any ending, since Russian words
// change theirs.

/**
 * Both sides of a comparison in one spelling: compatible forms of a letter are one, ё is е, as most
 * people write it, and invisible characters do not part a word.
 */
const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(/\s+/g, ' ');

/** A word as the list keeps it; null without a letter or digit, or with a `*` before its end. */
export const forbiddenWord = (text: string): string | null => {
  const word = folded(text).trim();
  return isPlainText(word) && charactersOf(word) <= 200 && /^[^*]*[\p{L}\p{N}][^*]*\*?$/u.test(word)
    ? word
    : null;
};

const pattern = (word: string): string =>
  word.endsWith('*') ? `${RegExp.escape(word.slice(0, -1))}[\\p{L}\\p{N}]*` : RegExp.escape(word);

/**
 * Makes the search for any of the words: it gives the part of a text that is forbidden, or null.
 */
export const purposeSearch = (words: readonly string[]): ((text: string) => string | null) => {
  if (words.length === 0) return () => null;
  const any = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${words.map(pattern).join('|')})(?![\\p{L}\\p{N}])`,
    'u',
  );
  return (text) => any.exec(folded(text))?.[0] ?? null;
};
