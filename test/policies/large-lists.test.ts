/** A merchant's block list, however long, costs that merchant alone. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { Policies } from '../../subgraphs/platform/policies/policies.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { blocksPerMerchant_max } from '../../subgraphs/merchants/policies/block-entries.ts';
import { openHarness, operator, type Harness } from './harness.ts';
import { comesTo } from '../support/eventually.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const adding = `mutation ($value: String!) {
  blockEntryAdd(kind: customer, value: $value, reason: "fraud") { ... on BlockEntry { id } ... on Refused { code message } } }`;
const removing =
  'mutation ($m: ID, $id: ID!) { blockEntryRemove(merchantId: $m, id: $id) { ... on PolicyRemoved { id } ... on Refused { code } } }';
const as = (merchantId: string) => operator('admin', merchantId);
const add = (merchantId: string, value: string) =>
  harness.ask('merchants', as(merchantId), adding, { value });

/** Entries that are there already, without a change of the version. */
const plant = (merchantId: string, count: number) =>
  harness.database.pool.query(
    `insert into block_entry (id, merchant_id, kind, value, shown, reason, created_at)
     select gen_random_uuid(), $1, 'customer', 'c' || number, 'c' || number, 'r', now() from generate_series(1, $2::int) as number`,
    [merchantId, count],
  );

test('a list is full at its limit; what is on it already, and another merchant’s, are no more', async () => {
  const [full, other] = [await harness.merchant(), await harness.merchant()];
  await plant(full.merchantId, blocksPerMerchant_max);
  const refusal = await add(full.merchantId, 'one more');
  assert.equal(refusal.code, 'bad_request');
  assert.match(refusal.message, /at most 10000 entries/);
  const { id } = await add(full.merchantId, 'c1');
  assert.ok(id, 'it is blocked already');
  assert.ok((await add(other.merchantId, 'one more')).id);
  await harness.ask('merchants', as(full.merchantId), removing, { m: full.merchantId, id });
  assert.ok((await add(full.merchantId, 'one more')).id, 'there is room again');
});

/** A pool that counts the entries that are read, and holds readings back. */
const watched = () => {
  const seen = { entries: 0, readings: 0, gate: Promise.resolve() };
  const runner = {
    query: async (config: pg.QueryConfig) => {
      await seen.gate;
      const result = await harness.database.pool.query(config);
      const [row] = result.rows;
      seen.readings += 1;
      seen.entries += row?.lists?.blocks.length ?? 0;
      return result;
    },
  };
  let receive = (): void => {};
  const bus: Bus = {
    publish: async () => {},
    subscribe: (_, listener) => {
      receive = () => listener(null as never);
      return () => {};
    },
  };
  const fingerprintKey = Buffer.alloc(32);
  // A reading takes a connection's `query` alone.
  const pool = runner as unknown as pg.PoolClient;
  return { seen, policies: new Policies({ pool, bus, fingerprintKey }), announce: () => receive() };
};

test('a change of one list reads that list alone, and no call waits for it', async (t) => {
  const [large, small] = [await harness.merchant(), await harness.merchant()];
  await plant(large.merchantId, 3_000);
  await add(small.merchantId, 'before');
  const { seen, policies, announce } = watched();
  const blocks = async (merchantId: string, value: string): Promise<boolean> =>
    (await policies.current()).isBlocked(merchantId, 'customer', value);
  assert.equal(await blocks(large.merchantId, 'c3000'), true);
  assert.equal(await blocks(small.merchantId, 'c3000'), false);
  assert.ok(seen.entries >= 3_001);
  seen.entries = 0;

  const { id } = await add(small.merchantId, 'crook');
  // However slow the machine is, the lists are less than a second old.
  let now_ms = performance.now();
  const stopped = t.mock.method(performance, 'now', () => (now_ms += 0.001));
  await policies.current();
  const { promise, resolve } = Promise.withResolvers<void>();
  seen.gate = promise;
  announce();
  // The reading is held back until this is answered.
  assert.equal(await blocks(large.merchantId, 'c1'), true);
  stopped.mock.restore();
  resolve();
  await comesTo(true, () => blocks(small.merchantId, 'crook'));
  assert.equal(seen.entries, 2, 'both entries of the small list');
  assert.equal(await blocks(large.merchantId, 'c3000'), true);

  await harness.ask('merchants', as(small.merchantId), removing, { m: small.merchantId, id });
  await comesTo(false, () => blocks(small.merchantId, 'crook'));
  assert.equal(seen.entries, 3);
  assert.equal(await blocks(small.merchantId, 'before'), true);
});

test('a block holds in this process once its caller is answered', async () => {
  const { merchantId } = await harness.merchant();
  const customer = randomUUID();
  for (const each of [1, 2, 3]) {
    assert.ok((await add(merchantId, `${customer} ${each}`)).id);
    const lists = await harness.policies.current();
    assert.equal(lists.isBlocked(merchantId, 'customer', `${customer} ${each}`), true);
  }
});
