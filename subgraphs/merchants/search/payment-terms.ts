/**
 * Parses a customer's description of a payment, in any order: order number, last digits of the
 * card, amount, phone, e-mail, payment number, RRN, day. Each part of the text is a term with one
 * or more readings. A text can be split into terms in several ways.
 */
import { nobody, shownCustomer } from '../../rules/receipt.ts';
import { charactersOf } from '../../rules/refusal.ts';
import { uuidInAnyCase } from '../../rules/ids.ts';

/* Lists the possible meanings of a search text. All of them are searched. */

/** The kinds of lookup; each is a statement. */
export type SearchWay = 'id' | 'event' | 'token' | 'request';

/** Longer texts are not searched. */
const searchText_max_chars = 500;

/** Letters of a text that may each be е or ё in what is looked for: so many at most. */
const guessed_max = 4;

/**
 * The spellings of a text: as typed, composed or decomposed, and with е and ё exchanged. Order
 * numbers and customer names are stored as received.
 */
export const spellings = (text: string): readonly string[] => {
  const composed = text.normalize('NFC');
  const places = Array.from(composed.matchAll(/[её]/giu), ({ index }) => index).slice(
    0,
    guessed_max,
  );
  const swapped: Readonly<Record<string, string>> = { е: 'ё', ё: 'е', Е: 'Ё', Ё: 'Е' };
  const spelled = places.reduce(
    (texts, place) => [
      ...texts,
      ...texts.map(
        (one) => one.slice(0, place) + swapped[one.charAt(place)] + one.slice(place + 1),
      ),
    ],
    [composed],
  );
  return [...new Set([text, ...spelled.flatMap((one) => [one, one.normalize('NFD')])])];
};

/** The lookups for a text; empty when nothing can match. */
export const searchWays = (typed: string): ReadonlyMap<SearchWay, string> => {
  const text = typed.trim();
  const ways = new Map<SearchWay, string>();
  if (text === '' || charactersOf(text) > searchText_max_chars) return ways;
  const event = /^evt_(.+)$/i.exec(text)?.[1] ?? '';
  if (uuidInAnyCase.test(text)) ways.set('id', text.toLowerCase());
  if (uuidInAnyCase.test(event)) ways.set('event', event.toLowerCase());
  // A merchant's own numbers have any form, even that of a request id.
  ways.set('token', text);
  ways.set('request', text);
  return ways;
};

/** One part of a text with its possible readings. */
interface PaymentTerm {
  /** The whole of an order number, a customer or an RRN. */
  readonly texts: readonly string[];
  /** The beginning of an order number; null: too short for one. */
  readonly prefix: string | null;
  readonly publicId: string | null;
  /** The last digits of a card or a phone. */
  readonly digits: string | null;
  /** Minor units of a currency that has hundredths. */
  readonly amount: string | null;
  /** The day, from its first moment to that of the next one. */
  readonly since: Temporal.Instant | null;
  readonly until: Temporal.Instant | null;
  /** An e-mail address or a phone as receipts show it. */
  readonly email: string | null;
  readonly phone: string | null;
}

/** Terms that must all match a payment. */
export type Reading = readonly PaymentTerm[];

/** When and where the text was typed. */
export interface Typed {
  readonly now: Temporal.Instant;
  readonly timeZone: string;
}

/** Shorter prefixes match too many payments. */
const prefix_min_chars = 3;
/** Texts with more parts are not searched. */
const terms_max = 12;

const nothing: PaymentTerm = {
  texts: [],
  prefix: null,
  publicId: null,
  digits: null,
  amount: null,
  since: null,
  until: null,
  email: null,
  phone: null,
};

const monthsInRussian = 'янв фев мар апр мая июн июл авг сен окт ноя дек'.split(' ');
const monthsInEnglish = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** The month number of a name's prefix; 0: not a month. */
const monthOf = (name: string): number => {
  const beginning = name.toLowerCase().slice(0, 3).replace('май', 'мая');
  const place = Math.max(monthsInRussian.indexOf(beginning), monthsInEnglish.indexOf(beginning));
  return place + 1;
};

interface Day {
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

/** The day of a date; without a year, its last occurrence up to today. */
const dayTerm = (
  { year, month, day }: Day,
  { now, timeZone }: Typed,
): Pick<PaymentTerm, 'since' | 'until'> => {
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  const inYear = (one: number): Temporal.PlainDate | null => {
    try {
      return Temporal.PlainDate.from({ year: one, month, day }, { overflow: 'reject' });
    } catch {
      return null;
    }
  };
  const thisYear = inYear(year ?? today.year);
  const isAhead = thisYear !== null && Temporal.PlainDate.compare(thisYear, today) > 0;
  const date = year === null && isAhead ? inYear(today.year - 1) : thisYear;
  if (!date) return nothing;
  const startOf = (one: Temporal.PlainDate) => one.toZonedDateTime(timeZone).toInstant();
  return { since: startOf(date), until: startOf(date.add({ days: 1 })) };
};

const amountPattern = /^(\d{1,13})(?:[.,](\d{1,2}))?$/;

const amountOf = (text: string): string | null => {
  const [, whole, part = ''] = amountPattern.exec(text.replaceAll(/\s/g, '')) ?? [];
  if (whole === undefined) return null;
  const minor = BigInt(whole + part.padEnd(2, '0'));
  return minor > 0n ? minor.toString() : null;
};

const phoneTerm = (text: string): Pick<PaymentTerm, 'phone' | 'digits'> => {
  const digits = text.replaceAll(/\D/g, '').slice(-10);
  return {
    digits: digits.slice(-4),
    phone: shownCustomer({ ...nobody, phone: `+7${digits}` }).phone,
  };
};

/** A date in digits, as `27.11`, `27.11.2026` or `2026-11-27`; null: it is none. */
const dateOf = (text: string): Day | null => {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year !== undefined) return { year: Number(year), month: Number(month), day: Number(day) };
  const [, days, months, years] = /^(\d{1,2})[./](\d{1,2})(?:[./](\d{4}|\d\d))?$/.exec(text) ?? [];
  if (days === undefined) return null;
  const named = years === undefined ? null : Number(years.length === 2 ? `20${years}` : years);
  return { year: named, month: Number(months), day: Number(days) };
};

