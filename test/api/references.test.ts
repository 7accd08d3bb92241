/** References of a merchant's own at payouts, refunds, charges, tokens and subscriptions. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeFundedMerchant } from '../sdk/funded.ts';

let service: ServiceInUse;
let merchant: Awaited<ReturnType<typeof makeFundedMerchant>>;
before(async () => {
  service = await openPlainService();
  merchant = await makeFundedMerchant(service);
});
after(() => service?.stop());

const good = async (method: string, path: string, body?: unknown): Promise<any> => {
  const answer = await merchant.call(method, path, body);
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const metadata = { zone: 'b', a: '' };
const namesOf = (object: object) => Object.keys(object);
const sbp = { amount: 100, phone: '+79161234567', bank_id: '100000000111' };

/** What no metadata may be. */
const wrongMetadata = [
  [],
  'a',
  { a: 1 },
  { a: 'x'.repeat(501) },
  { ['n'.repeat(129)]: 'a' },
  { '': 'a' },
  Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`n${n}`, 'a'])),
];
const refusesWrong = async (path: string, body: object): Promise<void> => {
  for (const wrong of wrongMetadata) {
    const answer = await merchant.call('POST', path, { ...body, metadata: wrong });
    assert.deepEqual(
      [answer.status, answer.body.error?.code],
      [400, 'bad_request'],
      `${path} ${JSON.stringify(wrong)}`,
    );
  }
};

test('a payout has an order and metadata, in answers, lists and webhooks, and is found by the order', async () => {
  const order_id = 'W-1'.padEnd(64, 'x');
  const { payout } = await good('POST', '/payouts', { ...sbp, order_id, metadata });
  assert.deepEqual([payout.order_id, payout.metadata], [order_id, metadata]);
  assert.deepEqual(namesOf(payout.metadata), ['zone', 'a'], 'in the order in which they came');
  const { payout: second } = await good('POST', '/payouts', { ...sbp, order_id });
  assert.deepEqual(second.metadata, {});
  const { payout: bare } = await good('POST', '/payouts', { ...sbp, order_id: null });
  assert.deepEqual([bare.order_id, bare.metadata], [null, {}]);
  const read = await good('GET', `/payouts/${payout.id}`);
  assert.deepEqual([read.order_id, read.metadata], [order_id, metadata]);
  const found = await good('GET', `/payouts?order_id=${order_id}&limit=1`);
  const rest = await good(
    'GET',
    `/payouts?order_id=${order_id}&limit=1&cursor=${found.next_cursor}`,
  );
  assert.deepEqual([found.items[0].id, rest.items[0].id], [second.id, payout.id]);
  assert.deepEqual([rest.next_cursor, rest.items[0].metadata], [null, metadata]);
  assert.deepEqual((await good('GET', '/payouts?order_id=W-1')).items, []);
  for (const wrong of ['', 'x'.repeat(65), 5])
    assert.equal(
      (await merchant.call('POST', '/payouts', { ...sbp, order_id: wrong })).status,
      400,
    );
  await refusesWrong('/payouts', sbp);
  const logged = await eventually(async () => {
    const { items } = await good('GET', `/event-log?subject_id=${payout.id}`);
    return items.at(-1);
  }, 'the event of the payout');
  assert.deepEqual([logged.data.order_id, logged.data.metadata], [order_id, metadata]);
});

test('so has each item of a batch, and what is wrong with one fails that one alone', async () => {
  const items = [
    { ...sbp, order_id: 'B-1', metadata },
    { ...sbp, order_id: 'x'.repeat(65) },
    { ...sbp, metadata: { a: 'x'.repeat(501) } },
    sbp,
  ];
  const body = { method: 'payouts_sbp', items };
  const { results } = await good('POST', '/payouts/batch', body);
  assert.deepEqual(
    results.map(({ status, code }: any) => [status, code]),
    [
      ['created', null],
      ['failed', 'bad_request'],
      ['failed', 'bad_request'],
      ['created', null],
    ],
  );
  const [first, , , last] = results;
  const [one] = (await good('GET', '/payouts?order_id=B-1')).items;
  assert.deepEqual([one.id, one.metadata], [first.payout_id, metadata]);
  const bare = await good('GET', `/payouts/${last.payout_id}`);
  assert.deepEqual([bare.order_id, bare.metadata], [null, {}]);
  const ill = { ...body, items: [{ ...sbp, metadata: { a: 1 } }] };
  assert.equal((await merchant.call('POST', '/payouts/batch', ill)).status, 400);
});

