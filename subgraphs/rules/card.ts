/**
 * Card numbers and their related fields. Nothing here repeats the input: a message may be logged, a
 * card may not.
 */
import { isUuid, uuidForm } from './ids.ts';

const zero = '0'.charCodeAt(0);

/** Whether 12 to 19 digits pass the Luhn check. */
export const isCardNumber = (digits: string): boolean => {
  if (!/^\d{12,19}$/.test(digits)) return false;
  let sum = 0;
  for (let place = 1; place <= digits.length; place += 1) {
    const product = (digits.charCodeAt(digits.length - place) - zero) * (place % 2 === 0 ? 2 : 1);
    sum += product > 9 ? product - 9 : product;
  }
  return sum % 10 === 0;
};

const brands: readonly (readonly [RegExp, string])[] = [
  [/^220[0-4]/, 'Mir'],
  [/^4/, 'Visa'],
  // 2221 to 2720.
  [/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 'Mastercard'],
  [/^(62|81)/, 'UnionPay'],
];

/** The brand of a number by its first digits (ISO/IEC 7812), as the page shows it; null for others. */
export const brandOf = (digits: string): string | null =>
  brands.find(([pattern]) => pattern.test(digits))?.[1] ?? null;

/**
 * Whether a card with this expiry (MM/YY) is good at a moment: it is through the last day of its
 * month, wherever on earth that is still the day.
 */
export const isGoodUntil = (expiry: string, now: Temporal.Instant): boolean => {
  const [, month, year] = /^(0[1-9]|1[0-2]) ?\/ ?(\d{2})$/.exec(expiry) ?? [];
  if (!month || !year) return false;
  const end = Temporal.PlainYearMonth.from({ year: 2000 + Number(year), month: Number(month) })
    .add({ months: 1 })
    .toPlainDate({ day: 1 });
  return Temporal.Instant.compare(now, end.toZonedDateTime('-12:00').toInstant()) < 0;
};

/** The name on a card as it was typed; null when none was. */
export const holderOf = (card: { readonly holder: string } | null): string | null =>
  card?.holder.trim() || null;

/**
 * What is wrong with a card, in words that name the field and repeat nothing of it; null when it
 * can go to the bank.
 */
export const cardMistake = (
  card: { readonly number: string; readonly expiry: string; readonly cvc: string },
  now: Temporal.Instant,
): string | null => {
  if (!isCardNumber(card.number.replaceAll(/[\s-]/g, '')))
    return 'card.number: expected a valid card number';
  if (!isGoodUntil(card.expiry, now)) return 'card.expiry: expected MM/YY that is not past';
  if (!/^\d{3,4}$/.test(card.cvc)) return 'card.cvc: expected 3 or 4 digits';
  return null;
};

// Card numbers in free texts. A merchant gets an order id, a description or metadata back as it was
// sent (docs/contract.md#reserved-metadata). Logs, traces, the audit log, alerts and consoles mask
// the number, with this file alone.

/** As many digits of a card may be left to see. */
const shown_digits = 4;
/** Ids of ours, whose groups may be digits alone; and groups of digits as a card's may be, with single separators between them; or one group. */
const uuidOrDigits = new RegExp(String.raw`${uuidForm}|(?<!\d)\d{4,}(?:[\s._:/-]\d{3,})*`, 'gi');
const mayBeCard = /(?<!\d)(?:\d{13}|\d{4,}[\s._:/-]\d{3})/;

/** 13 to 19 digits, from 2 to 6 on; in groups of four digits and more, the last of three. */
const min_digits = 13;
const max_digits = 19;
const group_min_digits = 4;
const last_min_digits = 3;

/**
 * How many of the groups from a place on are a card number, as many as can be; 0: none is. A
 * merchant may have written a long text of nothing but digits, so most places are left by a look at
 * a length.
 */
const lengthAt = (groups: readonly string[], from: number): number => {
  const first = groups[from] ?? '';
  if (first < '2' || first >= '7') return 0;
  let digits = '';
  let length = 0;
  for (let place = from; place < groups.length && digits.length < max_digits; place += 1) {
    const group = groups[place] ?? '';
    if (place > from && group.length < last_min_digits) break;
    digits += group;
    if (digits.length >= min_digits && digits.length <= max_digits && isCardNumber(digits))
      length = place - from + 1;
    if (group.length < group_min_digits) break;
  }
  return length;
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

/** Whether a text has digits enough for a card number. Cheaper than `maskCardNumbers`. */
export const mayHoldCardNumber = (text: string): boolean => mayBeCard.test(text);

/**
 * A text with every card number in it reduced to its last 4 digits. A merchant's free text may hold
 * one; where the text goes further than back to the merchant, it goes masked. One in twenty
 * ordinary numbers of 13 to 19 digits looks like a card's, and is masked, too.
 */
export const maskCardNumbers = (text: string): string =>
  mayHoldCardNumber(text)
    ? text.replaceAll(uuidOrDigits, (found) => (isUuid(found) ? found : maskRun(found)))
    : text;

export const holdsCardNumber = (text: string): boolean => maskCardNumbers(text) !== text;

/**
 * A value with every text in it masked, names of fields, too. Numbers stay: a text cannot be one.
 */
export const maskedDeeply = (value: unknown): unknown => {
  if (typeof value === 'string') return maskCardNumbers(value);
  if (Array.isArray(value)) return value.map(maskedDeeply);
  if (
    typeof value !== 'object' ||
    value === null ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [maskCardNumbers(name), maskedDeeply(held)]),
  );
};
