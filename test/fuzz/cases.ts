/** How far the fuzzers look. */
import type { TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { isLong } from '../support/size.ts';

/** The same way each time, and in long runs always another one. */
const seed = isLong ? Date.now() % 2 ** 31 : 20_261_121;

/**
 * The parameters of a search of so many cases. Its seed is printed, so that a failure can be
 * repeated.
 */
export const searching = (
  t: TestContext,
  numRuns: number,
): { readonly seed: number; readonly numRuns: number } => {
  t.diagnostic(`seed ${seed}, ${numRuns} cases`);
  // Each search takes a way of its own.
  return { seed: (seed + crc32(t.name)) % 2 ** 31, numRuns };
};
