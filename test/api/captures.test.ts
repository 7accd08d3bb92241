/**
 * Two-step payments as a merchant sees them over HTTP: creation, page, capture, cancellation,
 * webhooks, stream.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { receiptOf } from '../support/receipts.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let merchant: Merchant;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
  receiver = await openReceiver();
});
after(async () => {
  await receiver?.close();
  await service?.stop();
});

const create = async (fields: object = {}) => {
  const { status, body } = await merchant.call('POST', '/payments', {
    amount: 10_000,
    method: 'cards',
    capture: 'manual',
    ...fields,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: String(body.payment.id), url: String(body.payment_url), created: body.payment };
};

const until = (id: string, status: string): Promise<any> =>
  eventually(async () => {
    const { body } = await merchant.call('GET', `/payments/${id}`);
    return body.status === status && body;
  }, `${id} ${status}`);

const authorized = async (fields: object = {}): Promise<string> => {
  const { id, url } = await create(fields);
  await payByCard(url);
  await until(id, 'authorized');
  return id;
};

const refusal = async (path: string, body?: unknown): Promise<readonly [number, string]> => {
  const answer = await merchant.call('POST', path, body);
  return [answer.status, answer.body.error?.code];
};

const eventOf = (id: string, event: string) =>
  receiver.until(({ body }) => body.event === event && body.data.id === id);

const capturing = ({ capture, amount_capturable, amount_captured, capture_before }: any) => [
  capture,
  amount_capturable,
  amount_captured,
  capture_before !== null,
];

describe('a payment that is captured by hand', { concurrency: true }, () => {
  test('is held, captured in part, and given back up to what was captured; its events and amounts say so', async () => {
    await merchant.endpoint(receiver.url, ['payment_authorized', 'payment_refunded']);
    const { id, url, created } = await create({ return_url: 'https://shop.example/done' });
    assert.deepEqual(capturing(created), ['manual', 0, 0, false]);
    assert.deepEqual(await refusal(`/payments/${id}/capture`), [409, 'payment_not_authorized']);
    await payByCard(url);
    const held = await until(id, 'authorized');
    assert.deepEqual(capturing(held), ['manual', 10_000, 0, true]);
    assert.deepEqual([held.captured_at, held.finalized_at, held.fee], [null, null, undefined]);
    const state: any = await (await fetch(`${url}/state`)).json();
    assert.equal(state.returnTo, `https://shop.example/done?payment_id=${id}&status=authorized`);
    const webhook = await eventOf(id, 'payment.authorized');
    const { payment_url: page, ...shown } = held;
    assert.deepEqual([webhook.body.data, page], [shown, null]);
    assert.deepEqual(await refusal(`/payments/${id}/capture`, { amount: 10_001 }), [
      422,
      'amount_exceeds_remainder',
    ]);
    assert.deepEqual(await refusal(`/payments/${id}/capture`, { amount: 4_003 }), [
      422,
      'capture_declined',
    ]);
    const key = { 'idempotency-key': 'part-of-it' };
    const path = `/payments/${id}/capture`;
    const captured = await merchant.call('POST', path, { amount: 4_000 }, key);
    assert.deepEqual(
      [captured.status, captured.headers.get('idempotent-replayed')],
      [200, null],
      JSON.stringify(captured.body),
    );
    const { payment } = captured.body;
    assert.deepEqual(capturing(payment), ['manual', 0, 4_000, false]);
    assert.deepEqual(
      [payment.status, payment.amount, payment.fee, payment.net],
      ['succeeded', 10_000, 0, 4_000],
    );
    const again = await merchant.call('POST', path, { amount: 4_000 }, key);
    assert.deepEqual(
      [again.status, again.headers.get('idempotent-replayed'), again.body.payment.status],
      [200, 'true', 'succeeded'],
    );
    assert.deepEqual(await refusal(path), [409, 'payment_not_authorized']);
    assert.deepEqual(await refusal(`/payments/${id}/cancel`), [409, 'not_pending']);
    assert.deepEqual(await refusal(`/payments/${id}/refund`, { amount: 4_001 }), [
      422,
      'amount_exceeds_remainder',
    ]);
    assert.equal((await merchant.call('POST', `/payments/${id}/refund`, {})).status, 201);
    const refunded = await eventOf(id, 'payment.refunded');
    assert.deepEqual(
      [refunded.body.data.status, refunded.body.data.amount_refunded],
      ['refunded', 4_000],
    );
    const { items } = (await merchant.call('GET', '/ledger')).body;
    const ledger = items
      .filter((entry: any) => entry.payment_id === id)
      .map(({ type, amount }: any) => `${type} ${amount}`);
    assert.deepEqual(ledger.toSorted(), ['payment 4000', 'refund -4000']);
    const other = receiver.received.filter(({ body }) => body.event === 'payment.succeeded');
    assert.deepEqual(other, [], 'the endpoint asked for two events');
  });

  test('is cancelled, and the hold released', async () => {
    const id = await authorized();
    const { status, body } = await merchant.call('POST', `/payments/${id}/cancel`);
    assert.deepEqual([status, body], [200, { status: 'cancelled' }]);
    assert.deepEqual(capturing(await until(id, 'cancelled')), ['manual', 0, 0, false]);
    assert.deepEqual(await refusal(`/payments/${id}/capture`), [409, 'payment_not_authorized']);
  });

  test('stays authorized while the bank does not answer, and is captured when it does', async () => {
    const [silent, late] = [await authorized(), await authorized({ amount: 10_007 })];
    for (const [id, amount] of [
      [silent, 5_006],
      [late, 10_007],
    ] as const) {
      const { status, body } = await merchant.call('POST', `/payments/${id}/capture`, { amount });
      assert.equal(status, 200);
      assert.deepEqual(
        [body.payment.status, ...capturing(body.payment)],
        ['authorized', 'manual', 0, 0, true],
      );
      assert.deepEqual(await refusal(`/payments/${id}/cancel`), [409, 'not_pending']);
    }
    assert.equal((await until(late, 'succeeded')).amount_captured, 10_007);
    assert.equal((await until(silent, 'authorized')).amount_capturable, 0);
  });

  test('a method that cannot hold is refused, also where the buyer chooses; recurrent and others are taken as before', async () => {
    assert.deepEqual(
      await refusal('/payments', { amount: 100, method: 'sbp', capture: 'manual' }),
      [422, 'method_unsupported'],
    );
    assert.deepEqual(
      await refusal('/payments', { amount: 100, method: 'recurrent', capture: 'manual' }),
      [400, 'bad_request'],
    );
    assert.deepEqual(await refusal('/payments', { amount: 100, capture: 'later' }), [
      400,
      'bad_request',
    ]);
    const { url } = await create({ method: 'any' });
    const shown: any = await (await fetch(`${url}/state`)).json();
    assert.deepEqual(shown.methods, ['cards', 'tpay', 'sberpay']);
    const usual = await create({ method: 'tpay', capture: 'automatic' });
    await pay(usual.url);
    await confirmAtBank(usual.url);
    assert.deepEqual(capturing(await until(usual.id, 'succeeded')), [
      'automatic',
      0,
      10_000,
      false,
    ]);
    assert.deepEqual(await refusal(`/payments/${usual.id}/capture`), [
      409,
      'payment_not_authorized',
    ]);
  });

  test('takes a currency that its method takes: SBP, T-Pay and SberPay roubles alone, and receipts are in roubles', async () => {
    const made = async (path: string, fields: object): Promise<readonly [number, string]> =>
      refusal(path, { amount: 1_000, currency: 'USD', ...fields });
    const unsupported = [422, 'method_unsupported'];
    const receipt = receiptOf(1_000);
    for (const path of ['/payments', '/links']) {
      for (const method of ['sbp', 'tpay', 'sberpay'])
        assert.deepEqual(await made(path, { method }), unsupported, `${path} ${method}`);
      assert.deepEqual(await made(path, { method: 'tpay', capture: 'manual' }), unsupported);
      for (const fields of [{ method: 'cards' }, {}, { method: 'cards', capture: 'manual' }])
        assert.deepEqual(await made(path, fields), [201, undefined]);
      assert.deepEqual(await made(path, { receipt }), [400, 'bad_request']);
      assert.deepEqual(await made(path, { currency: 'RUB', receipt }), [201, undefined]);
    }
    const { id, url } = await create({ method: 'any', capture: 'automatic', currency: 'USD' });
    const shown: any = await (await fetch(`${url}/state`)).json();
    assert.deepEqual(shown.methods, ['cards']);
    const choose = async (method: string): Promise<readonly [number, string]> => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ method });
      const chosen = await fetch(`${url}/method`, { method: 'POST', headers, body });
      const answer: any = await chosen.json();
      return [chosen.status, answer.error?.code];
    };
    assert.deepEqual(await choose('sbp'), unsupported);
    assert.deepEqual(await choose('cards'), [200, undefined]);
    await payByCard(url);
    await until(id, 'succeeded');
    assert.deepEqual(await refusal(`/payments/${id}/refund`, { amount: 1_000, receipt }), [
      400,
      'bad_request',
    ]);
    const held = await authorized({ currency: 'USD' });
    assert.deepEqual(await refusal(`/payments/${held}/capture`, { amount: 1_000, receipt }), [
      400,
      'bad_request',
    ]);
  });

  test('is found by its status, and not by another shop', async () => {
    const id = await authorized();
    const listed = (await merchant.call('GET', '/payments?status=authorized')).body.items;
    assert.ok(listed.some((payment: any) => payment.id === id));
    const other = await makeMerchant(service);
    const { status } = await other.call('POST', `/payments/${id}/capture`, {});
    assert.equal(status, 404);
  });
});
