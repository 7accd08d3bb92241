/**
 * The pace of a loop that works in batches. A single call runs at once; calls in quick succession
 * wait a little, so that many share a batch.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** So many turns may follow each other at once. */
const turns_max = 3;

/**
 * Opens a pace of one turn in `rest_ms` milliseconds; up to three unused turns may follow each
 * other at once. The returned function resolves at the next turn.
 */
export const openPace = (rest_ms: number): (() => Promise<void>) => {
  /** The end of the rests of all turns until now. */
  let rested_ms = -Infinity;
  return async () => {
    const wait_ms = rested_ms - (turns_max - 1) * rest_ms - performance.now();
    if (wait_ms > 0) await sleep(wait_ms);
    rested_ms = Math.max(rested_ms, performance.now()) + rest_ms;
  };
};
