/** A shop with a test clock, as its merchant and an operator see it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pay, payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { testPool } from '../support/database.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { advanceClock, readClock, setClock } from '../support/test-clock.ts';
import { eventually } from '../support/eventually.ts';

const noon = '2027-03-01T12:00:00.000Z';

let service: ServiceInUse;
before(async () => {
  service = await openPlainService();
});
after(() => service.stop());

const set = (merchant: Merchant, verb: string, args = '') =>
  setClock(service, merchant, verb, args);
const read = (merchant: Merchant) => readClock(service, merchant);
const advance = (merchant: Merchant, to: string) => advanceClock(service, merchant, to);

const create = async (merchant: Merchant, body: object): Promise<any> =>
  (await merchant.call('POST', '/payments', body)).body;
const createsInRealTime = async (merchant: Merchant): Promise<void> => {
  const from = new Date().toISOString();
  const { payment } = await create(merchant, { amount: 100 });
  assert.ok(from <= payment.created_at && payment.created_at <= new Date().toISOString());
};
const get = async (merchant: Merchant, id: string): Promise<any> =>
  (await merchant.call('GET', `/payments/${id}`)).body;

describe('a shop with a test clock', () => {
  let merchant: Merchant;
  before(async () => {
    merchant = await makeMerchant(service);
    const clock = await set(merchant, 'Create', `, at: "${noon}"`);
    assert.deepEqual(clock, {
      __typename: 'TestClock',
      now: noon,
      frozen: true,
      advancingTo: null,
    });
  });

  test('payments are created at its time and expire at their own moment, which every object and webhook shows', async (context) => {
    const receiver = await openReceiver();
    context.after(() => receiver.close());
    const { payment } = await create(merchant, {
      amount: 10_000,
      webhook_url: receiver.url,
      ttl_minutes: 90,
    });
    assert.equal(payment.created_at, noon);
    assert.equal(payment.expires_at, '2027-03-01T13:30:00.000Z');
    await advance(merchant, '2027-03-01T13:29:59.999Z');
    assert.equal((await get(merchant, payment.id)).status, 'pending');
    await advance(merchant, '2027-03-02T12:00:00.000Z');
    const expired = await get(merchant, payment.id);
    assert.deepEqual(
      [expired.status, expired.finalized_at],
      ['expired', '2027-03-01T13:30:00.000Z'],
    );
    const { body } = await receiver.until(({ body: { event } }) => event === 'payment.expired');
    assert.equal(body.created_at, '2027-03-01T13:30:00.000Z');
  });

  test('a hold ends at its own moment, seven days after the bank had the money, unless it is captured before', async () => {
    const began = Temporal.Instant.from((await read(merchant)).now);
    const after = (time: Temporal.DurationLike): string =>
      began.add(time).toString({ smallestUnit: 'millisecond' });
    const held = async (amount: number): Promise<string> => {
      const order = { amount, method: 'cards', capture: 'manual' };
      const { payment, payment_url: url } = await create(merchant, order);
      await payByCard(url);
      return payment.id;
    };
    const [left, late] = [await held(10_000), await held(10_007)];
    await advance(merchant, after({ hours: 167 }));
    const { status, capture_before: before } = await get(merchant, left);
    // The card is decided after a second, what ends in 07 five seconds later.
    assert.deepEqual([status, before], ['authorized', after({ hours: 168, seconds: 1 })]);
    const ordered = await merchant.call('POST', `/payments/${late}/capture`, {});
    assert.deepEqual(
      [ordered.body.payment.status, ordered.body.payment.amount_capturable],
      ['authorized', 0],
    );
    await advance(merchant, after({ hours: 170 }));
    const [expired, captured] = [await get(merchant, left), await get(merchant, late)];
    assert.deepEqual([expired.status, expired.finalized_at], ['expired', before]);
    assert.deepEqual(
      [captured.status, captured.captured_at],
      ['succeeded', after({ hours: 167, seconds: 5 })],
    );
  });

  test('the simulated bank answers when its time comes, and a receiver that fails is tried at the documented delays', async (context) => {
    const receiver = await openReceiver(() => 500);
    context.after(() => receiver.close());
    const began = (await read(merchant)).now;
    const { payment, payment_url: url } = await create(merchant, {
      amount: 10_000,
      method: 'sbp',
      webhook_url: receiver.url,
    });
    await pay(url);
    assert.equal((await get(merchant, payment.id)).status, 'processing');
    await advance(
      merchant,
      Temporal.Instant.from(began)
        .add({ hours: 24 * 5 })
        .toString({ smallestUnit: 'millisecond' }),
    );
    const paid = await get(merchant, payment.id);
    assert.deepEqual(
      [paid.status, paid.captured_at],
      [
        'succeeded',
        Temporal.Instant.from(began).add({ seconds: 4 }).toString({ smallestUnit: 'millisecond' }),
      ],
    );
    assert.equal(receiver.received.length, 9);
    const answer = await askGraph(
      service,
      `{ payment(id: "${payment.id}", merchantId: "${merchant.id}") { webhookDeliveries { status attemptLog { at } } } }`,
    );
    const [delivery] = answer.payment.webhookDeliveries;
    assert.equal(delivery.status, 'failed');
    const moments = delivery.attemptLog.map(({ at }: { at: string }) => Temporal.Instant.from(at));
    const waited = moments
      .slice(1)
      .map((moment: Temporal.Instant, index: number) =>
        moment.since(moments[index]).total('seconds'),
      );
    const delays = [10, 60, 300, 1_800, 7_200, 21_600, 86_400, 172_800];
    // Jitter only ever adds, and a little.
    for (const [index, delay] of delays.entries())
      assert.ok(
        waited[index] >= delay && waited[index] <= delay * 1.2 + 1,
        `${waited[index]} s after ${delay}`,
      );
  });

  test('advances at once in more shops than the service has connections beside it', async () => {
    const shops = await Promise.all(
      Array.from({ length: 2 * testPool }, () => makeMerchant(service)),
    );
    const arrive = async (shop: Merchant): Promise<void> => {
      await set(shop, 'Create', `, at: "${noon}"`);
      const { payment } = await create(shop, { amount: 100 });
      await advance(
        shop,
        Temporal.Instant.from(noon).add({ hours: 48 }).toString({ smallestUnit: 'millisecond' }),
      );
      assert.equal((await get(shop, payment.id)).status, 'expired');
    };
    await Promise.all(shops.map(arrive));
  });

  test('another shop, and what is on its way, are left alone', async () => {
    const other = await makeMerchant(service);
    await createsInRealTime(other);
    const { payment } = await create(other, { amount: 100 });
    assert.equal(await read(other), null);
    assert.equal((await get(other, payment.id)).status, 'pending');
    const to = (await read(merchant)).now;
    assert.match(
      (await set(merchant, 'Advance', `, to: "${to}"`)).message,
      /^to: expected a moment after/,
    );
    assert.match(
      (await set(merchant, 'Create', `, at: "${noon}"`)).message,
      /already has a test clock/,
    );
    assert.equal((await set(other, 'Freeze')).code, 'not_found');
  });

  test('every answer to a key has what it shows, and the key reads it, of its own shop alone', async () => {
    const { now } = await read(merchant);
    for (const path of ['/payments', '/payments/nothing', '/payments?limit=0'])
      assert.equal(
        (await merchant.call('GET', path)).headers.get('x-test-clock'),
        `${now}; frozen`,
        path,
      );
    const asked = '{ testClock { now frozen advancingTo } }';
    const own = await askGraph(service, asked, {}, merchant.key);
    assert.deepEqual(own.testClock, { now, frozen: true, advancingTo: null });
    const other = await makeMerchant(service);
    const named = `query ($s: ID!) { testClock(shopId: $s) { now } }`;
    const foreign = await askGraph(service, named, { s: merchant.shopId }, other.key);
    assert.equal(foreign.testClock, null);
    assert.equal((await other.call('GET', '/payments')).headers.get('x-test-clock'), null);
    await assert.rejects(askGraph(service, asked), /Id: required/);
  });

  test('it runs when it is let, and without it the shop is back in real time', async () => {
    const { now } = await set(merchant, 'Resume');
    await eventually(
      async () => ((await read(merchant)).now > now ? true : undefined),
      'the clock runs',
    );
    const frozen = await set(merchant, 'Freeze');
    assert.equal(frozen.frozen, true);
    const headerOf = async () =>
      (await merchant.call('GET', '/payments')).headers.get('x-test-clock');
    assert.equal(await headerOf(), `${frozen.now}; frozen`);
    assert.equal((await read(merchant)).now, frozen.now);
    assert.equal((await set(merchant, 'Remove')).shopId, merchant.shopId);
    await createsInRealTime(merchant);
    assert.equal(await headerOf(), null);
  });

  test('each change leaves its audit entry with what the clock showed', async () => {
    const { id } = merchant;
    const answer = await askGraph(
      service,
      `{ auditLog(merchantId: "${id}", first: 200) { nodes { action before after } } }`,
    );
    const clockEntries = answer.auditLog.nodes.filter(({ action }: any) =>
      action.startsWith('test_clock.'),
    );
    const [removed, frozen, resumed, advanced] = clockEntries;
    const created = clockEntries.at(-1);
    const stood = { now: '2027-03-01T12:00:00Z', frozen: true, advancingTo: null };
    assert.deepEqual(created, { action: 'test_clock.create', before: null, after: stood });
    assert.equal(advanced.action, 'test_clock.advance');
    assert.equal(advanced.after.now, advanced.before.now);
    assert.ok(Date.parse(advanced.after.advancingTo) > Date.parse(advanced.after.now));
    assert.deepEqual([resumed.before.frozen, resumed.after.frozen], [true, false]);
    // It ran meanwhile: the entry has what it showed when it was stopped.
    assert.ok(Date.parse(frozen.before.now) > Date.parse(resumed.after.now));
    assert.equal(frozen.after.now, frozen.before.now);
    assert.deepEqual(
      [removed.action, removed.before, removed.after],
      ['test_clock.remove', frozen.after, null],
    );
  });
});
