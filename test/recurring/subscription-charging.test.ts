import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { Payments } from '../../subgraphs/recurring/ask-payments.ts';
import { cancelToken } from '../../subgraphs/recurring/tokens/bind-token.ts';
import { chargeDue } from '../../subgraphs/recurring/subscriptions/charge-due.ts';
import { findCharges } from '../../subgraphs/recurring/find-recurring.ts';
import { settleCharges } from '../../subgraphs/recurring/subscriptions/settle-charges.ts';
import { followRows } from '../../subgraphs/platform/clock/keep-clocks.ts';
import {
  dueAsks,
  dueSubscriptions,
} from '../../subgraphs/recurring/subscriptions/store-subscription.ts';
import type { Subscription } from '../../subgraphs/recurring/entities.ts';
import { granted } from '../support/granted.ts';
import { openHarness, type Harness } from './harness.ts';
import {
  activeSubscription,
  chargingOf,
  followAll,
  readSubscription,
} from './subscription-life.ts';

const blocked = new Set<string>();
let harness: Harness;
before(async () => {
  harness = await openHarness(() => [], {
    ...noPolicies,
    isBlocked: (_: string, __: string, text: string) => blocked.has(text),
  });
});
after(() => harness.close());

const now = (): Temporal.Instant => harness.call().now;

/** So many payments of subscriptions has the merchant, and so much money. */
const booksOf = async (key: KeyPrincipal) => {
  const { rows } = await harness.database.pool.query<{ count: number }>(
    'select count(*)::int as count from payment where merchant_id = $1',
    [key.merchantId],
  );
  const { balance, ledger } = await harness.books(key);
  return {
    payments: rows[0]?.count ?? 0,
    balance,
    payments_booked: ledger.filter((row) => row.startsWith('payment')).length,
  };
};

const charges = async (subscription: Subscription): Promise<readonly string[]> => {
  const [found = []] = await findCharges(harness.database.pool, [subscription]);
  return found.map(({ period, attempt, status }) => `${period}.${attempt} ${status}`);
};

/** One subscription alone: nothing of earlier tests is due. */
const alone = async (key: KeyPrincipal): Promise<Subscription> => {
  await harness.database.pool.query('update subscription set due_at = null');
  await harness.database.pool.query('update subscription_charge set ask_at = null');
  return activeSubscription(harness, key);
};

/**
 * Payments that do something else at the next charge: a process that dies before it asks, or before
 * it has the answer.
 */
const dying = (when: 'before' | 'after'): Payments => {
  let isDying = true;
  return {
    ...harness.payments,
    askCharge: async (request) => {
      if (!isDying) return harness.payments.askCharge(request);
      isDying = false;
      if (when === 'after') await harness.payments.askCharge(request);
      throw new Error('the process was killed');
    },
  };
};

describe('a period is charged once', () => {
  test('by eight sweeps at once over thirty subscriptions, and the books have their sum', async () => {
    const key = await harness.merchant();
    await alone(key);
    for (let more = 0; more < 29; more += 1) await activeSubscription(harness, key);
    harness.pass({ hours: 32 * 24 });
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => chargeDue(chargingOf(harness), now, { limit: 5 })),
    );
    assert.equal(
      asked.reduce((sum, count) => sum + count, 0),
      30,
    );
    await followAll(harness);
    assert.deepEqual(await booksOf(key), { payments: 60, balance: 600_000n, payments_booked: 60 });
    assert.equal(
      await chargeDue(chargingOf(harness), now),
      0,
      'a sweep that comes again finds nothing',
    );
  });

  for (const when of ['before', 'after'] as const) {
    test(`when the process dies ${when} payments has made the payment: it is asked again when the lease is over`, async () => {
      const key = await harness.merchant();
      const subscription = await alone(key);
      harness.pass({ hours: 32 * 24 });
      await chargeDue({ ...chargingOf(harness), payments: dying(when) }, now);
      assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 open']);
      assert.equal(await chargeDue(chargingOf(harness), now), 0, 'another may still be asking');
      harness.pass({ minutes: 3 });
      assert.equal(await chargeDue(chargingOf(harness), now), 1);
      assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 succeeded']);
      await followAll(harness);
      assert.deepEqual(await booksOf(key), { payments: 2, balance: 20_000n, payments_booked: 2 });
    });
  }

  test('by payments that all carry its metadata', async () => {
    const key = await harness.merchant();
    await alone(key);
    const own = await activeSubscription(harness, key, { metadata: { plan: 'a', mode: 'mine' } });
    harness.pass({ hours: 32 * 24 });
    await chargeDue(chargingOf(harness), now);
    await followAll(harness);
    const { rows } = await harness.database.pool.query(
      `select metadata->>'plan' as plan, metadata->>'mode' as mode from payment where subscription_id = $1`,
      [own.id],
    );
    const carried = { plan: 'a', mode: 'test' };
    assert.deepEqual(rows, [carried, carried]);
  });

  test('when the answer is lost and the event comes first, nothing is left to ask', async () => {
    const key = await harness.merchant();
    const subscription = await alone(key);
    harness.pass({ hours: 32 * 24 });
    await chargeDue({ ...chargingOf(harness), payments: dying('after') }, now);
    await followAll(harness);
    assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 succeeded']);
    harness.pass({ minutes: 3 });
    assert.equal(await chargeDue(chargingOf(harness), now), 0);
  });

  test('when the clock jumps ahead and back', async () => {
    const key = await harness.merchant();
    const subscription = await alone(key);
    const due = subscription.nextChargeAt ?? assert.fail('nothing is due');
    const moments = [
      due,
      due.subtract({ hours: 48 }),
      due.add({ hours: 24 }),
      due.subtract({ hours: 1 }),
      due,
    ];
    for (const moment of moments) await chargeDue(chargingOf(harness), () => moment);
    assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 succeeded']);
  });

  test('and PostgreSQL itself refuses a second open or succeeded charge of it', async () => {
    const key = await harness.merchant();
    const subscription = await alone(key);
    const again = `insert into subscription_charge select (jsonb_populate_record(c, '{"attempt": 2, "payment_id": null}')).* from subscription_charge c where subscription_id = $1`;
    await assert.rejects(
      harness.database.pool.query(again, [subscription.id]),
      /subscription_charge_once/,
    );
  });
});