test('the balance in another currency is the same object, with zeros where there is nothing', async () => {
  // What the tests before pay out is no longer on its way.
  await eventually(async () => {
    const { items } = await good('GET', '/payouts');
    return items.every(({ completed_at: ended }: any) => ended !== null);
  }, 'the end of all payouts');
  const rubles = await good('GET', '/balance');
  assert.ok(rubles.balance > 0 && rubles.currency === 'RUB');
  const same = await good('GET', '/balance?currency=RUB');
  assert.deepEqual([same.balance, same.shops.length], [rubles.balance, 1]);
  const { shops, ...nothing } = await good('GET', '/balance?currency=JPY');
  assert.deepEqual(nothing, { balance: 0, available: 0, currency: 'JPY' });
  assert.deepEqual(shops, [{ ...rubles.shops[0], balance: 0 }]);
  const made = { amount: 700, currency: 'JPY', method: 'cards' };
  const { payment, payment_url } = await good('POST', '/payments', made);
  await payByCard(payment_url);
  await confirmAtBank(payment_url).catch(() => {});
  await eventually(
    async () => (await good('GET', `/payments/${payment.id}`)).status === 'succeeded',
    'the payment in yen',
  );
  assert.equal((await good('GET', '/balance?currency=JPY')).balance, 700);
  assert.equal((await good('GET', '/balance')).balance, rubles.balance);
  for (const wrong of ['', 'usd', 'XXX', 'US', 'USD,EUR'])
    assert.equal((await merchant.call('GET', `/balance?currency=${wrong}`)).status, 400, wrong);
});

test('what is created in a currency that no method of the shop takes is 422', async () => {
  for (const path of ['/payments', '/links']) {
    const { status, body } = await merchant.call('POST', path, {
      amount: 700,
      currency: 'USD',
      method: 'sbp',
    });
    assert.deepEqual([status, body.error.code], [422, 'method_unsupported'], path);
  }
});

test('a refund has metadata wherever it is', async () => {
  const path = `/payments/${merchant.paidIds[0]}`;
  const refund = await good('POST', `${path}/refund`, { amount: 100, metadata });
  assert.deepEqual(refund.metadata, metadata);
  const bare = await good('POST', `${path}/refund`, { amount: 100 });
  assert.deepEqual(bare.metadata, {});
  const { refunds } = await good('GET', path);
  assert.deepEqual(
    refunds.map((one: any) => one.metadata),
    [metadata, {}],
  );
  const { items } = await good('GET', `/refunds?payment_id=${merchant.paidIds[0]}`);
  assert.deepEqual(
    items.map((one: any) => one.metadata),
    [{}, metadata],
  );
  await refusesWrong(`${path}/refund`, { amount: 100 });
  const key = { 'idempotency-key': 'refund-metadata' };
  const again = (pairs: object) =>
    merchant.call('POST', `${path}/refund`, { amount: 100, metadata: pairs }, key);
  assert.equal((await again({ a: '1' })).status, 201);
  assert.deepEqual((await again({ a: '1' })).body.metadata, { a: '1' });
  assert.equal((await again({ a: '2' })).status, 409);
});

test('tokens keep metadata, and each charge has its own', async () => {
  const customer_ref = 'references';
  const { card, pay_url } = await good('POST', '/tokens', { customer_ref, metadata });
  assert.deepEqual(card.metadata, metadata);
  const [listed] = (await good('GET', `/tokens?customer_ref=${customer_ref}`)).items;
  assert.deepEqual(listed.metadata, metadata);
  await payByCard(pay_url);
  await confirmAtBank(pay_url);
  await eventually(
    async () => (await good('GET', '/tokens?status=active')).items.length > 0,
    'the bound token',
  );
  const given = { shelf: '9', mode: 'mine', token_id: 'mine' };
  const charge = await good('POST', `/tokens/${card.id}/charge`, { amount: 500, metadata: given });
  const { shelf, mode, token_id, zone } = charge.metadata;
  assert.deepEqual([shelf, mode, token_id, zone], ['9', 'test', card.id, undefined]);
  const failing = { amount: 500, metadata: { simulator_outcome: 'failed' } };
  const failed = await good('POST', `/tokens/${card.id}/charge`, failing);
  assert.deepEqual([failed.status, failed.metadata.simulator_outcome], ['failed', 'failed']);
  await refusesWrong(`/tokens/${card.id}/charge`, { amount: 500 });
  await refusesWrong('/tokens', { customer_ref });
});

test("a subscription's charges carry its metadata, and its buyer returns where it says", async () => {
  const return_url = 'https://shop.example/back?a=1';
  for (const trial_days of [0, 3]) {
    const body = { amount: 700, customer_ref: 'sub', trial_days, metadata, return_url };
    const begun = await good('POST', '/subscriptions', body);
    const { subscription, initial_payment: first } = begun;
    assert.deepEqual([subscription.metadata, first.return_url], [metadata, return_url]);
    assert.deepEqual(
      [first.metadata.zone, first.metadata.a, first.metadata.subscription_id],
      ['b', '', subscription.id],
    );
    const read = await good('GET', `/subscriptions/${subscription.id}`);
    assert.deepEqual(read.metadata, metadata);
  }
  const { items } = await good('GET', '/subscriptions?customer_ref=sub');
  assert.deepEqual(
    items.map((one: any) => one.metadata),
    [metadata, metadata],
  );
  const bare = await good('POST', '/subscriptions', { amount: 700, customer_ref: 'bare' });
  assert.deepEqual([bare.subscription.metadata, bare.initial_payment.return_url], [{}, null]);
  await refusesWrong('/subscriptions', { amount: 700, customer_ref: 'sub' });
  for (const wrong of [
    'http://shop.example',
    'x',
    '',
    5,
    `https://a.example/${'x'.repeat(2_048)}`,
  ]) {
    const body = { amount: 700, customer_ref: 'sub', return_url: wrong };
    assert.equal((await merchant.call('POST', '/subscriptions', body)).status, 400);
  }
});
