/**
 * Validates the span of totals and divides it into intervals. Hours are counted in UTC, so zones
 * with a fractional-hour offset are refused.
 */
import { refused, type Refused } from '../../kernel/rules/refusal.ts';

export type IntervalUnit = 'hour' | 'day' | 'week' | 'month';

/** What totals are asked of. */
export interface AskedSpan {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly interval: IntervalUnit | null;
  readonly timeZone: string;
}

const span_max_days = 1_100;
const intervals_max = 800;
const intervalsTimesShops_max = 4_000;
const hour_ms = 3_600_000;

const isWholeHour = (moment: Temporal.Instant): boolean => moment.epochMilliseconds % hour_ms === 0;

/** The moment in the zone; null when there is no such zone. */
const inZone = (moment: Temporal.Instant, timeZone: string): Temporal.ZonedDateTime | null => {
  try {
    return moment.toZonedDateTimeISO(timeZone);
  } catch {
    return null;
  }
};

/** The start of the interval that contains the moment. */
const beginningOf = (at: Temporal.ZonedDateTime, unit: IntervalUnit): Temporal.ZonedDateTime => {
  switch (unit) {
    case 'hour':
      return at.round({ smallestUnit: 'hour', roundingMode: 'floor' });
    case 'day':
      return at.startOfDay();
    case 'week':
      return at.subtract({ days: at.dayOfWeek - 1 }).startOfDay();
    case 'month':
      return at.with({ day: 1 }).startOfDay();
  }
};

const nextAfter = (
  at: Temporal.ZonedDateTime,
  unit: Exclude<IntervalUnit, 'hour'>,
): Temporal.ZonedDateTime => {
  switch (unit) {
    case 'day':
      return at.add({ days: 1 }).startOfDay();
    case 'week':
      return at.add({ days: 7 }).startOfDay();
    case 'month':
      return at.add({ months: 1 }).startOfDay();
  }
};

/** The starts of the intervals after that of `first`, without an end. */
const startsBehind = function* (
  first: Temporal.ZonedDateTime,
  unit: IntervalUnit,
): Generator<Temporal.Instant> {
  const beginning = beginningOf(first, unit);
  // Hours are equally long in every zone: those after the first need no calendar.
  if (unit === 'hour')
    for (let at_ms = beginning.epochMilliseconds + hour_ms; ; at_ms += hour_ms)
      yield Temporal.Instant.fromEpochMilliseconds(at_ms);
  for (let at = nextAfter(beginning, unit); ; at = nextAfter(at, unit)) yield at.toInstant();
};

/**
 * Where the intervals of a span begin, in order of time; the first begins with the span.
 * `bad_request` for a span that is none, too long or not of whole hours, and for too many
 * intervals.
 */
export const intervalsOf = ({
  from,
  to,
  interval,
  timeZone,
}: AskedSpan): { readonly starts: readonly Temporal.Instant[] } | Refused => {
  if (!isWholeHour(from)) return refused('bad_request', 'from: expected a whole hour in UTC');
  if (!isWholeHour(to)) return refused('bad_request', 'to: expected a whole hour in UTC');
  const span_ms = to.epochMilliseconds - from.epochMilliseconds;
  if (span_ms <= 0) return refused('bad_request', 'to: expected a moment after from');
  if (span_ms > span_max_days * 24 * hour_ms)
    return refused('bad_request', `to: expected at most ${span_max_days} days after from`);
  const first = inZone(from, timeZone);
  if (!first)
    return refused('bad_request', 'timeZone: expected a zone such as Europe/Moscow or +03:00');
  if (interval === null) return { starts: [from] };
  const starts = [from];
  for (const start of startsBehind(first, interval)) {
    if (Temporal.Instant.compare(start, to) >= 0) return { starts };
    if (!isWholeHour(start))
      return refused(
        'bad_request',
        'timeZone: expected a zone whose hours begin with those of UTC',
      );
    if (starts.length === intervals_max)
      return refused(
        'bad_request',
        `interval: at most ${intervals_max} intervals; choose longer ones or a shorter span`,
      );
    starts.push(start);
  }
  return { starts };
};

/** Whether so many intervals may be divided by so many shops: null, or the refusal. */
export const dividedByShops = (intervals: number, shops: number): Refused | null =>
  intervals * shops > intervalsTimesShops_max
    ? refused(
        'bad_request',
        `groupBy: at most ${intervalsTimesShops_max} intervals times shops; choose a shop or fewer intervals`,
      )
    : null;
