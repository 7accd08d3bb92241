/** What a merchant's developer finds again by references of its own. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import {
  askGraph,
  callRest,
  makeMerchant,
  type Answer,
  type Merchant,
} from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';

let service: ServiceInUse;
let merchant: Merchant;
/** Another shop of the merchant, by its key. */
let sibling: (method: string, path: string, body?: unknown) => Promise<Answer>;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
  const made = await askGraph(
    service,
    'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "Other") { ... on Shop { id } } }',
    { m: merchant.id },
  );
  const { apiKeyIssue } = await askGraph(
    service,
    'mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, mode: test) { ... on ApiKeyIssued { secret } } }',
    { m: merchant.id, s: made.shopCreate.id },
  );
  const key: string = apiKeyIssue.secret;
  sibling = (method, path, body) => callRest({ rest: service.rest, key }, method, path, body);
});
after(() => service?.stop());

const good = async (method: string, path: string, body?: unknown): Promise<any> => {
  const answer = await merchant.call(method, path, body);
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const namesIn = async (path: string, field: string): Promise<readonly string[]> =>
  (await good('GET', path)).items.map((item: any) => item[field]);
/** All pages of a list, one item on each. */
const walked = async (path: string, field: string): Promise<readonly string[]> => {
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: any = await good('GET', `${path}&limit=1${cursor && `&cursor=${cursor}`}`);
    assert.deepEqual(Object.keys(page), ['items', 'next_cursor']);
    seen.push(...page.items.map((item: any) => item[field]));
    cursor = page.next_cursor;
  }
  return seen;
};
const untilSucceeded = (id: string): Promise<unknown> =>
  eventually(
    async () => (await good('GET', `/payments/${id}`)).status === 'succeeded',
    'the paid payment',
  );
const messageOf = ({ status, body }: Answer): string => {
  assert.deepEqual([status, body.error.code], [400, 'bad_request'], JSON.stringify(body));
  return body.error.message;
};

