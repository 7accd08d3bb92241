/** Due payouts are shared by merchants, so that none delays another, and by workers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { createPayoutBatch } from '../../subgraphs/payouts/create-payout-batch.ts';
import type { Payout } from '../../subgraphs/payouts/entities.ts';
import { payoutAsks, sendDuePayouts } from '../../subgraphs/payouts/send-payouts.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { countStatements } from '../support/count-statements.ts';
import { granted } from '../support/granted.ts';
import { at, openHarness, sbp, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

const makeBatch = async (key: KeyPrincipal, count: number): Promise<void> => {
  const items = Array.from({ length: count }, () => ({ amount: 100n, ...sbp }));
  const call = { key, policies: noPolicies, now: () => at(0) };
  granted(await createPayoutBatch(harness.parts, call, { method: 'payouts_sbp', items }, null));
};

test('a batch of 1,000 payouts keeps no other merchant waiting', async () => {
  const [busy, other] = [await harness.funded(200_000n), await harness.funded(10_000n)];
  await makeBatch(busy, 1_000);
  const payouts: Payout[] = [];
  for (let number = 0; number < 3; number += 1)
    payouts.push(
      granted(await harness.create(other, { amount: 100n, ...sbp }, null, { now: at(1) })).payout,
    );
  const sentOf = async () =>
    (await Promise.all(payouts.map((one) => harness.find(one)))).filter(
      ({ sentAt }) => sentAt !== null,
    ).length;
  // With so many due the others are found by a walk, which may have begun behind them.
  const pages = [];
  while ((await sentOf()) < payouts.length && pages.length < 60)
    pages.push(await sendDuePayouts(harness.parts, () => at(2)));
  assert.ok(pages.length <= 2, `they went out with page ${pages.length}`);
  assert.ok(
    pages.every((sent) => sent === 20),
    'what a merchant leaves of its share, another has',
  );
  await harness.send(at(2));
  assert.deepEqual((await harness.books(busy)).paid, 100_000n);
  assert.deepEqual((await harness.books(other)).paid, 300n);
});

test('a full page has a row of each merchant before another of the same', async () => {
  const [busy, other] = [await harness.funded(10_000n), await harness.funded(10_000n)];
  await makeBatch(busy, 25);
  await makeBatch(other, 4);
  const rows = await payoutAsks.dueByTurns(harness.pool, null, at(2), 20);
  const read = rows.map(({ merchantId }) => (merchantId === other.merchantId ? 'other' : 'busy'));
  assert.equal(read.length, 20);
  assert.deepEqual(
    read.flatMap((whose, place) => (whose === 'other' ? [Math.floor(place / 2)] : [])),
    [0, 1, 2, 3],
  );
  await harness.send(at(2));
});

test('a page that is not full is found by a statement, and one for each of its merchants', async () => {
  const [one, other] = [await harness.funded(10_000n), await harness.funded(10_000n)];
  await makeBatch(one, 10);
  await makeBatch(other, 9);
  const counted = countStatements(harness.pool);
  assert.equal((await payoutAsks.dueByTurns(harness.pool, null, at(2), 20)).length, 19);
  assert.equal(counted.texts.length, 3);
  await harness.send(at(2));
});

test('a worker passes over the payouts that another is taking', async () => {
  const key = await harness.funded(10_000n);
  await makeBatch(key, 5);
  await inTransaction(harness.pool, async (client) => {
    assert.equal((await payoutAsks.due(client, null, at(2), 5)).length, 5);
    // It would wait for them until its statement is ended.
    assert.equal(await sendDuePayouts(harness.parts, () => at(2)), 0);
  });
  assert.equal(await harness.send(at(2)), 5);
});

test('workers that send at the same time order each payout once', async () => {
  const keys = await Promise.all(Array.from({ length: 4 }, () => harness.funded(10_000n)));
  for (const key of keys) await makeBatch(key, 15);
  const { simulator } = harness.parts.banks;
  const ordered: string[] = [];
  const parts = harness.withBank({
    pay: (order) => {
      ordered.push(order.operationId);
      return simulator.pay(order);
    },
  });
  const work = async (): Promise<void> => {
    while ((await sendDuePayouts(parts, () => at(2))) > 0);
  };
  await Promise.all(Array.from({ length: 4 }, work));
  assert.equal(ordered.length, 60);
  assert.equal(new Set(ordered).size, 60);
  for (const key of keys)
    assert.deepEqual(await harness.books(key), {
      available: 8_500n,
      reserved: 0n,
      paid: 1_500n,
      fees: 0n,
    });
});
