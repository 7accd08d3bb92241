import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rfc3339, scalars } from '../../schema/scalars.ts';

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

test('a moment is read when PostgreSQL reads it too, and is otherwise the caller’s mistake', () => {
  const read = (text: string): string => rfc3339(scalars.DateTime.parseValue(text));
  const [first, last] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  for (const text of [first, '0000-12-31T23:59:59Z', '0001-01-01T00:00:00+12:00'])
    assert.equal(read(text), first);
  for (const text of [last, '9999-12-31T23:59:59-12:00']) assert.equal(read(text), last);
  for (const text of ['x', '-000001-01-01T00:00:00Z', '+010000-01-01T00:00:00Z']) {
    assert.throws(() => read(text), {
      message: `expected an RFC 3339 date-time, got ${text}`,
      extensions: { code: 'BAD_USER_INPUT' },
    });
  }
});
