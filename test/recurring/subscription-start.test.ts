import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { Payments } from '../../subgraphs/recurring/ask-payments.ts';
import { chargeDue } from '../../subgraphs/recurring/subscriptions/charge-due.ts';
import {
  pauseSubscription,
  resumeSubscription,
} from '../../subgraphs/recurring/subscriptions/stop-subscription.ts';
import { answered, granted } from '../support/granted.ts';
import { openHarness, refusedWith, type Harness } from './harness.ts';
import { activeSubscription, chargingOf, start } from './subscription-life.ts';

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
const input = { amount: 10_000n, customerRef: 'c-1', method: 'sbp' } as const;

const paymentsOf = async ({ merchantId }: KeyPrincipal): Promise<number> => {
  const { rows } = await harness.database.pool.query(
    'select 1 from payment where merchant_id = $1',
    [merchantId],
  );
  return rows.length;
};

describe('starting a subscription', () => {
  test('fifty times at once under one key starts one, with one token and one payment', async () => {
    const key = await harness.merchant();
    const started = await Promise.all(
      Array.from({ length: 50 }, () => answered(() => start(harness, key, input, 'once'))),
    );
    const ids = new Set(started.map((one) => granted(one).subscription.id));
    assert.equal(ids.size, 1);
    assert.equal(started.filter((one) => !granted(one).replayed).length, 1);
    assert.equal(new Set(started.map((one) => granted(one).initialPayment.id)).size, 1);
    const { rows } = await harness.database.pool.query<{ tokens: number; subscriptions: number }>(
      `select (select count(*)::int from token where merchant_id = $1) as tokens, (select count(*)::int from subscription where merchant_id = $1) as subscriptions`,
      [key.merchantId],
    );
    assert.deepEqual(rows, [{ tokens: 1, subscriptions: 1 }]);
    assert.equal(await paymentsOf(key), 1);
    assert.equal(
      refusedWith(await start(harness, key, { ...input, amount: 1n }, 'once')),
      'idempotent_conflict',
    );
  });

  test('that dies before payments is asked is completed by the same call, and by the sweep when it is not repeated', async () => {
    const key = await harness.merchant();
    const dead: Payments = {
      ...harness.payments,
      askBinding: () => Promise.reject(new Error('the process was killed')),
    };
    const dies = (idempotency: string) =>
      start({ ...harness, payments: dead }, key, input, idempotency);
    await assert.rejects(dies('repeated'), /killed/);
    const completed = granted(await start(harness, key, input, 'repeated'));
    assert.equal(completed.replayed, true);
    assert.match(completed.payUrl, /^https:/);
    await assert.rejects(dies('forgotten'), /killed/);
    assert.equal(await paymentsOf(key), 1);
    harness.pass({ minutes: 3 });
    await chargeDue(chargingOf(harness), now);
    assert.equal(await paymentsOf(key), 2);
  });

  test('that payments refuse leaves nothing behind and frees the key', async () => {
    const live = { ...(await harness.merchant('live')), keyId: 'k' };
    assert.equal(refusedWith(await start(harness, live, input, 'key')), 'route_not_configured');
    assert.equal(
      refusedWith(await start(harness, live, { ...input, amount: 5n }, 'key')),
      'route_not_configured',
    );
    blocked.add('+79990000000');
    assert.equal(
      refusedWith(await start(harness, live, { ...input, customerPhone: '+79990000000' })),
      'aml_blocked',
    );
    const { rows } = await harness.database.pool.query(
      `select 1 from subscription where merchant_id = $1 union all select 1 from token where merchant_id = $1 union all select 1 from subscription_charge where merchant_id = $1
        union all select 1 from idempotency_key where merchant_id = $1`,
      [live.merchantId],
    );
    assert.deepEqual(rows, []);
  });

  test('refuses what the contract does not allow, naming the field', async () => {
    const key = await harness.merchant();
    const wrong = [
      [{ amount: 0n }, /^amount:/],
      [{ intervalCount: 0 }, /^interval_count:/],
      [{ intervalCount: 1_001 }, /^interval_count:/],
      [{ trialDays: -1 }, /^trial_days:/],
      [{ method: 'tpay', trialDays: 1 }, /^trial_days:/],
      [{ customerRef: '' }, /^customer_ref:/],
      [{ customerEmail: 'nobody' }, /^customer_email:/],
      [{ customerPhone: '' }, /^customer_phone:/],
      [{ planName: 'p'.repeat(256) }, /^plan_name:/],
    ] as const;
    for (const [change, message] of wrong) {
      const refusal = await start(harness, key, { ...input, ...change });
      assert.ok(
        isRefusal(refusal) && refusal.code === 'bad_request',
        `${Object.keys(change).join()} was taken`,
      );
      assert.match(refusal.message, message);
    }
  });
});

test('a pause and its end are in the audit log, with who, why, and the state before and after', async () => {
  const key = await harness.merchant();
  const { merchantId, id } = await activeSubscription(harness, key);
  const acting = {
    principal: { kind: 'operator', subject: 'anna', role: 'support', merchantId: null },
    requestId: 'r-1',
    now,
  } as const;
  granted(
    await pauseSubscription(harness.database, acting, {
      merchantId,
      id,
      reason: 'the buyer is away',
      at: acting.now(),
    }),
  );
  granted(await resumeSubscription(harness.database, acting, { merchantId, id, at: acting.now() }));
  const stranger = {
    ...acting,
    principal: { ...acting.principal, merchantId: (await harness.merchant()).merchantId },
  };
  assert.equal(
    refusedWith(
      await pauseSubscription(harness.database, stranger, {
        merchantId,
        id,
        reason: null,
        at: stranger.now(),
      }),
    ),
    'not_found',
  );
  const { rows } = await harness.database.pool.query(
    `select actor, action, before ->> 'status' as before, after ->> 'status' as after, 
      (select texts -> 'after' ->> 'reason' from audit_text where entry_id = audit_entry.id) as reason
      from audit_entry where subject_id = $1 order by id`,
    [id],
  );
  assert.deepEqual(rows, [
    {
      actor: 'anna',
      action: 'subscription.pause',
      before: 'active',
      after: 'paused',
      reason: 'the buyer is away',
    },
    {
      actor: 'anna',
      action: 'subscription.resume',
      before: 'paused',
      after: 'active',
      reason: null,
    },
  ]);
});
