/** Moments in the person's time zone. */
import { settingsNow } from './settings.ts';

/** The name of the zone. */
export const zoneName = (): string =>
  settingsNow().zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Parts of a moment in a zone as `2026-11-23T20:15`. */
const formatOf = (zone: string | null): Intl.DateTimeFormat => {
  const key = zone ?? '';
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat('sv-SE', {
      ...(zone === null ? {} : { timeZone: zone }),
      dateStyle: 'short',
      timeStyle: 'short',
    });
  formats.set(key, format);
  return format;
};

/** A moment as a field of date and time takes it, in the person's zone. */
export const toZoneField = (at: Date): string =>
  formatOf(settingsNow().zone).format(at).replace(' ', 'T');

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

/** The start of the day so many days ago. */
export const startOfDay = (daysAgo: number): Date => {
  const today = toZoneField(new Date()).slice(0, 10);
  const day = new Date(Date.parse(`${today}T00:00:00Z`) - daysAgo * 86_400_000);
  return fromZoneField(`${day.toISOString().slice(0, 10)}T00:00`) ?? day;
};