describe('a list is narrowed by exact references', () => {
  let payments: any[];
  before(async () => {
    payments = [];
    const given = [
      { order_id: 'A-1, b', customer_id: 'ann' },
      { order_id: 'A-1', customer_id: 'ann' },
      { order_id: 'a-1', customer_id: 'bob' },
      { order_id: 'A-1', customer_id: 'bob' },
    ];
    for (const one of given)
      payments.push((await good('POST', '/payments', { amount: 100, ...one })).payment);
    await sibling('POST', '/payments', { amount: 100, order_id: 'A-1', customer_id: 'ann' });
    await good('POST', `/payments/${payments[3].id}/cancel`);
  });
  const idsOf = (...places: readonly number[]) => places.map((place) => payments[place].id);
  const found = (query: string) => namesIn(`/payments?${query}`, 'id');

  test('payments by order and customer, of the shop of the key alone, newest first and in pages', async () => {
    assert.deepEqual(await found('order_id=A-1'), idsOf(3, 1));
    assert.deepEqual(await found('order_id=A-1,%20b'), idsOf(0), 'a comma is part of it');
    assert.deepEqual(await found('customer_id=ann'), idsOf(1, 0));
    assert.deepEqual(await found('order_id=A-1&customer_id=ann'), idsOf(1));
    assert.deepEqual(await found('order_id=A-1&status=cancelled,failed'), idsOf(3));
    assert.deepEqual(await found('order_id=A-'), []);
    assert.deepEqual(await walked('/payments?order_id=A-1', 'id'), idsOf(3, 1));
    const { body } = await sibling('GET', '/payments?order_id=A-1');
    assert.equal(body.items.length, 1);
    assert.ok(!payments.some(({ id }) => id === body.items[0].id));
    for (const wrong of [
      'order_id=',
      `order_id=${'x'.repeat(256)}`,
      'customer_id=',
      'order_id=a&order_id=b',
    ])
      assert.equal((await merchant.call('GET', `/payments?${wrong}`)).status, 400, wrong);
  });

  test('a cursor belongs to its filters', async () => {
    const { next_cursor } = await good('GET', '/payments?order_id=A-1&limit=1');
    messageOf(await merchant.call('GET', `/payments?order_id=a-1&cursor=${next_cursor}`));
    messageOf(await merchant.call('GET', `/payments?cursor=${next_cursor}`));
  });

  test('by moments: from the first on, before the second, and not together with days', async () => {
    const [, first, second] = payments;
    const from = encodeURIComponent(first.created_at.replace('Z', '+00:00'));
    const within = `created_from=${from}&created_to=${second.created_at}`;
    assert.deepEqual(await found(`customer_id=ann&created_from=${from}`), idsOf(1));
    assert.deepEqual(await found(`customer_id=bob&created_to=${second.created_at}`), []);
    assert.ok((await found(within)).includes(first.id));
    assert.ok(!(await found(within)).includes(second.id));
    const later = first.created_at.replace('Z', '0001Z');
    assert.deepEqual(
      await found(`customer_id=ann&created_from=${later}`),
      [],
      'a part of a ms later',
    );
    assert.deepEqual(await found(`created_from=${from}&created_to=${from}`), []);
    assert.deepEqual(await found(`customer_id=ann&created_from=${from}&status=cancelled`), []);
    const far = 'created_from=0000-01-01T00:00:00Z&created_to=9999-12-31T23:59:59-14:00';
    assert.equal((await found(`customer_id=ann&${far}`)).length, 2);
    for (const path of ['/payments', '/payouts', '/refunds']) {
      for (const day of ['from', 'to'])
        for (const moment of ['created_from', 'created_to'])
          assert.match(
            messageOf(
              await merchant.call(
                'GET',
                `${path}?${day}=2026-05-06&${moment}=2026-05-06T10:00:00Z`,
              ),
            ),
            new RegExp(`^${moment}: not together with ${day}`),
          );
      for (const wrong of [
        '2026-05-06',
        'now',
        '2026-05-06T10:00:00',
        '',
        '2026-13-06T10:00:00Z',
        '+275760-09-13T00:00:00Z',
      ])
        assert.match(
          messageOf(
            await merchant.call('GET', `${path}?created_from=${encodeURIComponent(wrong)}`),
          ),
          /^created_from: expected a moment/,
          wrong,
        );
      messageOf(
        await merchant.call(
          'GET',
          `${path}?created_from=2026-05-06T10:00:01Z&created_to=2026-05-06T10:00:00Z`,
        ),
      );
    }
  });

  test('refunds by payment, and by moments', async () => {
    const made = await good('POST', '/payments', { amount: 10_000, method: 'sbp' });
    await pay(made.payment_url);
    const { id } = made.payment;
    await untilSucceeded(id);
    const refunds: any[] = [];
    for (const amount of [100, 200])
      refunds.push(await good('POST', `/payments/${id}/refund`, { amount }));
    const ids = refunds.map(({ id: one }) => one).toReversed();
    assert.deepEqual(await namesIn(`/refunds?payment_id=${id}`, 'id'), ids);
    assert.deepEqual(
      await namesIn(`/refunds?payment_id=${id.toUpperCase()}&status=succeeded`, 'id'),
      ids,
    );
    assert.deepEqual(await walked(`/refunds?payment_id=${id}`, 'id'), ids);
    assert.deepEqual(
      await namesIn(`/refunds?payment_id=${id}&created_to=${refunds[0].created_at}`, 'id'),
      [],
    );
    assert.deepEqual(await namesIn(`/refunds?payment_id=${merchant.id}`, 'id'), []);
    assert.match(messageOf(await merchant.call('GET', '/refunds?payment_id=A-1')), /^payment_id: /);
    assert.deepEqual((await sibling('GET', `/refunds?payment_id=${id}`)).body.items, []);
  });

  test('one payment by its public number, of the shop of the key alone', async () => {
    const [{ id, public_id: number }] = payments;
    const read = await good('GET', `/payments/${number}`);
    assert.deepEqual(read, await good('GET', `/payments/${id}`));
    assert.equal((await sibling('GET', `/payments/${number}`)).status, 404);
    const stranger = await makeMerchant(service);
    assert.equal((await stranger.call('GET', `/payments/${number}`)).status, 404);
    for (const other of [
      'P-',
      'P-1x',
      `${number}0`,
      `P-${'9'.repeat(19)}`,
      `P-0${number.slice(2)}`,
    ])
      assert.equal((await merchant.call('GET', `/payments/${other}`)).status, 404, other);
    for (const act of ['cancel', 'capture', 'refund'])
      assert.equal((await merchant.call('POST', `/payments/${number}/${act}`)).status, 404, act);
    assert.equal((await merchant.call('GET', `/receipts/${number}`)).status, 404);
    const ask = 'query ($id: ID!) { payment(id: $id) { id } }';
    const { payment } = await askGraph(service, ask, { id: number }, merchant.key);
    assert.equal(payment.id, id);
  });

  test('subscriptions and tokens by customer and status: whole, or in pages', async () => {
    const bound: string[] = [];
    for (const customer_ref of ['carl', 'dora', 'carl']) {
      await good('POST', '/subscriptions', { amount: 100, customer_ref });
      const { card, pay_url } = await good('POST', '/tokens', { customer_ref });
      bound.push(card.id);
      if (bound.length > 1) continue;
      await payByCard(pay_url);
      await confirmAtBank(pay_url);
    }
    for (const path of ['/subscriptions', '/tokens']) {
      const whole = await good('GET', `${path}?customer_ref=carl`);
      assert.deepEqual(Object.keys(whole), ['items']);
      const refs = whole.items.map((one: any) => one.customer_ref);
      assert.deepEqual(new Set(refs), new Set(['carl']));
      const ids = whole.items.map(({ id }: any) => id);
      assert.deepEqual(await walked(`${path}?customer_ref=carl`, 'id'), ids);
      const page = await good('GET', `${path}?limit=200`);
      assert.deepEqual([Object.keys(page), page.next_cursor], [['items', 'next_cursor'], null]);
      assert.deepEqual(page.items, (await good('GET', path)).items);
      const { next_cursor } = await good('GET', `${path}?limit=1`);
      const rest = await good('GET', `${path}?cursor=${next_cursor}`);
      assert.deepEqual(rest.items, page.items.slice(1));
      messageOf(await merchant.call('GET', `${path}?customer_ref=carl&cursor=${next_cursor}`));
      assert.deepEqual(await namesIn(`${path}?customer_ref=car`, 'id'), []);
      for (const wrong of ['limit=0', 'limit=201', 'cursor=x', 'status=paid', 'customer_ref='])
        messageOf(await merchant.call('GET', `${path}?${wrong}`));
      const all = await namesIn(`${path}?status=pending,active,cancelled`, 'id');
      assert.equal(all.length, page.items.length);
      assert.deepEqual(await walked(`${path}?status=pending,active`, 'id'), all);
    }
    const active = await eventually(async () => {
      const answer = await good('GET', '/tokens?status=active');
      return answer.items.length > 0 ? answer : null;
    }, 'the bound token');
    assert.deepEqual(
      [Object.keys(active), active.items.map(({ id }: any) => id)],
      [['items'], [bound[0]]],
    );
    assert.deepEqual(await namesIn('/tokens?status=active&customer_ref=carl', 'id'), [bound[0]]);
    assert.deepEqual(await namesIn('/tokens?status=active&customer_ref=dora', 'id'), []);
    const carls = await namesIn(
      '/subscriptions?status=active,pending&customer_ref=carl',
      'customer_ref',
    );
    assert.deepEqual(carls, ['carl', 'carl']);
  });
});

