/** The numbers of charts: what stands at their axes, and the sums of a day so far. */
import type * as graph from '../../../schema/generated/console.ts';

/** The least round even number that is not below a count, so that its half is whole, too. */
export const roundMost = (count: number): number => {
  const power = 10 ** Math.max(0, Math.ceil(Math.log10(Math.max(count, 1))) - 1);
  const step = [2, 4, 6, 8, 10].find((one) => one * power >= count) ?? 10;
  return step * power;
};

/** Places of the first, the middle and the last of so many parts, each once. */
export const markedPlaces = (parts: number): readonly number[] => {
  const places = [0, Math.floor((parts - 1) / 2), parts - 1];
  return parts === 0 ? [] : [...new Set(places)];
};

export interface Sums {
  readonly succeeded: number;
  readonly failed: number;
  readonly moved: number;
}

/**
 * The sums of a day's hours up to a moment. Totals are hourly, so the current hour counts by its
 * elapsed share.
 */
export const sumUpTo = ({ parts }: graph.WeekTotalsFragment, until_ms: number): Sums => {
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
