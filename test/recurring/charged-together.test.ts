/** Charges of the schedule at the same moment: they share statements, and no merchant waits. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { chargeDue } from '../../subgraphs/recurring/subscriptions/charge-due.ts';
import { dueSubscriptions } from '../../subgraphs/recurring/subscriptions/store-subscription.ts';
import type { Token } from '../../subgraphs/recurring/entities.ts';
import { countStatements } from '../support/count-statements.ts';
import { poison } from '../support/poison.ts';
import { openHarness, type Harness } from './harness.ts';
import { chargingOf } from './subscription-life.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

/** Adds subscriptions of a token that are due at a moment, 10 rubles a month each. */
const addDue = async (
  { merchantId, shopId }: KeyPrincipal,
  { id }: Token,
  count: number,
  dueAt: Temporal.Instant,
): Promise<void> => {
  await harness.database.pool.query(
    `insert into subscription (merchant_id, id, version, shop_id, mode, customer_ref, amount, currency, method, period, interval_count, trial_days,
        status, token_id, anchor_at, periods, failures, due_at, next_charge_at, created_at)
      select $1, gen_random_uuid(), 1, $2, 'test', 'c', 1000, 'RUB', 'sbp', 'month', 1, 0,
        'active', $3, $5::timestamptz, 1, 0, $5::timestamptz, $5::timestamptz, $5::timestamptz from generate_series(1, $4::int)`,
    [merchantId, shopId, id, count, dueAt.toString()],
  );
};

/** How many charges of the merchant succeeded, and how many payments it has for how much. */
const chargedOf = async ({ merchantId }: KeyPrincipal) => {
  const { rows } = await harness.database.pool.query<{
    charges: number;
    payments: number;
    booked: number;
  }>(
    `select (select count(*)::int from subscription_charge where merchant_id = $1 and status = 'succeeded') as charges,
      (select count(distinct payment_id)::int from subscription_charge where merchant_id = $1) as payments,
      (select coalesce(sum(amount), 0)::int from posting where merchant_id = $1 and type = 'payment' and amount = 1000) as booked`,
    [merchantId],
  );
  return rows[0] ?? assert.fail();
};

test('charges that are due together are each charged once, by few statements', async () => {
  const keys = [await harness.merchant(), await harness.merchant()];
  for (const key of keys) await addDue(key, await harness.active(key), 60, harness.call().now);
  const counted = countStatements(harness.database.pool);
  await Promise.all([1, 2].map(() => chargeDue(chargingOf(harness), () => harness.call().now)));
  for (const key of keys)
    assert.deepEqual(await chargedOf(key), { charges: 60, payments: 60, booked: 60_000 });
  assert.ok(counted.texts.length < 120, `${counted.texts.length} statements for 120 charges`);
});

test('of two calls for one charge at the same moment one makes it, and the other finds it', async () => {
  const key = await harness.merchant();
  const { id: tokenId, savedReference, customerRef } = await harness.active(key);
  const ask = (idempotencyKey: string, amount = 1_000n) =>
    harness.payments.askCharge({
      merchantId: key.merchantId,
      shopId: key.shopId,
      mode: 'test',
      kind: 'token_charge',
      idempotencyKey,
      amount,
      currency: 'RUB',
      tokenId,
      subscriptionId: null,
      customerRef,
      savedReference: savedReference ?? assert.fail(),
      orderId: null,
      description: null,
      receiptTermsId: null,
      metadata: null,
    });
  const asked = await Promise.all(['a', 'b', 'a', 'c', 'd'].map((name) => ask(name)));
  const made = asked.map((answer) => (isRefusal(answer) ? assert.fail(answer.code) : answer));
  assert.deepEqual(
    made.map(({ replayed }) => replayed),
    [false, false, true, false, false],
  );
  assert.equal(made[0]?.payment.id, made[2]?.payment.id);
  const [other, again] = await Promise.all([ask('e'), ask('e', 2_000n)]);
  assert.ok(!isRefusal(other));
  assert.equal(isRefusal(again) && again.code, 'idempotent_conflict');
});

test('a merchant with very many charges due does not delay others', async () => {
  const [busy, other] = [await harness.merchant(), await harness.merchant()];
  const { now } = harness.call();
  await addDue(busy, await harness.active(busy), 300, now);
  await addDue(other, await harness.active(other), 5, now.add({ minutes: 1 }));
  const limit = 20;
  let at = now.add({ minutes: 2 });
  await chargeDue(chargingOf(harness), () => (at = at.add({ seconds: 1 })), { limit });
  const { rows } = await harness.database.pool.query<{ before: number }>(
    `select count(*)::int as before from subscription_charge where merchant_id = $1
      and created_at < (select max(created_at) from subscription_charge where merchant_id = $2)`,
    [busy.merchantId, other.merchantId],
  );
  const { before: ahead = Number.NaN } = rows[0] ?? {};
  assert.ok(ahead <= limit, `${ahead} charges of the busy merchant went first`);
  assert.deepEqual(await chargedOf(busy), { charges: 300, payments: 300, booked: 300_000 });
  assert.deepEqual(await chargedOf(other), { charges: 5, payments: 5, booked: 5_000 });
});

test('a merchant whose payments cannot be written fails alone in a rush', async () => {
  const { pool } = harness.database;
  const [bad, good] = [await harness.merchant(), await harness.merchant()];
  for (const key of [bad, good])
    await addDue(key, await harness.active(key), 40, harness.call().now);
  const cure = await poison(pool, 'payment', 'insert', bad.merchantId);
  await chargeDue(chargingOf(harness), () => harness.call().now, { limit: 20 });
  assert.deepEqual(await chargedOf(good), { charges: 40, payments: 40, booked: 40_000 });
  const { charges, booked } = await chargedOf(bad);
  assert.deepEqual({ charges, booked }, { charges: 0, booked: 0 });
  await cure();
  harness.pass({ minutes: 10 });
  await chargeDue(chargingOf(harness), () => harness.call().now);
  assert.deepEqual(await chargedOf(bad), { charges: 40, payments: 40, booked: 40_000 });
});

test('behind more due rows than are looked at, other merchants are found by the walk', async () => {
  const { pool } = harness.database;
  const [busy, other] = [await harness.merchant(), await harness.merchant()];
  const { now } = harness.call();
  await addDue(busy, await harness.active(busy), 1_100, now);
  await addDue(other, await harness.active(other), 3, now.add({ minutes: 1 }));
  const at = now.add({ minutes: 2 });
  const limit = 20;
  const found = new Map<string, number>();
  // The walk may begin behind them: it comes round in the second look.
  for (let look = 0; look < 2; look += 1) {
    const due = await inTransaction(pool, (client) =>
      dueSubscriptions.dueOfEach(client, at, limit, []),
    );
    assert.ok(due.length <= limit, `${due.length} rows`);
    for (const { merchantId } of due) found.set(merchantId, (found.get(merchantId) ?? 0) + 1);
  }
  assert.ok((found.get(other.merchantId) ?? 0) >= 3, 'all that the other has');
  assert.ok((found.get(busy.merchantId) ?? 0) > 0, 'and a share of the busy one');
});