describe('what was missed', () => {
  test('in an outage of three months is made up for, each period by its own charge, one after the other', async () => {
    const key = await harness.merchant();
    const subscription = await alone(key);
    harness.pass({ hours: 95 * 24 });
    assert.equal(await chargeDue(chargingOf(harness), now), 3);
    assert.deepEqual(await charges(subscription), [
      '1.1 succeeded',
      '2.1 succeeded',
      '3.1 succeeded',
      '4.1 succeeded',
    ]);
    const { nextChargeAt } = await readSubscription(harness, subscription);
    assert.ok(nextChargeAt && Temporal.Instant.compare(nextChargeAt, now()) > 0);
    await followAll(harness);
    assert.equal((await booksOf(key)).balance, 40_000n);
  });
});

test('while payments are away, one round of charges is begun and no more; all of them are charged when payments are back', async () => {
  const key = await harness.merchant();
  await alone(key);
  for (let more = 0; more < 5; more += 1) await activeSubscription(harness, key);
  harness.pass({ hours: 32 * 24 });
  const away: Payments = {
    ...harness.payments,
    askCharge: () => Promise.reject(new Error('payments are away')),
  };
  assert.equal(await chargeDue({ ...chargingOf(harness), payments: away }, now, { limit: 4 }), 4);
  harness.pass({ minutes: 3 });
  assert.equal(await chargeDue(chargingOf(harness), now), 6);
  assert.equal((await booksOf(key)).balance, 120_000n);
});

describe('a subscription that is due', () => {
  test('and whose token was cancelled ends without a charge', async () => {
    const key = await harness.merchant();
    const subscription = await alone(key);
    granted(
      await cancelToken(harness.parts, key, subscription.tokenId, {
        requestId: 'test',
        now: Temporal.Now.instant(),
      }),
    );
    harness.pass({ hours: 32 * 24 });
    await chargeDue(chargingOf(harness), now);
    const { status, cancelReason } = await readSubscription(harness, subscription);
    assert.deepEqual(
      [status, cancelReason, await charges(subscription)],
      ['cancelled', 'token_cancelled', ['1.1 succeeded']],
    );
  });

  test('and whose customer was blocked meanwhile has failed, without a payment, and is tried again', async () => {
    const key = await harness.merchant();
    await alone(key);
    const subscription = await activeSubscription(harness, key, { customerRef: 'blocked-later' });
    blocked.add('blocked-later');
    harness.pass({ hours: 32 * 24 });
    await chargeDue(chargingOf(harness), now);
    assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 failed']);
    assert.equal((await readSubscription(harness, subscription)).status, 'past_due');
    blocked.delete('blocked-later');
    harness.pass({ hours: 24 });
    await chargeDue(chargingOf(harness), now);
    assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 failed', '2.2 succeeded']);
  });

  test('is what the shop waits for next', async () => {
    const key = await harness.merchant();
    const subscription = await alone(key);
    const waiting = followRows(harness.database.pool, [dueSubscriptions, dueAsks]);
    assert.equal(String(await waiting.next(key, now())), String(subscription.nextChargeAt));
    assert.equal(await waiting.next(key, now().add({ hours: 40 * 24 })), null);
  });
});

test('a charge whose payment was cancelled is dropped: the period is not charged, the next one is, and it is told once', async () => {
  const key = await harness.merchant();
  const subscription = await alone(key);
  const { pool } = harness.database;
  await pool.query('update subscription set amount = 10006 where id = $1', [subscription.id]);
  harness.pass({ hours: 32 * 24 });
  await chargeDue(chargingOf(harness), now);
  const [[, charge] = []] = await findCharges(pool, [subscription]);
  assert.ok(charge?.status === 'open' && charge.askAt === null);
  const cancelled = {
    charge,
    payment: { id: charge.paymentId, status: 'cancelled', failureCode: null, at: now() },
  } as const;
  await Promise.all(Array.from({ length: 5 }, () => settleCharges(pool, [cancelled])));
  assert.deepEqual(await charges(subscription), ['1.1 succeeded', '2.1 cancelled']);
  const after = await readSubscription(harness, subscription);
  assert.deepEqual(
    [after.status, after.failures, String(after.dueAt)],
    ['active', 0, String(after.nextChargeAt)],
  );
  assert.equal(after.version, subscription.version + 2, 'begun and dropped, each once');
});
