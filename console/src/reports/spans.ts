/** Spans of totals, as the graph asks for them: whole hours, cut in the person's zone. */
import { settingsNow } from '../settings.ts';
import { startOfDay } from '../zone.ts';

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
