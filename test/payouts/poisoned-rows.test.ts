/** One poisoned row does not stop the others: payouts that are due. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { retryDeadLetters, poison, deadLettersOf } from '../support/poison.ts';
import { at, openHarness, sbp, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

test('a payout that cannot be taken is set aside, and all others are sent in the same run', async () => {
  const [bad, ...others] = await Promise.all(
    Array.from({ length: 4 }, () => harness.funded(100_000n)),
  );
  assert.ok(bad);
  const payouts = [];
  for (const key of [bad, ...others])
    payouts.push(await harness.made(key, { ...sbp, amount: 1_000n }));
  const [poisoned, ...healthy] = payouts;
  assert.ok(poisoned);
  const cure = await poison(harness.pool, 'payout', 'update', bad.merchantId);
  await harness.send(at(60));
  assert.deepEqual(
    new Set(await Promise.all(healthy.map(async (one) => (await harness.find(one)).status))),
    new Set(['succeeded']),
  );
  assert.equal((await harness.find(poisoned)).status, 'pending');
  assert.deepEqual(await deadLettersOf(harness.pool, bad.merchantId), {
    subjects: [`payout_asks ${poisoned.id}`],
    alerts: ['payout_asks'],
  });
  await cure();
  await retryDeadLetters(harness.pool);
  await harness.send(at(60));
  assert.equal((await harness.find(poisoned)).status, 'succeeded');
});
