import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scalars } from '../../schema/scalars.ts';
import { captureAmount, refundAmount } from '../../subgraphs/payments/rules/amounts.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';

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

test('what is asked beyond the held amount or the remainder is refused with both amounts', () => {
  const now = Temporal.Instant.from('2026-11-21T09:00:00Z');
  const payment = { amount: 1_000n, amountCaptured: null, amountRefunded: 200n, capturedAt: now };
  const held = { ...payment, status: 'authorized', holdOrder: null, captureBefore: null } as const;
  const messages = [
    captureAmount(held, 1_001n, now),
    refundAmount({ ...payment, status: 'succeeded' }, [], 801n),
  ].map((answer) => isRefusal(answer) && answer.message);
  assert.deepEqual(messages, [
    'amount: expected at most 1000 (the held amount), got 1001',
    'amount: expected at most 800 (the remainder), got 801',
  ]);
});
