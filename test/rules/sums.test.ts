import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scalars } from '../../schema/scalars.ts';

test('a sum beyond 2^53-1 is written to the last digit, and a single amount there is a broken invariant', () => {
  const sum = 3n * 9_007_199_254_740_991n;
  assert.equal(
    JSON.stringify({ balance: scalars.SignedMinorUnits.serialize(sum) }),
    '{"balance":27021597764222973}',
  );
  assert.equal(
    JSON.stringify({ balance: scalars.SignedMinorUnits.serialize(-5n) }),
    '{"balance":-5}',
  );
  assert.throws(() => scalars.MinorUnits.serialize(sum));
});