describe('the page of what waits for its buyer is read again', () => {
  const endpointsLog = (id: string) => good('GET', `/event-log?subject_id=${id}`);

  test('of a payment while it is pending or processing, and in no list, event or webhook', async () => {
    const body = { amount: 10_007, method: 'sbp' };
    const key = { 'idempotency-key': 'page' };
    const { body: made } = await merchant.call('POST', '/payments', body, key);
    const { payment, payment_url } = made;
    const read = () => good('GET', `/payments/${payment.id}`);
    assert.equal(payment.payment_url, payment_url);
    assert.equal((await read()).payment_url, payment_url);
    await pay(payment_url);
    const processing = await read();
    assert.deepEqual([processing.status, processing.payment_url], ['processing', payment_url]);
    await untilSucceeded(payment.id);
    assert.equal((await read()).payment_url, null);
    const { body: again } = await merchant.call('POST', '/payments', body, key);
    assert.deepEqual([again.payment.payment_url, again.payment_url], [null, payment_url]);
    const [item] = (await good('GET', '/payments?limit=1')).items;
    assert.deepEqual([item.id, 'payment_url' in item], [payment.id, false]);
    const items = await eventually(async () => {
      const { items: logged } = await endpointsLog(payment.id);
      return logged.length > 0 && logged;
    }, 'the logged event');
    for (const { data } of items) assert.ok(!('payment_url' in data));
  });

  test('of a cancelled payment never', async () => {
    const { payment } = await good('POST', '/payments', { amount: 100 });
    await good('POST', `/payments/${payment.id}/cancel`);
    assert.equal((await good('GET', `/payments/${payment.id}`)).payment_url, null);
  });

  test('of a token and a subscription while they are pending, in no list', async () => {
    const customer_ref = 'page';
    const { card, pay_url } = await good('POST', '/tokens', { customer_ref });
    assert.equal(card.pay_url, pay_url);
    const begun = await good('POST', '/subscriptions', { amount: 100, customer_ref });
    const { subscription, initial_payment } = begun;
    assert.equal(subscription.pay_url, begun.pay_url);
    assert.equal(initial_payment.payment_url, begun.pay_url);
    const read = () => good('GET', `/subscriptions/${subscription.id}`);
    assert.equal((await read()).pay_url, begun.pay_url);
    for (const path of ['/tokens', '/subscriptions'])
      for (const query of ['', '&limit=1'])
        for (const item of (await good('GET', `${path}?customer_ref=page${query}`)).items)
          assert.ok(!('pay_url' in item), path);
    await payByCard(begun.pay_url);
    await confirmAtBank(begun.pay_url);
    const active = await eventually(async () => {
      const found = await read();
      return found.status === 'active' && found;
    }, 'the bound subscription');
    assert.equal(active.pay_url, null);
  });
});
