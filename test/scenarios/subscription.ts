/**
 * The life of a subscription on the whole service, over REST and the graph, in a shop whose time a
 * test clock keeps.
 */
import assert from 'node:assert/strict';
import { pay } from '../support/buyer.ts';
import { issueKey } from '../support/cabinet.ts';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import type { Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

const read = `query ($id: ID!) { billingSubscription(id: $id) { status token { status method } upcoming
  charges { kind period attempt status payment { status amount method refunds { amount status } } } } }`;

/**
 * What an operator does with the shop's clock or the subscription; the result, or a failure that
 * names the refusal.
 */
const operate = async (service: Service, call: string, selection: string): Promise<any> => {
  const { answer } = await askGraph(
    service,
    `mutation { answer: ${call} { __typename ${selection} ... on Refused { code message } } }`,
  );
  assert.notEqual(answer.__typename, 'Refused', answer.message);
  return answer;
};

const advance = async (service: Service, { id, shopId }: Merchant, to: string): Promise<void> => {
  const shop = `merchantId: "${id}", shopId: "${shopId}"`;
  await operate(service, `testClockAdvance(${shop}, to: "${to}")`, '... on TestClock { now }');
  const arrived = async (): Promise<boolean> =>
    (await askGraph(service, `{ testClock(${shop}) { advancingTo } }`)).testClock.advancingTo ===
    null;
  await eventually(arrived, 'the clock has arrived');
};

/** Waits until every process knows of the clock: what they make then is of its time. */
const untilClocked = (merchant: Merchant): Promise<true> =>
  eventually(async () => {
    const { subscription, initial_payment: payment } = (
      await merchant.call('POST', '/subscriptions', { amount: 1_000, customer_ref: 'early' })
    ).body;
    return [subscription, payment].every(({ created_at: at }) => at.startsWith('2027'));
  }, 'the time of the shop');

/** Starts it, fifty times at once under one key; the buyer pays; it is active. Gives its id. */
const startActive = async (service: Service, merchant: Merchant): Promise<string> => {
  const body = {
    amount: 49_900,
    customer_ref: 'c-9',
    method: 'sbp',
    plan_name: 'Gold',
    customer_phone: '+79991234567',
  };
  const starts = await Promise.all(
    Array.from({ length: 50 }, () =>
      merchant.call('POST', '/subscriptions', body, { 'idempotency-key': 'gold' }),
    ),
  );
  assert.deepEqual(
    [
      starts.filter(({ status }) => status === 201).length,
      starts.filter(({ status }) => status === 200).length,
    ],
    [1, 49],
  );
  assert.equal(
    new Set(
      starts.map(
        (answer) =>
          `${answer.body.subscription.id} ${answer.body.initial_payment.id} ${answer.body.pay_url}`,
      ),
    ).size,
    1,
  );
  const {
    subscription,
    initial_payment: first,
    pay_url: url,
  } = starts[0]?.body ?? assert.fail('nothing was answered');
  assert.deepEqual(
    [subscription.status, subscription.period, subscription.next_charge_at, first.amount],
    ['pending', 'month', null, 49_900],
  );
  await pay(url);
  await advance(service, merchant, '2027-01-31T12:01:00.000Z');
  const { body: active } = await merchant.call('GET', `/subscriptions/${subscription.id}`);
  assert.equal(active.status, 'active', 'a clock that has arrived has nothing under way');
  return subscription.id;
};

/** Lives it on a service: a year in seconds, a pause by an operator, and its end. */
export const liveSubscription = async (service: Service): Promise<void> => {
  const merchant = await makeMerchant(service);
  const shop = `merchantId: "${merchant.id}", shopId: "${merchant.shopId}"`;
  await operate(
    service,
    `testClockCreate(${shop}, at: "2027-01-31T12:00:00.000Z")`,
    '... on TestClock { now }',
  );
  await untilClocked(merchant);
  const id = await startActive(service, merchant);
  const schedule = async () => (await merchant.call('GET', `/subscriptions/${id}/schedule`)).body;
  const { upcoming } = await schedule();
  assert.deepEqual(
    [upcoming.length, ...upcoming.slice(0, 3)].map((date) => String(date).slice(0, 10)),
    ['12', '2027-02-28', '2027-03-31', '2027-04-30'],
  );

  await advance(service, merchant, '2028-02-05T12:00:00.000Z');
  const lived = await schedule();
  assert.deepEqual(
    lived.charges.map(({ kind, status, amount }: any) => `${kind} ${status} ${amount}`),
    [
      'subscription_init succeeded 49900',
      ...upcoming.map(() => 'subscription_charge succeeded 49900'),
    ],
  );
  const { body: opening } = await merchant.call('GET', `/payments/${lived.charges[0].payment_id}`);
  assert.equal(
    lived.charges[0].created_at,
    opening.created_at,
    'a charge of the schedule is its payment',
  );
  // What was projected is what was charged: at those moments, of the shop's own time.
  assert.deepEqual(
    lived.charges.slice(1).map(({ captured_at: at }: any) => at),
    upcoming,
  );
  assert.equal((await merchant.call('GET', '/balance')).body.balance, 13 * 49_900);

  const named = `merchantId: "${merchant.id}", id: "${id}"`;
  await operate(
    service,
    `subscriptionPause(${named}, reason: "the buyer is away")`,
    '... on SubscriptionPaused { subscription { status } }',
  );
  await advance(service, merchant, '2028-04-10T12:00:00.000Z');
  const resumed = await operate(
    service,
    `subscriptionResume(${named})`,
    '... on SubscriptionResumed { subscription { status nextChargeAt } }',
  );
  assert.equal(resumed.subscription.status, 'active');
  assert.equal(
    resumed.subscription.nextChargeAt.slice(0, 10),
    '2028-04-30',
    "resumed in the shop's own time: what fell into the pause is not made up for",
  );
  assert.equal((await schedule()).charges.length, 13, 'nothing was charged in the pause');

  const { billingSubscription: seen } = await askGraph(service, read, { id }, merchant.key);
  const [first] = seen.charges;
  const payment = { status: 'succeeded', amount: 49_900, method: 'sbp', refunds: [] };
  assert.deepEqual(
    [seen.status, seen.token, seen.charges.length],
    ['active', { status: 'active', method: 'sbp' }, 13],
  );
  assert.deepEqual(first, {
    kind: 'subscription_init',
    period: 1,
    attempt: 1,
    status: 'succeeded',
    payment,
  });

  for (const reason of [{ reason: 'moved away' }, undefined]) {
    assert.deepEqual((await merchant.call('POST', `/subscriptions/${id}/cancel`, reason)).body, {
      status: 'cancelled',
    });
  }
  assert.deepEqual([(await schedule()).upcoming, (await schedule()).next_charge_at], [[], null]);
  const binds = await issueKey(service, merchant, 'test', ['api:recurrent:bind']);
  const refused = await callRest(
    { rest: service.rest, key: binds.secret },
    'POST',
    '/subscriptions',
    { amount: 1, customer_ref: 'c' },
  );
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'scope_required']);
  assert.equal(
    (await (await makeMerchant(service)).call('GET', `/subscriptions/${id}`)).status,
    404,
  );
};
