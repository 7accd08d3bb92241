/** A shop with a cash register, over HTTP. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { issueKey, requireReceipts } from '../support/cabinet.ts';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { comesTo, eventually } from '../support/eventually.ts';

let service: ServiceInUse;
before(async () => void (service = await openPlainService()));
after(() => service?.stop());

const demand = /^bad_request: receipt: required by the setting receiptsRequired of the shop/;

/** A client whose answers are their status with the words of the refusal. */
const clientOf = (merchant: Pick<Merchant, 'key'>) => {
  const call = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const at = { rest: service.rest, key: merchant.key };
    const answer = await callRest(at, 'POST', path, body, headers);
    return { ...answer, words: `${answer.body.error?.code}: ${answer.body.error?.message}` };
  };
  const until = (id: string, status: string) =>
    eventually(async () => {
      const at = { rest: service.rest, key: merchant.key };
      return (await callRest(at, 'GET', `/payments/${id}`)).body.status === status;
    }, `${id} ${status}`);
  const paid = async (fields: object = {}): Promise<string> => {
    const made = await call('/payments', { amount: 1_000, method: 'sbp', ...fields });
    assert.equal(made.status, 201, made.words);
    await pay(made.body.payment_url);
    await until(made.body.payment.id, 'succeeded');
    return made.body.payment.id;
  };
  const held = async (fields: object = {}): Promise<string> => {
    const body = { amount: 1_000, method: 'cards', capture: 'manual', ...fields };
    const made = await call('/payments', body);
    assert.equal(made.status, 201, made.words);
    await payByCard(made.body.payment_url);
    await until(made.body.payment.id, 'authorized');
    return made.body.payment.id;
  };
  return { call, paid, held };
};

/** Switches the setting, and waits until this process' keys bring it along. */
const demandReceipts = async (merchant: Merchant, required = true): Promise<void> => {
  const shop = await requireReceipts(service, merchant, required);
  assert.deepEqual([shop.__typename, shop.receiptsRequired], ['Shop', required]);
  const probe = async (): Promise<number> =>
    (await clientOf(merchant).call('/payments', { amount: 100 })).status;
  await comesTo(required ? 400 : 201, probe);
};

