/** How tests wait: for a state, never for a time. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { size } from './size.ts';

/** Longer than the busiest machine takes. Only a test that fails waits so long. */
export const patience_ms = size(180_000, 300_000);

/** Between two looks: at least and at most, and the part of the wait so far. */
const rest_ms = [20, 500] as const;
const restOfWait = 1 / 4;

type Absent = null | undefined | false;

/**
 * Waits until `look` finds something, and gives it. It looks less and less often, for a look is
 * mostly a call, and many that wait would slow down what they wait for. After `patience_ms` it
 * throws; `what` says what was waited for, as a function also what is there instead.
 */
export const eventually = async <Found>(
  look: () => Found | Absent | Promise<Found | Absent>,
  what: string | (() => string),
): Promise<Found> => {
  const [least_ms, most_ms] = rest_ms;
  const began_ms = performance.now();
  const waited_ms = (): number => performance.now() - began_ms;
  while (waited_ms() < patience_ms) {
    const found = await look();
    if (found) return found;
    await sleep(Math.min(Math.max(waited_ms() * restOfWait, least_ms), most_ms));
  }
  throw new Error(
    `waited ${patience_ms / 1_000} s in vain: ${typeof what === 'string' ? what : what()}`,
  );
};

/** Waits until `look` sees what is expected; else fails with the difference to what it saw last. */
export const comesTo = async <Seen>(expected: Seen, look: () => Promise<Seen>): Promise<void> => {
  let seen: Seen | undefined;
  const isThere = async (): Promise<boolean> => isDeepStrictEqual((seen = await look()), expected);
  await eventually(isThere, 'the expected state').catch(() => assert.deepEqual(seen, expected));
};
