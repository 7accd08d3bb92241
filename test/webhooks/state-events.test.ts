/** Events for every state, in the log always, at endpoints that name them. */
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { chooseAndPay, pay } from '../../sdk/src/psp/trigger.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());

const made = async (merchant: Merchant, path: string, body: object) => {
  const answer = await merchant.call('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
};

/** The events of an object, once the log has the last of them. */
const eventsOf = (merchant: Merchant, subjectId: string, last: string) =>
  eventually(async () => {
    const { body } = await merchant.call('GET', `/event-log?subject_id=${subjectId}`);
    return body.items.at(-1)?.event === last && body.items;
  }, `${last} of ${subjectId}`);

const names = (items: readonly { readonly event: string }[]): readonly string[] =>
  items.map(({ event }) => event);

test('subscriptions and tokens have an event for every state, with the whole object', async () => {
  const merchant = await makeMerchant(service);
  const { subscription, pay_url } = await made(merchant, '/subscriptions', {
    amount: 10_000,
    customer_ref: 'c-1',
    method: 'sbp',
  });
  const { id } = subscription;
  await pay(pay_url, 'sbp');
  await eventsOf(merchant, id, 'subscription.activated');
  const change = (mutation: string) =>
    askGraph(
      service,
      `mutation { ${mutation}(merchantId: "${merchant.id}", id: "${id}") { __typename } }`,
    );
  await change('subscriptionPause');
  await eventsOf(merchant, id, 'subscription.paused');
  await change('subscriptionResume');
  await eventsOf(merchant, id, 'subscription.resumed');
  const active = (await merchant.call('GET', `/subscriptions/${id}`)).body;
  await merchant.call('POST', `/subscriptions/${id}/cancel`);
  const events = await eventsOf(merchant, id, 'subscription.cancelled');
  assert.deepEqual(names(events), [
    'subscription.activated',
    'subscription.paused',
    'subscription.resumed',
    'subscription.cancelled',
  ]);
  const { pay_url: _, ...shown } = active;
  assert.deepEqual(events[2].data, shown);
  assert.equal(events[3].data.status, 'cancelled');

  const [token] = (await merchant.call('GET', '/tokens')).body.items;
  assert.equal((await merchant.call('POST', `/tokens/${token.id}/cancel`)).status, 200);
  const ofToken = await eventsOf(merchant, token.id, 'token.cancelled');
  assert.deepEqual(names(ofToken), ['token.activated', 'token.cancelled']);
  assert.deepEqual(ofToken[0].data, { ...token, last_charged_at: ofToken[0].data.last_charged_at });
  assert.deepEqual({ ...ofToken[1].data }, { ...token, status: 'cancelled' });
  await merchant.call('POST', `/tokens/${token.id}/cancel`);

  const { card } = await made(merchant, '/tokens', { customer_ref: 'c-2' });
  await merchant.call('POST', `/tokens/${card.id}/cancel`);
  assert.deepEqual(names(await eventsOf(merchant, card.id, 'token.cancelled')), [
    'token.cancelled',
  ]);
});

test('payout.created and refund.failed go to endpoints that name them, and to no other', async (t) => {
  const merchant = await makeMerchant(service);
  const all = await openReceiver();
  const naming = await openReceiver();
  t.after(() => all.close());
  t.after(() => naming.close());
  await merchant.endpoint(all.url);
  await merchant.endpoint(naming.url, ['payout_created', 'refund_failed']);
  const body = { amount: 100_000, metadata: { simulator_outcome: 'succeeded' } };
  const { payment, payment_url } = await made(merchant, '/payments', body);
  await chooseAndPay(payment_url);
  await eventsOf(merchant, payment.id, 'payment.succeeded');
  // The last two digits decide: 01 is declined.
  const refund = await made(merchant, `/payments/${payment.id}/refund`, { amount: 1_001 });
  const [failed] = await eventsOf(merchant, refund.id, 'refund.failed');
  const { items } = (await merchant.call('GET', '/refunds')).body;
  assert.deepEqual(failed.data, items[0]);
  assert.deepEqual([failed.data.status, failed.data.fail_reason], ['failed', 'do_not_honor']);
  const { payout } = await made(merchant, '/payouts', {
    amount: 1_000,
    phone: '+79161234567',
    bank_id: '100000000111',
  });
  const [created] = await eventsOf(merchant, payout.id, 'payout.succeeded');
  assert.equal(created.event, 'payout.created');
  assert.deepEqual(created.data, { ...payout, bank_ref: created.data.bank_ref });
  await all.until(({ body: sent }) => sent.event === 'payout.succeeded');
  await naming.until(({ body: sent }) => sent.event === 'payout.created');
  await naming.until(({ body: sent }) => sent.event === 'refund.failed');
  for (const [id, to] of [
    [failed.id, naming.url],
    [created.id, naming.url],
  ]) {
    const { deliveries } = (await merchant.call('GET', `/event-log/${id}`)).body;
    assert.deepEqual(
      deliveries.map(({ url }: { readonly url: string }) => url),
      [to],
    );
  }
});
