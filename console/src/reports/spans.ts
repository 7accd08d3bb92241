/** Spans of totals, as the graph asks for them: whole hours, cut in the person's zone. */
import { settingsNow } from '../settings.ts';
import { startOfDay } from '../zone.ts';
import { momentsOf, type Days } from './days.ts';

const hour_ms = 3_600_000;

/** The person's zone; UTC where its hours do not begin with those of UTC. */
export const ownZone = (): string =>
  startOfDay(0).getTime() % hour_ms === 0
    ? (settingsNow().zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone)
    : 'UTC';

/** The end of this hour. */
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

export const spans = ['day', 'month', 'quarter', 'year', 'days'] as const;
export type Span = (typeof spans)[number];

/** A span of totals, and what it is cut into. */
export interface Cut {
  readonly from: string;
  readonly to: string;
  readonly interval: 'hour' | 'day' | 'week' | 'month';
}

const day_ms = 24 * hour_ms;

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

/** The span up to the end of this hour, or that of the days. */
export const cutOf = (span: Span, days: Days): Cut => {
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
