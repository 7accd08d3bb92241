/**
 * Card numbers in free texts. A merchant may put one into an order id, a description or metadata,
 * and gets it back as it was sent (contract "Metadata"); in logs, traces, the audit log, alerts and
 * on consoles it is masked, with this file alone.
 */
import { isCardNumber } from './card.ts';

/** As many digits of a card may be left to see. */
const shown_digits = 4;
/** Ids of ours: their groups may be digits alone. */
const uuidForm = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const uuid = new RegExp(`^${uuidForm}$`, 'i');
/** Digits, with single separators between them or without. */
const digitsForm = String.raw`(?<!\d)\d(?:[\s._:/-]?\d){12,}`;
const uuidOrDigits = new RegExp(`${uuidForm}|${digitsForm}`, 'gi');
const digitsAnywhere = new RegExp(digitsForm);

/** Whether a group of digits, or several, are written as a card number is: 13 to 19 digits from 2 on, in groups of four and more. */
const isWritten = (groups: readonly string[]): boolean => {
  const digits = groups.join('');
  if (!/^[2-6]\d{12,18}$/.test(digits) || !isCardNumber(digits)) return false;
  return groups.length === 1 || groups.every((group, place) => group.length >= (place === groups.length - 1 ? 3 : 4));
};

/** How many of the groups from a place on are a card number; 0: none is. */
const lengthAt = (groups: readonly string[], from: number): number => {
  const most = Math.min(groups.length - from, 5);
  return Array.from({ length: most }, (_, less) => most - less).find((length) => isWritten(groups.slice(from, from + length))) ?? 0;
};

const maskRun = (run: string): string => {
  const [groups, separators] = [run.split(/\D/), run.replaceAll(/\d/g, '')];
  let masked = '';
  for (let place = 0; place < groups.length;) {
    const length = lengthAt(groups, place);
    const taken = groups.slice(place, place + Math.max(length, 1)).join('');
    masked += length > 0 ? `****${taken.slice(-shown_digits)}` : taken;
    place += Math.max(length, 1);
    masked += separators[place - 1] ?? '';
  }
  return masked;
};

/** Whether a text has a run of digits that is long enough for a card number. Cheaper than `maskCardNumbers`. */
export const mayHoldCardNumber = (text: string): boolean => digitsAnywhere.test(text);

/**
 * A text with every card number in it reduced to its last 4 digits. A merchant's free text may hold
 * one; where the text goes further than back to the merchant, it goes masked. One in twenty ordinary
 * numbers of 13 to 19 digits looks like a card's, and is masked, too.
 */
export const maskCardNumbers = (text: string): string =>
  mayHoldCardNumber(text) ? text.replaceAll(uuidOrDigits, (found) => (uuid.test(found) ? found : maskRun(found))) : text;

/** Whether a text holds a card number. */
export const holdsCardNumber = (text: string): boolean => maskCardNumbers(text) !== text;

/** A value with every text in it masked, names of fields, too. Numbers stay: a text cannot be one. */
export const maskedDeeply = (value: unknown): unknown => {
  if (typeof value === 'string') return maskCardNumbers(value);
  if (Array.isArray(value)) return value.map(maskedDeeply);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [maskCardNumbers(name), maskedDeeply(held)]));
};
