/** Formats moments and ids. */
import { settingsNow } from './settings.ts';

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

/** A moment in short form: how long ago, or its day and time. */
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

/** A share of one as a percentage with so many digits. */
export const percent = (share: number, locale: string, digits: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', minimumFractionDigits: digits }).format(share);
