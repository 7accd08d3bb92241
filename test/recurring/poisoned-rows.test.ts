/**
 * One poisoned row does not stop the others: charges that are due, what is followed, tokens that are not
 * binds.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { chargeDue } from '../../subgraphs/recurring/subscriptions/charge-due.ts';
import { endUnboundTokens } from '../../subgraphs/recurring/jobs.ts';
import { paymentListeners } from '../../subgraphs/recurring/payment-listeners.ts';
import { granted } from '../support/granted.ts';
import { retryDeadLetters, poison, deadLettersOf } from '../support/poison.ts';
import { openHarness, type Harness } from './harness.ts';
import { activeSubscription, chargingOf, readSubscription } from './subscription-life.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());
beforeEach(async () => {
  const { pool } = harness.database;
  await pool.query('update subscription set due_at = null');
  await pool.query('update subscription_charge set ask_at = null');
  await pool.query('delete from dead_letter');
});

const merchants = async (): Promise<readonly [KeyPrincipal, readonly KeyPrincipal[]]> => {
  const [bad, ...others] = await Promise.all(Array.from({ length: 4 }, () => harness.merchant()));
  return [bad ?? assert.fail(), others];
};

test('a subscription that cannot be charged is set aside, and all others are charged in the same run', async () => {
  const { pool } = harness.database;
  const [bad, others] = await merchants();
  const poisoned = await activeSubscription(harness, bad);
  const healthy = [];
  for (const key of others) healthy.push(await activeSubscription(harness, key));
  harness.pass({ hours: 32 * 24 });
  const cure = await poison(pool, 'subscription', 'update', bad.merchantId);
  await chargeDue(chargingOf(harness), () => harness.call().now);
  for (const one of healthy) assert.equal((await readSubscription(harness, one)).periods, 2);
  assert.equal((await readSubscription(harness, poisoned)).periods, 1);
  assert.deepEqual(await deadLettersOf(pool, bad.merchantId), {
    subjects: [`subscriptions ${poisoned.id}`],
    alerts: ['subscriptions'],
  });
  await cure();
  await retryDeadLetters(pool);
  await chargeDue(chargingOf(harness), () => harness.call().now);
  assert.equal((await readSubscription(harness, poisoned)).periods, 2);
});

test('an event that cannot be followed is set aside with an alert, and all behind it are followed by few transactions', async () => {
  const { pool } = harness.database;
  const [bad, others] = await merchants();
  const poisoned = granted(await harness.create(bad, { customerRef: 'c' })).token;
  const healthy = [];
  for (const key of [...others, ...others, ...others])
    healthy.push(granted(await harness.create(key, { customerRef: 'c' })).token);
  for (const token of [poisoned, ...healthy]) await harness.pay(token);
  const cure = await poison(pool, 'token', 'update', bad.merchantId);
  while ((await harness.follow(paymentListeners)) > 0);
  assert.deepEqual(
    new Set(await Promise.all(healthy.map(async (token) => (await harness.read(token)).status))),
    new Set(['active']),
  );
  assert.equal((await harness.read(poisoned)).status, 'pending');
  assert.deepEqual((await deadLettersOf(pool, bad.merchantId)).alerts, ['follow-payments']);
  await cure();
});

test('tokens that are not bound end behind one that cannot be written, and behind a page of those whose payments live', async () => {
  const { pool } = harness.database;
  const [bad, [busy, other]] = await merchants();
  assert.ok(busy && other);
  const forgotten = granted(await harness.create(bad, { customerRef: 'c' })).token;
  for (let index = 0; index < 205; index += 1)
    granted(await harness.create(busy, { customerRef: 'c' }));
  const last = granted(await harness.create(other, { customerRef: 'c' })).token;
  for (const { merchantId, id, bindingPaymentId } of [forgotten, last]) {
    await pool.query(
      'update token set binding_payment_id = null where merchant_id = $1 and id = $2',
      [merchantId, id],
    );
    await pool.query('delete from payment where merchant_id = $1 and id = $2', [
      merchantId,
      bindingPaymentId,
    ]);
  }
  const cure = await poison(pool, 'token', 'update', bad.merchantId);
  harness.pass({ hours: 2 });
  await endUnboundTokens({ pool, payments: harness.payments, now: () => harness.call().now });
  assert.equal((await harness.read(last)).status, 'cancelled');
  assert.equal((await harness.read(forgotten)).status, 'pending');
  assert.deepEqual((await deadLettersOf(pool, bad.merchantId)).subjects, [
    `end-unbound-tokens ${forgotten.id}`,
  ]);
  await cure();
});