/** The possible readings of one word. */
const wordTerm = (word: string, typed: Typed): PaymentTerm => {
  const date = dateOf(word);
  const number = /^[pр]-?(\d{1,18})$/i.exec(word)?.[1] ?? /^\d{6,18}$/.exec(word)?.[0];
  const plain = word.replace(/(?:rub|руб|р)$/i, '');
  return {
    ...nothing,
    texts: spellings(word).flatMap((one) => [one, `№${one}`, `№ ${one}`, `#${one}`]),
    prefix: charactersOf(word) >= prefix_min_chars ? word.normalize('NFC') : null,
    publicId: number === undefined ? null : `P-${number}`,
    digits: /^[*•xх]*(\d{4})$/i.exec(word)?.[1] ?? null,
    amount: amountOf(plain),
    ...(/^\d{10,11}$/.test(word) ? phoneTerm(word) : {}),
    ...(date ? dayTerm(date, typed) : {}),
    email: word.includes('@')
      ? shownCustomer({ ...nobody, email: word.toLowerCase() }).email
      : null,
  };
};

const groups = {
  phone:
    /(?<phone>(?:\+7|(?<![\d.,])[78])[\s(-]*\d{3}[\s)-]*\d{3}[\s-]*\d\d[\s-]*\d\d(?![\d.,]*\d))/,
  day: /(?<day>(?<!\d)\d{1,2})\s+(?<month>(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*)(?:\s+(?<year>\d{4})(?!\d))?/u,
  card: /(?<card>[*•xх][*•xх\s]*\d{4}(?!\d))/,
  amount: /(?<amount>(?<![\d.,])\d{1,3}(?:\s\d{3})+(?:[.,]\d{1,2})?(?!\d))/,
  word: /(?<word>[^\s;]+)/,
};

const patternOf = (...parts: readonly RegExp[]): RegExp =>
  new RegExp(parts.map(({ source }) => source).join('|'), 'giu');
/** With groups of three digits as one amount, and as words of their own. */
const patterns = [
  patternOf(groups.phone, groups.day, groups.card, groups.amount, groups.word),
  patternOf(groups.phone, groups.day, groups.card, groups.word),
];

interface Part {
  readonly term: PaymentTerm;
  /** Letters only: possibly a filler word. */
  readonly isTalk: boolean;
}

const partOf = (found: RegExpExecArray, typed: Typed): Part | null => {
  const { phone, day, month, year, card, amount, word } = found.groups ?? {};
  if (phone !== undefined) return { term: { ...nothing, ...phoneTerm(phone) }, isTalk: false };
  if (day !== undefined && month !== undefined) {
    const named = year === undefined ? null : Number(year);
    const date = { year: named, month: monthOf(month), day: Number(day) };
    return { term: { ...nothing, ...dayTerm(date, typed) }, isTalk: false };
  }
  if (card !== undefined) return { term: { ...nothing, digits: card.slice(-4) }, isTalk: false };
  if (amount !== undefined)
    return { term: { ...nothing, amount: amountOf(amount) }, isTalk: false };
  const bare = (word ?? '').replace(/^[№#*"'«(]+/, '').replace(/[,.:!?"'»)₽]+$/, '');
  if (bare === '') return null;
  return { term: wordTerm(bare, typed), isTalk: /^[\p{L}-]+$/u.test(bare) };
};

const sameAs = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * The ways to split a text into terms. `without` filler: words of letters only are dropped, as in
 * `my order 48812, where is it`.
 */
export const readingsOf = (
  text: string,
  typed: Typed,
  talk: 'with' | 'without',
): readonly Reading[] => {
  const whole = text.trim();
  if (whole === '' || charactersOf(whole) > searchText_max_chars) return [];
  const cut = patterns.map((pattern) =>
    Array.from(whole.matchAll(pattern), (found) => partOf(found, typed)).filter(
      (part) => part !== null,
    ),
  );
  const readings = cut.map((parts) =>
    parts.filter(({ isTalk }) => talk === 'with' || !isTalk).map(({ term }) => term),
  );
  const { texts, prefix } = wordTerm(whole, typed);
  const all = talk === 'with' ? [[{ ...nothing, texts, prefix }], ...readings] : readings;
  return all.filter(
    (reading, place) =>
      reading.length > 0 &&
      reading.length <= terms_max &&
      !all.slice(0, place).some((other) => sameAs(other, reading)),
  );
};

/** Whether the text has both filler words and other words. */
export const hasTalk = (text: string, typed: Typed): boolean =>
  !sameAs(readingsOf(text, typed, 'with').slice(1), readingsOf(text, typed, 'without'));
