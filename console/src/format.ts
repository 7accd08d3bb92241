/** Amounts, moments and ids as people read them. */
import { settingsNow } from './settings.ts';

const numbers = new Map<string, Intl.NumberFormat>();

const moneyFormat = (locale: string, currency: string): Intl.NumberFormat => {
  const name = `${locale} ${currency}`;
  const format =
    numbers.get(name) ??
    new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  numbers.set(name, format);
  return format;
};

const compactFormat = (locale: string, currency: string): Intl.NumberFormat =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    notation: 'compact',
    maximumFractionDigits: 2,
  });

/** What stands in a tile in its smallest letters. */
const exact_max_chars = 15;

/** Minor units as text with every digit, in the currency's places. */
const decimalOf = (amount: number, places: number): string => {
  const digits = String(Math.abs(amount)).padStart(places + 1, '0');
  const sign = amount < 0 ? '-' : '';
  return places === 0
    ? sign + digits
    : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
};

const placesOf = (currency: string): number =>
  moneyFormat('en', currency).resolvedOptions().maximumFractionDigits ?? 2;

/** An amount in minor units, always with the currency's places: a column of them lines up. */
export const money = (amount: number, currency: string, locale: string): string =>
  moneyFormat(locale, currency).format(decimalOf(amount, placesOf(currency)) as `${number}`);

/** An amount as in `money`, in thousands and millions where it is longer than a tile is wide. */
export const shortMoney = (amount: number, currency: string, locale: string): string => {
  const exact = money(amount, currency, locale);
  if (exact.length <= exact_max_chars) return exact;
  const decimal = decimalOf(amount, placesOf(currency)) as `${number}`;
  return compactFormat(locale, currency).format(decimal);
};

/** An amount as it stands in a field: `1200.00`. */
export const amountText = (amount: number, currency: string): string =>
  decimalOf(amount, placesOf(currency));

const fields = new Map<string, Intl.NumberFormat>();

/** The same as a person of this language writes it: `1 200,00`. */
export const amountFieldText = (amount: number, currency: string, locale: string): string => {
  const places = placesOf(currency);
  const name = `${locale} ${places}`;
  const format =
    fields.get(name) ??
    new Intl.NumberFormat(locale, { minimumFractionDigits: places, maximumFractionDigits: places });
  fields.set(name, format);
  return format.format(decimalOf(amount, places) as `${number}`);
};

/** What stands beside a number, and not in it: a currency's sign, spaces. */
const beside = /[\s\p{Sc}]|руб\.?|RUB/giu;

const bare = (text: string): string => {
  const typed = text.replaceAll(beside, '');
  // Groups of thousands as English has them: `1,234,567.00`.
  return /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(typed) ? typed.replaceAll(',', '') : typed;
};

/**
 * Minor units of what a person typed, with a comma or a point before the smaller ones; null when it
 * is no amount.
 */
export const readAmount = (text: string, currency: string): number | null => {
  const places = placesOf(currency);
  const [, whole = '', part = ''] = /^(\d{1,13})(?:[.,](\d*))?$/.exec(bare(text)) ?? [];
  if (whole === '' || part.length > places) return null;
  const amount = Number(`${whole}${part.padEnd(places, '0')}`);
  return Number.isSafeInteger(amount) ? amount : null;
};

const units = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
] as const;

const agos = new Map<string, Intl.RelativeTimeFormat>();
const agoFormat = (locale: string): Intl.RelativeTimeFormat => {
  const format =
    agos.get(locale) ?? new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  agos.set(locale, format);
  return format;
};

/** How long ago, while it is less than a day; null after that. */
const agoText = (at_ms: number, now_ms: number, locale: string): string | null => {
  const format = agoFormat(locale);
  let passed = Math.round((at_ms - now_ms) / 1_000);
  for (const [unit, size] of units) {
    if (Math.abs(passed) < size) return format.format(passed, unit);
    passed = Math.round(passed / size);
  }
  return null;
};

const dates = new Map<string, Intl.DateTimeFormat>();
const dateFormat = (locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const { zone } = settingsNow();
  const inZone = zone === null ? options : { ...options, timeZone: zone };
  const name = locale + JSON.stringify(inZone);
  const format = dates.get(name) ?? new Intl.DateTimeFormat(locale, inZone);
  dates.set(name, format);
  return format;
};

/** A moment, short: how long ago, or its day and time. */
export const shortMoment = (at: string, locale: string, now_ms: number): string =>
  agoText(Date.parse(at), now_ms, locale) ??
  dateFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));

/** A moment by its day and time in digits, in the person's zone. */
export const plainMoment = (at: string, locale: string): string =>
  dateFormat(locale, { dateStyle: 'short', timeStyle: 'short' }).format(new Date(at));

/** The exact moment in the person's zone. */
export const exactMoment = (at: string, locale: string): string =>
  dateFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at));

/** The same in UTC. */
export const utcMoment = (at: string): string => `${at.slice(0, 19).replace('T', ' ')} UTC`;

/** The time of day alone. */
export const timeOfDay = (at: Date, locale: string): string =>
  dateFormat(locale, { timeStyle: 'medium' }).format(at);

/** An id shortened in the middle. */
export const shortId = (id: string): string =>
  id.length > 16 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id;

/** A whole number in the language's groups. */
export const wholeNumber = (count: number, locale: string): string => count.toLocaleString(locale);

/** Milliseconds in words. */
export const duration = (ms: number, locale: string): string =>
  ms < 1_000
    ? new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond' }).format(ms)
    : new Intl.NumberFormat(locale, {
        style: 'unit',
        unit: 'second',
        maximumFractionDigits: 1,
      }).format(ms / 1_000);
