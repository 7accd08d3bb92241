/**
 * Card numbers in free texts. A merchant gets an order id, a description or metadata back as it was
 * sent (docs/contract.md#reserved-metadata). Logs, traces, the audit log, alerts and consoles mask
 * the number, with this file alone.
 */
import { isCardNumber } from './card.ts';
import { isUuid, uuidForm } from './uuid.ts';

/** As many digits of a card may be left to see. */
const shown_digits = 4;
/** Ids of ours: their groups may be digits alone. */
/** Groups of digits as a card's may be, with single separators between them; or one group. */
const uuidOrDigits = new RegExp(String.raw`${uuidForm}|(?<!\d)\d{4,}(?:[\s._:/-]\d{3,})*`, 'gi');
const mayBeCard = /(?<!\d)(?:\d{13}|\d{4,}[\s._:/-]\d{3})/;

/**
 * A card number: 13 to 19 digits, from 2 to 6 on; in groups, of four digits and more, the last of
 * three.
 */
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

/**
 * Whether a text has a run of digits that is long enough for a card number. Cheaper than
 * `maskCardNumbers`.
 */
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

/** Whether a text holds a card number. */
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
