/**
 * How fast a walk over the books goes: gently while a pass is short anyway, and as fast as it takes
 * for a pass within half a day however many rows there are.
 */

/** A pass over a table takes no longer, as far as the database keeps up. */
const passAim_ms = 12 * 3_600_000;
const rest_min_ms = 2_000;
const restFactor = 10;
/** A small table is not walked all the time. */
const pass_min_ms = 60_000;

/** What a range came to. */
export interface WalkedRange {
  /** Rows of the table, about, and of a range. */
  readonly rows: number;
  readonly size: number;
  readonly took_ms: number;
}

/** How long a walk rests after a range that was not the last one. */
export const restAfter_ms = ({ rows, size, took_ms }: WalkedRange): number => {
  const gentle = Math.max(rest_min_ms, restFactor * took_ms);
  const needed = (passAim_ms * size) / Math.max(rows, 1) - took_ms;
  return Math.ceil(Math.max(0, Math.min(gentle, needed)));
};

/** How long a walk rests at the end of the table. */
export const restAtEnd_ms = (took_ms: number): number =>
  Math.ceil(Math.max(pass_min_ms, restFactor * took_ms));

/** How long a whole pass takes at the rate of a range and the rest after it. */
export const passOf_s = (range: WalkedRange): number =>
  Math.ceil(((range.rows / range.size) * (range.took_ms + restAfter_ms(range))) / 1_000);
