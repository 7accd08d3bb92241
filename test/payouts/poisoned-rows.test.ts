/** One poisoned row stops nobody else: payouts that are due. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endSetAside, poison, setAsideOf } from '../support/poison.ts';
import { at, openStage, sbp, type Stage } from './stage.ts';

let stage: Stage;
before(async () => void (stage = await openStage()));
after(() => stage.migrated.close());

test('a payout that cannot be taken is set aside, and all others are sent in the same run', async () => {
  const [bad, ...others] = await Promise.all(
    Array.from({ length: 4 }, () => stage.funded(100_000n)),
  );
  assert.ok(bad);
  const payouts = [];
  for (const key of [bad, ...others])
    payouts.push(await stage.made(key, { ...sbp, amount: 1_000n }));
  const [poisoned, ...healthy] = payouts;
  assert.ok(poisoned);
  const cure = await poison(stage.pool, 'payout', 'update', bad.merchantId);
  await stage.send(at(60));
  assert.deepEqual(
    new Set(await Promise.all(healthy.map(async (one) => (await stage.find(one)).status))),
    new Set(['succeeded']),
  );
  assert.equal((await stage.find(poisoned)).status, 'pending');
  assert.deepEqual(await setAsideOf(stage.pool, bad.merchantId), {
    subjects: [`payout_asks ${poisoned.id}`],
    alerts: ['payout_asks'],
  });
  await cure();
  await endSetAside(stage.pool);
  await stage.send(at(60));
  assert.equal((await stage.find(poisoned)).status, 'succeeded');
});
