/**
 * How far the fuzzers look. `FUZZ_CASES` multiplies the cases for a long run, `FUZZ_SEED` takes
 * another way or one that failed.
 */
import type { TestContext } from 'node:test';
import { crc32 } from 'node:zlib';

const whole = (name: string, usual: number): number => {
  const value = process.env[name] ?? '';
  if (value !== '' && !/^\d{1,9}$/.test(value))
    throw new Error(`${name} must be a number, got "${value}"`);
  return value === '' ? usual : Number(value);
};

/**
 * The parameters of a search of so many cases, which is printed with its seed so that a failure can
 * be repeated.
 */
export const searching = (
  t: TestContext,
  cases: number,
): { readonly seed: number; readonly numRuns: number } => {
  const seed = whole('FUZZ_SEED', 20_261_121);
  const numRuns = cases * whole('FUZZ_CASES', 1);
  t.diagnostic(`seed ${seed}, ${numRuns} cases`);
  // Each search takes a way of its own.
  return { seed: (seed + crc32(t.name)) % 2 ** 31, numRuns };
};
