/** Facts about test and live mode of one shop. */
import assert from 'node:assert/strict';
import { pay } from '../support/buyer.ts';
import { askGraph, callRest, openStream, type Answer } from '../support/merchant.ts';
import {
  cardOf,
  enableLive,
  makeLiveMerchant,
  onPage,
  operate,
  order,
  routeToYooKassa,
  untilStatus,
  type LiveMerchant,
} from './harness.ts';
import { harness, type Facts } from './shared-harness.ts';
import { eventually } from '../support/eventually.ts';

/** A merchant of the fact's own, with both modes. */
const openShop = async (): Promise<LiveMerchant> => {
  const { service } = harness();
  const merchant = await makeLiveMerchant(service);
  await enableLive(service, merchant.id);
  await routeToYooKassa(service, merchant);
  return merchant;
};

const testCallOf =
  ({ testKey }: LiveMerchant) =>
  (method: string, path: string, body?: unknown): Promise<Answer> =>
    callRest({ rest: harness().service.rest, key: testKey }, method, path, body);

/** Amounts distinguish the modes where no id is shown: the live ones are a tenth of the others. */
const unitOf = (mode: string): number => (mode === 'test' ? 100_000 : 10_000);

type Call = LiveMerchant['call'];

/** The page's button, whatever it answers: the payment may be paid already. */
const pressed = (url: string): Promise<unknown> =>
  onPage(url, 'pay').catch((error: Error) => assert.match(error.message, /not_pending/));

/** Makes one of everything; gives the ids. */
const makeEach = async (mode: 'test' | 'live', call: Call): Promise<ReadonlySet<string>> => {
  const unit = unitOf(mode);
  const paid = await call('POST', '/payments', { amount: 9 * unit, method: 'sbp' });
  // The live buyer confirms by himself, when the order was registered with the payment; where the
  // bank was too slow for that, the page registers it.
  if (mode === 'test') await pay(paid.body.payment_url);
  else await pressed(paid.body.payment_url);
  const { id } = paid.body.payment;
  await eventually(
    async () => (await call('GET', `/payments/${id}`)).body.status === 'succeeded',
    `the ${mode} payment`,
  );
  const refund = await call('POST', `/payments/${id}/refund`, { amount: unit });
  const payout = await call('POST', '/payouts', {
    amount: 2 * unit,
    phone: '+79161234567',
    bank_id: '100000000111',
  });
  const customer = { customer_ref: `c-${mode}`, amount: unit, method: 'sbp' };
  const token = await call('POST', '/tokens', customer);
  const subscription = await call('POST', '/subscriptions', { ...customer, period: 'month' });
  assert.deepEqual(
    [refund.status, payout.status, token.status, subscription.status],
    [201, 201, 201, 201],
    JSON.stringify([mode, subscription.body]),
  );
  const ids = [
    id,
    refund.body.id,
    payout.body.payout.id,
    token.body.card.id,
    subscription.body.subscription.id,
  ];
  return new Set(ids);
};

const paths = [
  '/payments',
  '/refunds',
  '/payouts',
  '/tokens',
  '/subscriptions',
  '/ledger',
  '/ledger?format=csv',
  '/balance',
];

/** A mode shows what was made in it, and nothing of the other. */
const showsItsOwn = async (
  mode: 'test' | 'live',
  call: Call,
  own: ReadonlySet<string>,
  foreign: ReadonlySet<string>,
): Promise<void> => {
  const answers = await Promise.all(paths.map((path) => call('GET', path)));
  const answered = answers.map(({ body }) =>
    typeof body === 'string' ? body : JSON.stringify(body),
  );
  for (const [index, text] of answered.entries())
    for (const id of foreign) assert.ok(!text.includes(id), `${mode} ${paths[index]} shows ${id}`);
  const seen = answered.join('\n');
  for (const id of own) assert.ok(seen.includes(id), `${mode} shows its own ${id} nowhere`);
  for (const kind of ['payments', 'payouts', 'subscriptions', 'tokens']) {
    for (const id of foreign)
      assert.ok(
        [404, 405].includes((await call('GET', `/${kind}/${id}`)).status),
        `${mode} reads ${kind}/${id}`,
      );
  }
  const unit = unitOf(mode);
  // A live payment costs its fee, which is far less than any amount of the other mode.
  const isOwn = async (): Promise<boolean> => {
    const { balance } = (await call('GET', '/balance')).body;
    return balance <= 6 * unit && balance > 5.8 * unit;
  };
  await eventually(isOwn, `the ${mode} balance, of its own movements alone`);
};

