/** The sums of a day so far. */
import type { WeekTotalsFragment } from '../../../schema/generated/console.ts';

export interface Sums {
  readonly succeeded: number;
  readonly failed: number;
  readonly moved: number;
}

/**
 * The sums of a day's hours up to a moment. Totals are hourly, so the current hour counts by its
 * elapsed share.
 */
export const sumUpTo = ({ parts }: WeekTotalsFragment, until_ms: number): Sums => {
  let [succeeded, failed, moved] = [0, 0, 0];
  for (const { from, to, rows } of parts) {
    const [from_ms, to_ms] = [Date.parse(from), Date.parse(to)];
    const share = Math.min(1, Math.max(0, (until_ms - from_ms) / (to_ms - from_ms)));
    for (const row of rows) {
      succeeded += share * row.succeeded;
      failed += share * row.failed;
      moved += share * (row.moved ?? 0);
    }
  }
  return { succeeded, failed, moved };
};
