/** Payouts of one merchant at the same moment share transactions, with the same answers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { countStatements } from '../support/count-statements.ts';
import { granted } from '../support/granted.ts';
import { poisonRow } from '../support/poison.ts';
import { account, at, openHarness, sbp, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

const codes = (results: readonly object[]): readonly string[] =>
  results.map((result) => (isRefusal(result) ? result.code : 'made'));

const numbers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, number) => number);

test('payouts at the same moment take what is available and no more, and are sent and booked each once', async () => {
  const [key, other] = [await harness.funded(30_000n), await harness.funded(10_000n)];
  const counted = countStatements(harness.pool);
  const results = await Promise.all([
    ...numbers(40).map((number) =>
      harness.create(
        key,
        { amount: 1_000n, ...(number % 2 === 0 ? sbp : account) },
        { key: `${number}` },
      ),
    ),
    ...numbers(10).map(() => harness.create(other, { amount: 1_000n, ...sbp })),
  ]);
  assert.ok(counted.texts.length < 100, `${counted.texts.length} statements for 50 payouts`);
  assert.deepEqual(
    Map.groupBy(codes(results), (code) => code)
      .entries()
      .map(([code, those]) => `${those.length} ${code}`)
      .toArray()
      .toSorted(),
    ['10 insufficient_balance', '40 made'],
  );
  assert.deepEqual((await harness.books(key)).available, 0n);
  await harness.send(at(60));
  assert.deepEqual(await harness.books(key), {
    available: 0n,
    reserved: 0n,
    paid: 30_000n,
    fees: 0n,
  });
  assert.deepEqual((await harness.books(other)).paid, 10_000n);
  const { rows } = await harness.pool.query<{ counts: number[] }>(
    `select array[(select count(*) from payout where merchant_id = $1 and status = 'succeeded' and bank_ref is not null),
      (select count(*) from idempotency_key where merchant_id = $1),
      (select count(*) from event where merchant_id = $1 and webhook_event = 'payout.succeeded')]::int[] as counts`,
    [key.merchantId],
  );
  assert.deepEqual(rows[0]?.counts, [30, 30, 30]);
});

test('two calls with one key in one batch are one payout, and what is refused leaves its key free', async () => {
  const key = await harness.funded(5_000n);
  const pay = (amount: bigint, name: string) =>
    harness.create(key, { amount, ...sbp }, { key: name });
  const results = await Promise.all([
    pay(1_000n, 'same'),
    pay(1_000n, 'same'),
    pay(9_000n, 'too much'),
    pay(2_000n, 'same'),
    pay(1_000n, 'other'),
  ]);
  assert.deepEqual(codes(results), [
    'made',
    'made',
    'insufficient_balance',
    'idempotent_conflict',
    'made',
  ]);
  const [one, again] = results.map((result) => (isRefusal(result) ? null : result));
  assert.equal(one?.payout.id, again?.payout.id);
  assert.deepEqual([one?.replayed, again?.replayed], [false, true]);
  assert.equal(granted(await pay(3_000n, 'too much')).replayed, false);
});

test('a payout that cannot be written fails alone', async () => {
  const key = await harness.funded(100_000n);
  const cure = await poisonRow(harness.pool, 'payout', 'insert', { amount: 777 });
  const results = await Promise.allSettled(
    [1_000n, 777n, 2_000n, 3_000n].map((amount) => harness.create(key, { amount, ...sbp })),
  );
  await cure();
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await harness.books(key), {
    available: 94_000n,
    reserved: 6_000n,
    paid: 0n,
    fees: 0n,
  });
});
