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