// A setting reaches the keys after a second, and money comes after three: the tests wait at the
// same time.
describe('receipts that are required', { concurrency: true }, () => {
  describe('a shop that demands receipts', () => {
    test('has its payments, and captures and refunds of a part, refused without one', async () => {
      const merchant = await makeMerchant(service);
      const { call, paid, held } = clientOf(merchant);
      const [first, second, holding] = await Promise.all([paid(), paid(), held()]);
      await demandReceipts(merchant);
      const bare = await call('/payments', { amount: 1_000 });
      assert.equal(bare.status, 400);
      assert.match(bare.words, demand);
      const nothing = await call('/payments', { amount: 1_000, receipt: null });
      assert.match(nothing.words, demand);
      for (const path of [`/payments/${first}/refund`, `/payments/${holding}/capture`]) {
        const refused = await call(path, { amount: 400 });
        assert.equal(refused.status, 400, path);
        assert.match(refused.words, demand);
      }
      assert.equal((await call('/payments', { amount: 9, receipt: receiptOf(9) })).status, 201);
      const part = { amount: 400, receipt: receiptOf(400) };
      assert.equal((await call(`/payments/${first}/refund`, part)).status, 201);
      // What is left is a part, too; everything is not.
      assert.match((await call(`/payments/${first}/refund`, {})).words, demand);
      assert.equal((await call(`/payments/${second}/refund`, {})).status, 201);
      assert.equal((await call(`/payments/${holding}/capture`, part)).status, 200);
      // A payment with a receipt says in its own words what a part of it needs.
      const withOne = await paid({ receipt: receiptOf(1_000) });
      const mistake = await call(`/payments/${withOne}/refund`, { amount: 1 });
      assert.match(mistake.words, /since the payment has a receipt/);
      await demandReceipts(merchant, false);
      assert.equal((await call(`/payments/${first}/refund`, { amount: 1 })).status, 201);
    });

    test('captures everything without one', async () => {
      const merchant = await makeMerchant(service);
      const { call, held } = clientOf(merchant);
      const holding = await held();
      await demandReceipts(merchant);
      assert.equal((await call(`/payments/${holding}/capture`, {})).status, 200);
    });

    test('answers what was made before under its key as before, and keys of refusals stay free', async () => {
      const merchant = await makeMerchant(service);
      const { call, paid, held } = clientOf(merchant);
      const [id, holding] = await Promise.all([paid(), held()]);
      const calls = [
        ['/payments', { amount: 700 }],
        [`/payments/${id}/refund`, { amount: 400 }],
        [`/payments/${holding}/capture`, { amount: 400 }],
      ] as const;
      const keyed = calls.map(([path, body]) => ({
        path,
        body,
        key: { 'idempotency-key': randomUUID() },
      }));
      for (const { path, body, key } of keyed) assert((await call(path, body, key)).status < 300);
      await demandReceipts(merchant);
      for (const { path, body, key } of keyed) {
        const again = await call(path, body, key);
        assert.equal(again.status, 200, again.words);
        assert.equal(again.headers.get('idempotent-replayed'), 'true');
      }
      const key = { 'idempotency-key': randomUUID() };
      assert.match((await call('/payments', { amount: 1 }, key)).words, demand);
      const given = await call('/payments', { amount: 1, receipt: receiptOf(1) }, key);
      assert.equal(given.status, 201);
    });

    test('demands nothing of another shop of the merchant, nor of another merchant', async () => {
      const merchant = await makeMerchant(service);
      const stranger = await makeMerchant(service);
      const made = await askGraph(
        service,
        'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "B") { ... on Shop { id receiptsRequired } } }',
        { m: merchant.id },
      );
      assert.equal(made.shopCreate.receiptsRequired, false);
      const key = await issueKey(service, { id: merchant.id, shopId: made.shopCreate.id });
      await demandReceipts(merchant);
      for (const other of [{ key: key.secret }, stranger]) {
        const { call, paid } = clientOf(other);
        const id = await paid();
        assert.equal((await call(`/payments/${id}/refund`, { amount: 1 })).status, 201);
      }
    });

    test('has links paid that were made before', async () => {
      const merchant = await makeMerchant(service);
      const { call } = clientOf(merchant);
      const { link } = (await call('/links', { amount: 100, uses: 2 })).body;
      await demandReceipts(merchant);
      const gone = await fetch(link.url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      assert.match(gone.headers.get('location') ?? '', /\/pay\//, await gone.text());
    });
  });

  describe('links, tokens, their charges and subscriptions of such a shop', () => {
    test('are refused without a receipt, and made with one; what was made before is answered', async () => {
      const merchant = await makeMerchant(service);
      const { call } = clientOf(merchant);
      const bound = await call('/tokens', { customer_ref: 'buyer-1' });
      await payByCard(bound.body.pay_url);
      await confirmAtBank(bound.body.pay_url);
      await eventually(async () => {
        const { items } = (await merchant.call('GET', '/tokens')).body;
        return items[0].status === 'active';
      }, 'the token is active');
      const calls = [
        ['/links', { amount: 500 }],
        [`/tokens/${bound.body.card.id}/charge`, { amount: 500 }],
        ['/subscriptions', { amount: 500, customer_ref: 'buyer-2' }],
      ] as const;
      const key = () => ({ 'idempotency-key': randomUUID() });
      const made = [];
      for (const [path, body] of calls) {
        const headers = key();
        const answer = await call(path, body, headers);
        assert(answer.status < 300, answer.words);
        made.push({ path, body, headers });
      }
      await demandReceipts(merchant);
      for (const { path, body, headers } of made)
        assert.equal((await call(path, body, headers)).headers.get('idempotent-replayed'), 'true');
      for (const [path, body] of calls) {
        const headers = key();
        const bare = await call(path, body, headers);
        assert.equal(bare.status, 400, path);
        assert.match(bare.words, demand);
        const given = await call(path, { ...body, receipt: receiptOf(500) }, headers);
        assert(given.status < 300, given.words);
      }
      const first = { customer_ref: 'buyer-3', method: 'sbp', amount: 500 };
      const headers = key();
      assert.equal((await call('/tokens', first)).status, 201);
      const wrong = await call('/tokens', { ...first, receipt: receiptOf(499) }, headers);
      assert.match(wrong.words, /^bad_request: receipt\.items: the items sum to 499/);
      const whole = { ...first, receipt: receiptOf(500) };
      const token = await call('/tokens', whole, headers);
      assert.equal(token.status, 201, token.words);
      assert.equal((await call('/tokens', whole, headers)).status, 200);
      await pay(token.body.pay_url);
      const { items } = (await merchant.call('GET', '/payments')).body;
      const payment = items.find((one: any) => one.metadata.token_id === token.body.card.id);
      await eventually(async () => {
        const path = `/receipts?payment_id=${payment.id}`;
        const [receipt] = (await merchant.call('GET', path)).body.items;
        return receipt?.type === 'payment' && receipt.amount === 500;
      }, 'the receipt of the first charge');
      // A card is verified without money.
      assert.equal((await call('/tokens', { customer_ref: 'buyer-4' })).status, 201);
      assert.match(
        (await call('/tokens', { customer_ref: 'buyer-4', receipt: receiptOf(100) })).words,
        /^bad_request: receipt: allowed only with sbp or tpay.*, got cards$/,
      );
      assert.equal(
        (await call('/links', { amount_min: 100, amount_max: 900 })).words,
        'bad_request: amount: required, with a receipt, by the setting receiptsRequired of the shop, got nothing',
      );
    });
  });

  describe('people', () => {
    const refund = `mutation ($m: ID!, $id: ID!, $amount: MinorUnits) { done: refundCreate(merchantId: $m, paymentId: $id, amount: $amount) {
    __typename ... on Refused { code message } } }`;
    const capture = `mutation ($m: ID!, $id: ID!, $amount: MinorUnits) { done: paymentCapture(merchantId: $m, id: $id, amount: $amount) {
    __typename ... on Refused { code message } } }`;

    test('give back and capture a part with a receipt only, and everything without', async () => {
      const merchant = await makeMerchant(service);
      const { paid, held } = clientOf(merchant);
      const [id, holding, other, free] = await Promise.all([paid(), held(), paid(), paid()]);
      const ask = async (query: string, of: string, amount: number | null): Promise<any> =>
        (await askGraph(service, query, { m: merchant.id, id: of, amount })).done;
      assert.equal((await ask(refund, free, 1)).__typename, 'RefundCreated');
      await requireReceipts(service, merchant, true);
      for (const [query, of] of [
        [refund, id],
        [refund, free],
        [capture, holding],
      ] as const) {
        const { code, message } = await ask(query, of, 400);
        assert.match(`${code}: ${message}`, demand);
      }
      assert.equal((await ask(refund, other, null)).__typename, 'RefundCreated');
      assert.equal((await ask(capture, holding, null)).__typename, 'PaymentCaptured');
      await requireReceipts(service, merchant, false);
      assert.equal((await ask(refund, id, 400)).__typename, 'RefundCreated');
    });
  });

  describe('the setting', () => {
    test('is audited, stays when it is said again, and is refused for a shop that is not there', async () => {
      const merchant = await makeMerchant(service);
      for (const required of [true, true, false, true])
        assert.equal(
          (await requireReceipts(service, merchant, required)).receiptsRequired,
          required,
        );
      const nowhere = { ...merchant, shopId: randomUUID() };
      assert.equal((await requireReceipts(service, nowhere, true)).code, 'not_found');
      const log = await askGraph(
        service,
        `query ($m: ID!, $s: ID!) { auditLog(merchantId: $m, action: "shop.receipts_require") { nodes { before after } }
        shop(merchantId: $m, id: $s) { receiptsRequired } }`,
        { m: merchant.id, s: merchant.shopId },
      );
      assert.equal(log.shop.receiptsRequired, true);
      const changes = log.auditLog.nodes.map(({ before: was, after: is }: any) => [was, is]);
      const [no, yes] = [{ receiptsRequired: false }, { receiptsRequired: true }];
      assert.deepEqual(changes, [
        [no, yes],
        [yes, no],
        [yes, yes],
        [no, yes],
      ]);
    });

    test('is not for a key', async () => {
      const merchant = await makeMerchant(service);
      const mutation = `mutation { shopReceiptsRequire(merchantId: "${merchant.id}", shopId: "${merchant.shopId}", required: true) { __typename } }`;
      await assert.rejects(
        askGraph(service, mutation, {}, merchant.key),
        /this operation is not for API keys/,
      );
    });

    test('holds for a socket that was open before', async () => {
      const merchant = await makeMerchant(service);
      const client = createClient({
        url: `${service.graph.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${merchant.key}` },
        retryAttempts: 0,
        lazy: false,
        onNonLazyError: () => {},
      });
      const create = async (): Promise<string> => {
        const query =
          'mutation { paymentCreate(input: { amount: 100 }) { __typename ... on Refused { code message } } }';
        const { value } = await client.iterate<{ paymentCreate: any }>({ query }).next();
        return value.data.paymentCreate.__typename;
      };
      assert.equal(await create(), 'PaymentCreated');
      await requireReceipts(service, merchant, true);
      await comesTo('Refused', create);
      await requireReceipts(service, merchant, false);
      await comesTo('PaymentCreated', create);
      await client.dispose();
    });
  });
});
