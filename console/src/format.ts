/**
 * Formats amounts, moments and numbers in the person's language and zone; parses moments and phones.
 */
import { settingsNow } from './settings.ts';
import { words } from './words/words.ts';
import { formatMoney } from '../../schema/money-format.ts';

/** An amount in minor units, always with the currency's digits, so that columns align. */
export const money = (amount: number, currency: string, locale = words.locale): string =>
  formatMoney(amount, currency, locale);

/** The parts of an amount that a tile shows in small letters. */
const exact_max_chars = 15;

/**
 * An amount as in `money`, abbreviated to thousands or millions where it is too long for a tile.
 */
export const shortMoney = (amount: number, currency: string): string => {
  const exact = money(amount, currency);
  const short = { notation: 'compact', maximumFractionDigits: 2 } as const;
  return exact.length <= exact_max_chars
    ? exact
    : formatMoney(amount, currency, words.locale, short);
};

const units = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
] as const;

/** How long ago, while it is less than a day; null after that. */
const agoText = (at_ms: number, now_ms: number): string | null => {
  const format = new Intl.RelativeTimeFormat(words.locale, { numeric: 'auto', style: 'short' });
  let passed = Math.round((at_ms - now_ms) / 1_000);
  for (const [unit, size] of units) {
    if (Math.abs(passed) < size) return format.format(passed, unit);
    passed = Math.round(passed / size);
  }
  return null;
};

const dates = new Map<string, Intl.DateTimeFormat>();
const dateFormat = (
  options: Intl.DateTimeFormatOptions,
  locale = words.locale,
): Intl.DateTimeFormat => {
  const { zone } = settingsNow();
  const inZone = zone === null ? options : { ...options, timeZone: zone };
  const name = locale + JSON.stringify(inZone);
  const format = dates.get(name) ?? new Intl.DateTimeFormat(locale, inZone);
  dates.set(name, format);
  return format;
};

/** A moment in short form: how long ago, or its day and time. */
export const shortMoment = (at: string, now_ms: number): string =>
  agoText(Date.parse(at), now_ms) ??
  dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));

/** A moment by its day and time in digits, in the person's zone. */
export const plainMoment = (at: string, locale?: string): string =>
  dateFormat({ dateStyle: 'short', timeStyle: 'short' }, locale).format(new Date(at));

export const exactMoment = (at: string): string =>
  dateFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at));

export const utcMoment = (at: string): string => `${at.slice(0, 19).replace('T', ' ')} UTC`;

export const timeOfDay = (at: Date): string => dateFormat({ timeStyle: 'medium' }).format(at);

/** What a text of JSON holds; null for any other text. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** A body of JSON, indented; any other text as it is. */
export const prettyJson = (body: string): string => {
  const held = readJson(body);
  return held === null ? body : JSON.stringify(held, null, 2);
};

export const shortId = (id: string): string =>
  id.length > 16 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id;

export const wholeNumber = (count: number): string => count.toLocaleString(words.locale);

/** A count that may be a part of the whole: `20+`. */
export const countText = ({
  count,
  isExact,
}: {
  readonly count: number;
  readonly isExact: boolean;
}): string => wholeNumber(count) + (isExact ? '' : '+');

/** So many hours or days, in words: `3 days`. */
export const wholeUnits = (count: number, unit: 'hour' | 'day'): string =>
  count.toLocaleString(words.locale, { style: 'unit', unit, unitDisplay: 'long' });

export const duration = (ms: number): string =>
  ms < 1_000
    ? ms.toLocaleString(words.locale, { style: 'unit', unit: 'millisecond' })
    : (ms / 1_000).toLocaleString(words.locale, {
        style: 'unit',
        unit: 'second',
        maximumFractionDigits: 1,
      });

/** A share of one as a percentage with so many digits. */
export const percent = (share: number, digits: number): string =>
  share.toLocaleString(words.locale, { style: 'percent', minimumFractionDigits: digits });

/** The same without zeros at its end. */
export const shortPercent = (share: number, digits = 1): string =>
  share.toLocaleString(words.locale, { style: 'percent', maximumFractionDigits: digits });

export const zoneName = (): string =>
  settingsNow().zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A moment as a field of date and time takes it, in the person's zone: `2026-11-23T20:15`. */
export const toZoneField = (at: Date): string =>
  dateFormat({ dateStyle: 'short', timeStyle: 'short' }, 'sv-SE').format(at).replace(' ', 'T');

/** How far the zone is ahead of UTC at a moment, in ms. */
const offset_ms = (at_ms: number): number => {
  const minute_ms = Math.floor(at_ms / 60_000) * 60_000;
  return Date.parse(`${toZoneField(new Date(minute_ms))}:00Z`) - minute_ms;
};

/** The moment of a field's text in the person's zone; null when it is none. */
export const fromZoneField = (text: string): Date | null => {
  // Browsers parse many texts as dates: only the field's own format is accepted.
  const [minute] = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.exec(text) ?? [];
  const asUtc_ms = Date.parse(`${minute ?? ''}:00Z`);
  if (minute === undefined || Number.isNaN(asUtc_ms)) return null;
  // Twice: near a daylight saving change the first guess may be on the other side.
  const guess_ms = asUtc_ms - offset_ms(asUtc_ms);
  return new Date(asUtc_ms - offset_ms(guess_ms));
};

export const startOfDay = (daysAgo: number): Date => {
  const today = toZoneField(new Date()).slice(0, 10);
  const day = new Date(Date.parse(`${today}T00:00:00Z`) - daysAgo * 86_400_000);
  return fromZoneField(`${day.toISOString().slice(0, 10)}T00:00`) ?? day;
};

/**
 * `+7` and 10 digits, of any usual form: `8 (916) 123-45-67`, `79161234567`, `916 123 45 67`. Null
 * when the text is no such phone.
 */
export const phoneOf = (text: string): string | null => {
  const bare = text.replaceAll(/[\s().\-\u2010-\u2015]/g, '');
  const [, digits] = /^(?:\+?7|8)?([3489]\d{9})$/.exec(bare) ?? [];
  return digits === undefined ? null : `+7${digits}`;
};

/** A phone in groups: `+7 916 123-45-67`. What is no phone is returned as it is. */
export const phoneText = (text: string): string =>
  (phoneOf(text) ?? text).replace(/^\+7(\d{3})(\d{3})(\d\d)(\d\d)$/, '+7 $1 $2-$3-$4');
