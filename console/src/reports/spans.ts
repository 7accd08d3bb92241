/** Spans of totals, as the graph asks for them: whole hours, cut in the person's zone. */
import { startOfDay, fromZoneField, toZoneField, zoneName } from '../format.ts';
import type { reportWords } from '../words/reports.ts';

const hour_ms = 3_600_000;

/** The person's zone; UTC where its hours do not begin with those of UTC. */
export const ownZone = (): string => (startOfDay(0).getTime() % hour_ms === 0 ? zoneName() : 'UTC');

export const endOfHour = (): string =>
  new Date(Math.ceil((Date.now() + 1) / hour_ms) * hour_ms).toISOString();

/** So many hours before the end of this one. */
export const hoursBefore = (hours: number): string =>
  new Date(Date.parse(endOfHour()) - hours * hour_ms).toISOString();

/** The beginning of the day so many days ago, in the zone of `ownZone`. */
export const dayBefore = (days: number): string => {
  if (ownZone() !== 'UTC') return startOfDay(days).toISOString();
  const at = new Date();
  at.setUTCHours(0, 0, 0, 0);
  at.setUTCDate(at.getUTCDate() - days);
  return at.toISOString();
};

/** The day so many days ago up to the end of the hour of day that is now. */
export const spanUpToNow = (days: number): { readonly from: string; readonly to: string } => {
  const from_ms = Date.parse(dayBefore(days));
  const hours = Math.floor((Date.now() - Date.parse(dayBefore(0))) / hour_ms) + 1;
  return {
    from: new Date(from_ms).toISOString(),
    to: new Date(from_ms + hours * hour_ms).toISOString(),
  };
};

export interface Cut {
  readonly from: string;
  readonly to: string;
  readonly interval: 'hour' | 'day' | 'week' | 'month';
}

const day_ms = 24 * hour_ms;

// Days in the person's zone: both ends of a span are days that belong to it.

/** The first and the last day, as `2026-11-01`. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

const dayForm = /^\d{4}-\d\d-\d\d$/;

/** A day's text that is a day of the calendar. */
export const isDay = (text: string | undefined): text is string =>
  text !== undefined && dayForm.test(text) && !Number.isNaN(Date.parse(text));

export const today = (): string => toZoneField(new Date()).slice(0, 10);

const afterDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/** A calendar month; 0 is the present one, 1 the last. */
export const monthAgo = (months: number): Days => {
  const [year = 0, month = 1] = today().split('-').map(Number);
  const dayOf = (monthIndex: number, day: number): string =>
    new Date(Date.UTC(year, monthIndex, day)).toISOString().slice(0, 10);
  return { first: dayOf(month - 1 - months, 1), last: dayOf(month - months, 0) };
};

export const isSame = (one: Days, other: Days): boolean =>
  one.first === other.first && one.last === other.last;

/** The moments of the days' beginning and end; null where the days are none. */
export const momentsOf = ({
  first,
  last,
}: Days): { readonly from: string; readonly to: string } | null => {
  const from = fromZoneField(`${first}T00:00`);
  const to = isDay(last) ? fromZoneField(`${afterDays(last, 1)}T00:00`) : null;
  return from && to && from < to ? { from: from.toISOString(), to: to.toISOString() } : null;
};

/** Any days: cut so that a chart has no more bars than can be told apart. */
const cutOfDays = (days: Days): Cut | null => {
  const inUtc = { from: `${days.first}T00:00:00.000Z`, to: `${days.last}T24:00:00.000Z` };
  const found = momentsOf(days);
  if (!found) return null;
  const { from, to } = ownZone() === 'UTC' ? inUtc : found;
  const length_ms = Date.parse(to) - Date.parse(from);
  const at = { from, to: new Date(Date.parse(to)).toISOString() };
  if (length_ms <= 3 * day_ms) return { ...at, interval: 'hour' };
  if (length_ms <= 92 * day_ms) return { ...at, interval: 'day' };
  return { ...at, interval: length_ms <= 370 * day_ms ? 'week' : 'month' };
};

export const cutOf = (span: keyof typeof reportWords.spans, days: Days): Cut => {
  const to = endOfHour();
  switch (span) {
    case 'day':
      return { from: hoursBefore(48), to, interval: 'hour' };
    case 'month':
      return { from: dayBefore(29), to, interval: 'day' };
    case 'quarter':
      return { from: dayBefore(91), to, interval: 'week' };
    case 'year':
      return { from: dayBefore(365), to, interval: 'month' };
    case 'days':
      return cutOfDays(days) ?? { from: dayBefore(0), to, interval: 'hour' };
  }
};

/** The equally long span before: what the present one is compared with. */
export const earlierOf = ({ from, to }: Pick<Cut, 'from' | 'to'>) => ({
  from: new Date(2 * Date.parse(from) - Date.parse(to)).toISOString(),
  to: from,
});