export const modeFacts: Facts = {
  'everything is made in both modes and nothing of one is in a list, a sum, a file or a stream of the other':
    async () => {
      const { service, acquirer } = harness();
      const merchant = await openShop();
      const asTest = testCallOf(merchant);
      await acquirer.callbacks({ confirmAfter_ms: 100 });
      const streams = [
        await openStream(service.rest, merchant.testKey),
        await openStream(service.rest, merchant.key),
      ] as const;
      await eventually(
        () => streams.every(({ comments }) => comments.includes(': connected')),
        'both streams',
      );
      const tried = await makeEach('test', asTest);
      const live = await makeEach('live', merchant.call);
      await showsItsOwn('test', asTest, tried, live);
      await showsItsOwn('live', merchant.call, live, tried);
      const events = streams.map((stream) =>
        stream.events.map(({ data }) => JSON.stringify(data)).join('\n'),
      );
      for (const id of live) assert.ok(!events[0]?.includes(id), 'the stream of the test key');
      for (const id of tried) assert.ok(!events[1]?.includes(id), 'the stream of the live key');
      const books = JSON.stringify(await acquirer.books());
      for (const id of tried)
        assert.ok(!books.includes(id), 'no test operation reaches an acquirer');
      const differing = (await askGraph(service, '{ alerts(first: 50) { nodes { kind detail } } }'))
        .alerts.nodes;
      assert.deepEqual(differing, []);
      await Promise.all(streams.map((stream) => stream.close()));
      await acquirer.callbacks({ confirmAfter_ms: null });
    },

  'a live payment’s own webhook goes to https alone, a test payment’s also to http where development allows it':
    async () => {
      const merchant = await openShop();
      const asTest = testCallOf(merchant);
      const body = { amount: 1_000, method: 'sbp', webhook_url: 'http://127.0.0.1:9/hook' };
      const [live, tried] = [
        await merchant.call('POST', '/payments', body),
        await asTest('POST', '/payments', body),
      ];
      assert.deepEqual(
        [live.status, live.body.error.code, tried.status],
        [400, 'bad_request', 201],
      );
      assert.match(live.body.error.message, /webhook_url.*https/);
      const inside = { ...body, webhook_url: 'https://10.0.0.1/hook?secret=1' };
      assert.deepEqual((await merchant.call('POST', '/payments', inside)).body.error, {
        code: 'bad_request',
        message: 'webhook_url: must resolve to a public address, got "10.0.0.1"',
        fields: [
          { path: 'webhook_url', message: 'must resolve to a public address, got "10.0.0.1"' },
        ],
      });
      assert.equal(
        (
          await merchant.call('POST', '/payments', {
            ...body,
            webhook_url: 'https://shop.example/hook',
          })
        ).status,
        201,
      );
    },

  'when live mode is turned off nothing new begins, on pages and from saved cards neither; what was begun ends, and test mode continues':
    async () => {
      const { service, acquirer } = harness();
      const merchant = await openShop();
      const asTest = testCallOf(merchant);
      await acquirer.callbacks({ confirmAfter_ms: 100 });
      const bound = await merchant.call('POST', '/tokens', { customer_ref: 'c-off' });
      await onPage(bound.body.pay_url, 'pay', { card: cardOf() });
      const tokenOf = async () =>
        (await merchant.call('GET', '/tokens?customer_ref=c-off')).body.items[0];
      await eventually(async () => (await tokenOf()).status === 'active', 'the saved card');
      await acquirer.callbacks({ confirmAfter_ms: null });
      const [begun, waiting] = [
        await order(merchant, 20_000),
        await order(merchant, 30_000, 'any'),
      ];
      await onPage(begun.url, 'pay');
      await onPage(waiting.url, 'method', { method: 'sbp' });
      await operate(
        service,
        'mutation ($m: ID!) { merchantLiveDisable(merchantId: $m) { ... on Refused { code message } } }',
        { m: merchant.id },
      );
      await eventually(
        async () => (await merchant.call('GET', '/balance')).status === 403,
        'the refusal of the key',
      );
      const refused = await fetch(`${waiting.url}/pay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: new URL(waiting.url).origin },
        body: '{}',
      });
      assert.equal(refused.status, 403, await refused.text());
      const ordered = async (id: string) =>
        (await acquirer.books()).payments.find(({ metadata }) => metadata.operation_id === id);
      assert.equal(await ordered(waiting.payment.id), undefined);
      const { confirmation } = await eventually(
        () => ordered(begun.payment.id),
        'the order at the bank',
      );
      await acquirer.confirm(confirmation.confirmation_data, 'pay');
      assert.equal((await asTest('POST', '/payments', { amount: 1_000 })).status, 201);
      await enableLive(service, merchant.id);
      await eventually(
        async () => (await merchant.call('GET', '/balance')).status === 200,
        'the key again',
      );
      await untilStatus(merchant, begun.payment.id, 'succeeded');
      assert.equal((await onPage(waiting.url, 'pay')).status, 'processing');
    },
};
