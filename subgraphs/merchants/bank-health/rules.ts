/** Computes rates and percentiles from the counts of bank calls. */
import { healthBounds_ms, healthBucket_min } from '../../kernel/rules/bank-health.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';

const hours_max = 48;
const fine_max_hours = 6;
const hour_min = 60;

/** The span of the given hours until now, aligned to an interval; or why it is refused. */
export const spanOf = (
  now: Temporal.Instant,
  hours: number,
): { readonly from: Temporal.Instant; readonly interval_min: number } | Refused => {
  if (hours < 1 || hours > hours_max)
    return refused('bad_request', `hours: expected an integer from 1 to ${hours_max}`);
  const interval_min = hours <= fine_max_hours ? healthBucket_min : hour_min;
  const interval_ms = interval_min * 60_000;
  const since_ms = now.subtract({ hours }).epochMilliseconds;
  // The first interval lies only partly in the span, so it is left out.
  const from_ms = Math.ceil(since_ms / interval_ms) * interval_ms;
  return { from: Temporal.Instant.fromEpochMilliseconds(from_ms), interval_min };
};

/** Answered calls in hundredths of a percent, rounded down: 10000 only when none failed. */
export const successRate_bps = (calls: number, failures: number): number =>
  calls === 0 ? 10_000 : Math.floor(((calls - failures) * 10_000) / calls);

/**
 * The lowest bound that covers `percent` of `answers`. `within` holds cumulative counts by bound.
 * Answers slower than the last bound count under it; null without answers.
 */
export const percentile_ms = (
  within: readonly number[],
  answers: number,
  percent: number,
): number | null => {
  if (answers === 0) return null;
  const place = within.findIndex((count) => count * 100 >= answers * percent);
  return healthBounds_ms[place] ?? healthBounds_ms.at(-1) ?? null;
};
