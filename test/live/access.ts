/** Facts about who reaches live mode, and who may notify it. */
import assert from 'node:assert/strict';
import { callRest } from '../support/merchant.ts';
import { harness, type Facts } from './shared-harness.ts';
import { enableLive, makeLiveMerchant, onPage, order, routeToYooKassa } from './harness.ts';
import { eventually } from '../support/eventually.ts';

export const accessFacts: Facts = {
  'a live key is refused until the merchant is enabled, and without a route': async () => {
    const { service } = harness();
    const other = await makeLiveMerchant(service);
    const attempt = () => other.call('POST', '/payments', { amount: 1_000, method: 'sbp' });
    const early = await attempt();
    assert.deepEqual([early.status, early.body.error.code], [403, 'live_not_enabled']);
    await enableLive(service, other.id);
    const unrouted = await eventually(async () => {
      const answer = await attempt();
      return answer.body.error?.code !== 'live_not_enabled' && answer;
    }, 'the enabled merchant');
    assert.deepEqual([unrouted.status, unrouted.body.error?.code], [422, 'route_not_configured']);
    await routeToYooKassa(service, other);
    assert.equal((await attempt()).status, 201);
  },

  'test and live never meet in a registry, a ledger or a balance': async () => {
    const { merchant, service } = harness();
    const asTest = { rest: service.rest, key: merchant.testKey };
    const made = await callRest(asTest, 'POST', '/payments', { amount: 99_900, method: 'sbp' });
    await onPage(made.body.payment_url, 'pay');
    await eventually(
      async () => (await callRest(asTest, 'GET', '/balance')).body.balance === 99_900,
      'the test payment',
    );
    assert.equal((await merchant.call('GET', `/payments/${made.body.payment.id}`)).status, 404);
    const live = (await merchant.call('GET', '/ledger?limit=100')).body.items;
    assert.ok(live.length > 0 && live.every((entry: any) => entry.amount !== 99_900));
    assert.deepEqual(
      (await callRest(asTest, 'GET', '/ledger')).body.items.map((entry: any) => entry.amount),
      [99_900],
    );
    assert.ok(
      !(await harness().acquirer.books()).payments.some(
        ({ metadata }) => metadata.operation_id === made.body.payment.id,
      ),
    );
  },

  'a notification is taken from the published networks alone, and only makes us ask': async () => {
    const { service, merchant } = harness();
    const { payment, url } = await order(merchant, 8_000);
    await onPage(url, 'pay');
    const received = {
      event: 'payment.succeeded',
      type: 'notification',
      object: {
        status: 'succeeded',
        metadata: { merchant_id: merchant.id, operation_id: payment.id },
      },
    };
    const notify = (body: unknown) =>
      fetch(`${service.rest}/callbacks/yookassa`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answers = await Promise.all([
      notify(received),
      notify(received),
      notify({}),
      notify([1]),
      notify({ object: { metadata: { merchant_id: 'x', operation_id: 1 } } }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    const elsewhere = await fetch(`${service.rest}/callbacks/yookassa`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '9.9.9.9' },
      body: JSON.stringify(received),
    });
    assert.equal(elsewhere.status, 403);
    assert.equal(
      (await merchant.call('GET', `/payments/${payment.id}`)).body.status,
      'processing',
      'the bank does not say so',
    );
  },
};
