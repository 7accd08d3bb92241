import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rfc3339 } from '../../schema/scalars.ts';

test('a moment is written as Temporal writes it, to the millisecond, whatever day was written before', () => {
  const day = fc.constantFrom(
    0n,
    1_778_025_600n,
    951_782_400n,
    253_402_300_799n,
    253_402_300_800n,
    -86_400n,
    -62_167_219_201n,
  );
  const within = fc.bigInt({ min: 0n, max: 86_399_999_999_999n });
  fc.assert(
    fc.property(day, within, (seconds, nanoseconds) => {
      const moment = Temporal.Instant.fromEpochNanoseconds(seconds * 1_000_000_000n + nanoseconds);
      assert.equal(rfc3339(moment), moment.toString({ smallestUnit: 'millisecond' }));
    }),
    { numRuns: 500, seed: 20_260_506 },
  );
});
