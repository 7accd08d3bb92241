/**
 * When a subscription is charged (docs/contract.md#charge-dates). Each date is counted from the
 * first, never from the date before it. Days are UTC.
 */
import { enums } from '../../../schema/generated/enums.ts';

export const schedulePeriods = enums.SubscriptionPeriod;
export type SchedulePeriod = (typeof schedulePeriods)[number];

/** The dates of a subscription: the first one, and the step from one to the next. */
export interface Schedule {
  readonly anchor: Temporal.Instant;
  readonly period: SchedulePeriod;
  readonly intervalCount: number;
}

/** How many coming dates a schedule shows. */
const projectedDates = 12;

/** RFC 3339 has four digits for a year. */
const lastYear = 9_999;

const inUtc = (instant: Temporal.Instant): Temporal.ZonedDateTime =>
  instant.toZonedDateTimeISO('UTC');

/** The date with the number `index`, from 0: period `index + 1` begins then. */
export const dateOf = (
  { anchor, period, intervalCount }: Schedule,
  index: number,
): Temporal.Instant =>
  inUtc(anchor)
    .add({ [`${period}s`]: index * intervalCount }, { overflow: 'constrain' })
    .toInstant();

/** Up to `count` dates from `index` on, fewer at the end of the RFC 3339 calendar. */
export const datesFrom = (
  schedule: Schedule,
  index: number,
  count: number = projectedDates,
): readonly Temporal.Instant[] =>
  Array.from({ length: count }, (_, place) => dateOf(schedule, index + place)).filter(
    (date) => inUtc(date).year <= lastYear,
  );

/** Whole units between the anchor and a later moment; clamped days may make it one too few. */
const unitsUntil = ({ anchor, period }: Schedule, instant: Temporal.Instant): number => {
  const largestUnit = `${period}s` as const;
  return inUtc(anchor).until(inUtc(instant), { largestUnit })[largestUnit];
};

/** The number of the first date after a moment; a date at the moment itself counts as past. */
export const firstIndexAfter = (schedule: Schedule, instant: Temporal.Instant): number => {
  let index = Math.max(0, Math.floor(unitsUntil(schedule, instant) / schedule.intervalCount) - 1);
  while (Temporal.Instant.compare(dateOf(schedule, index), instant) <= 0) index += 1;
  return index;
};
