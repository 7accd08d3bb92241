import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cardWith3ds } from '../acquirer/api.ts';
import { askGraph, callRest, eventually } from '../support/merchant.ts';
import { cardOf, enableLive, makeLiveMerchant, onPage, openLiveStage, order, routeToYooKassa, untilStatus, type LiveStage } from './stage.ts';

describe('live payments at YooKassa, emulated as a process of its own', () => {
  let stage: LiveStage;
  before(async () => {
    stage = await openLiveStage();
  });
  after(() => stage.close());

  const atBank = async (operationId: string): Promise<any> =>
    eventually(async () => (await stage.acquirer.books()).payments.find(({ metadata }) => metadata.operation_id === operationId), 'the order at the bank');
  const allAtBank = async (operationId: string): Promise<any[]> =>
    (await stage.acquirer.books()).payments.filter(({ metadata }) => metadata.operation_id === operationId);
  const confirmed = async (operationId: string, decision: 'pay' | 'refuse'): Promise<void> => {
    const { confirmation } = await atBank(operationId);
    await stage.acquirer.confirm(confirmation.confirmation_data ?? confirmation.confirmation_url, decision);
  };
  const alerts = async (): Promise<any[]> => (await askGraph(stage.service, '{ alerts(first: 50) { nodes { kind subjectId detail } } }')).alerts.nodes;

  for (const method of ['sbp', 'tpay', 'sberpay'] as const) {
    test(`a buyer pays by ${method} when they confirm at the bank, and the bank's word ends it`, async () => {
      const { merchant } = stage;
      const { payment, url } = await order(merchant, 125_000, method);
      const state = await onPage(url, 'pay');
      assert.equal(state.status, 'processing', JSON.stringify(state));
      await confirmed(payment.id, 'pay');
      const paid = await untilStatus(merchant, payment.id, 'succeeded');
      const { id } = await atBank(payment.id);
      assert.deepEqual([paid.metadata.bank_ref, paid.amount], [id, 125_000]);
      assert.equal(paid.rrn !== null, method === 'sbp');
    });
  }

  test('a card pays at once, or after 3-D Secure at the bank; what the bank says of it is kept, the number is not', async () => {
    const { merchant, service } = stage;
    const [plain, asked] = [await order(merchant, 10_000, 'cards'), await order(merchant, 20_000, 'cards')];
    await onPage(plain.url, 'pay', { card: cardOf() });
    await onPage(asked.url, 'pay', { card: cardOf(cardWith3ds) });
    const paid = await untilStatus(merchant, plain.payment.id, 'succeeded');
    assert.deepEqual([paid.customer_card_mask?.slice(-4), paid.customer_card_brand, paid.customer_card_holder], ['0004', 'Mir', 'IVAN PETROV']);
    await confirmed(asked.payment.id, 'pay');
    await untilStatus(merchant, asked.payment.id, 'succeeded');
    assert.doesNotMatch(service.processes.map((part) => part.output()).join(''), /220000000000/);
  });

  test('what the bank refuses has the reason in our words and in its own', async () => {
    const { merchant } = stage;
    const refused = [
      [10_001, 'pay', 'do_not_honor', 'general_decline'],
      [10_002, 'pay', 'insufficient_funds', 'insufficient_funds'],
      [10_000, 'refuse', 'authentication_failed', '3d_secure_failed'],
    ] as const;
    for (const [amount, decision, code, raw] of refused) {
      const { payment, url } = await order(merchant, amount);
      await onPage(url, 'pay');
      await confirmed(payment.id, decision);
      const failed = await untilStatus(merchant, payment.id, 'failed');
      assert.deepEqual([failed.metadata.failure_code, failed.metadata.bank_failure_code], [code, `yookassa:${raw}`]);
    }
    const card = await order(merchant, 10_003, 'cards');
    await onPage(card.url, 'pay', { card: cardOf() });
    const failed = await untilStatus(merchant, card.payment.id, 'failed');
    assert.equal(failed.metadata.failure_code, 'expired_card');
    const large = await order(merchant, 35_000_001, 'cards');
    await onPage(large.url, 'pay', { card: cardOf() });
    assert.equal((await untilStatus(merchant, large.payment.id, 'failed')).metadata.failure_code, 'limit_exceeded');
  });

  test('an answer that is lost leaves one payment at the bank, which is found and paid', async () => {
    const { merchant, acquirer } = stage;
    for (const fault of ['timeout_after', 'error_after', 'too_many', 'timeout_before', 'slow'] as const) {
      await acquirer.faults({ next: [{ fault, method: 'POST', path: '/payments' }] });
      const { payment, url } = await order(merchant, 5_000);
      assert.equal((await onPage(url, 'pay')).status, 'processing', fault);
      await confirmed(payment.id, 'pay');
      await untilStatus(merchant, payment.id, 'succeeded');
      assert.equal((await allAtBank(payment.id)).length, 1, fault);
    }
  });

  test('an answer that is lost twice is found among the payments of its minutes', async () => {
    const { merchant, acquirer } = stage;
    const lost = { fault: 'timeout_after', method: 'POST', path: '/payments' } as const;
    await acquirer.faults({ next: [lost, lost] });
    const { payment, url } = await order(merchant, 6_000);
    await onPage(url, 'pay');
    const read = await merchant.call('GET', `/payments/${payment.id}`);
    assert.deepEqual([read.body.status, read.body.metadata.bank_ref], ['processing', undefined]);
    await confirmed(payment.id, 'pay');
    const paid = await untilStatus(merchant, payment.id, 'succeeded');
    assert.equal(paid.metadata.bank_ref, (await atBank(payment.id)).id);
  });

  test('another amount than was ordered moves nothing and is told to the operators', async () => {
    const { merchant, acquirer } = stage;
    const balance = async () => (await merchant.call('GET', '/balance')).body.balance;
    const { payment, url } = await order(merchant, 7_700);
    await onPage(url, 'pay');
    const before = await balance();
    const wrong = { fault: 'wrong_amount', method: 'GET', path: '/payments/' } as const;
    await acquirer.faults({ next: [wrong] });
    await confirmed(payment.id, 'pay');
    const alert = await eventually(
      async () => (await alerts()).find(({ kind, subjectId }) => kind === 'bank_echo_differs' && subjectId === payment.id),
      'the alert',
    );
    assert.match(alert.detail, /77\.01 RUB.*7700 minor units/);
    assert.deepEqual([(await merchant.call('GET', `/payments/${payment.id}`)).body.status, await balance()], ['processing', before]);
  });

  test('money is given back, all or a part, also when the answer to the refund is lost', async () => {
    const { merchant, acquirer } = stage;
    const { payment, url } = await order(merchant, 30_000);
    await onPage(url, 'pay');
    await confirmed(payment.id, 'pay');
    await untilStatus(merchant, payment.id, 'succeeded');
    const refund = (amount: number) => merchant.call('POST', `/payments/${payment.id}/refund`, { amount, reason: 'returned' });
    const ended = (id: string, status: string) =>
      eventually(
        async () => (await merchant.call('GET', `/refunds?limit=50`)).body.items.find((item: any) => item.id === id && item.status === status),
        `${id} ${status}`,
        30_000,
      );
    const first = await refund(10_000);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    await ended((first.body.refund ?? first.body).id, 'succeeded');
    await acquirer.faults({ next: [{ fault: 'timeout_after', method: 'POST', path: '/refunds' }] });
    const second = await refund(5_000);
    await ended((second.body.refund ?? second.body).id, 'succeeded');
    const refused = await refund(7_001);
    await ended((refused.body.refund ?? refused.body).id, 'failed');
    const given = (await acquirer.books()).refunds.filter(({ payment_id: id, status }) => id === payment.metadata.bank_ref || status === 'succeeded');
    assert.equal(given.filter(({ metadata }) => metadata.payment_operation_id === payment.id).length, 2);
    assert.equal((await merchant.call('GET', `/payments/${payment.id}`)).body.amount_refunded, 15_000);
  });

  test('a live key is refused until the merchant is enabled, and without a route', async () => {
    const { service } = stage;
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
  });

  test('test and live never meet in a registry, a ledger or a balance', async () => {
    const { merchant, service } = stage;
    const asTest = { rest: service.rest, key: merchant.testKey };
    const made = await callRest(asTest, 'POST', '/payments', { amount: 99_900, method: 'sbp' });
    await onPage(made.body.payment_url, 'pay');
    await eventually(async () => (await callRest(asTest, 'GET', '/balance')).body.balance === 99_900, 'the test payment');
    assert.equal((await merchant.call('GET', `/payments/${made.body.payment.id}`)).status, 404);
    const live = (await merchant.call('GET', '/ledger?limit=100')).body.items;
    assert.ok(live.length > 0 && live.every((entry: any) => entry.amount !== 99_900));
    assert.deepEqual(
      (await callRest(asTest, 'GET', '/ledger')).body.items.map((entry: any) => entry.amount),
      [99_900],
    );
    assert.ok(!(await stage.acquirer.books()).payments.some(({ metadata }) => metadata.operation_id === made.body.payment.id));
  });

  test('a notification is taken from the published networks alone, and only makes us ask', async () => {
    const { service, merchant } = stage;
    const { payment, url } = await order(merchant, 8_000);
    await onPage(url, 'pay');
    const told = {
      event: 'payment.succeeded',
      type: 'notification',
      object: { status: 'succeeded', metadata: { merchant_id: merchant.id, operation_id: payment.id } },
    };
    const tell = (body: unknown) =>
      fetch(`${service.rest}/callbacks/yookassa`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const answers = await Promise.all([tell(told), tell(told), tell({}), tell([1]), tell({ object: { metadata: { merchant_id: 'x', operation_id: 1 } } })]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    assert.equal((await merchant.call('GET', `/payments/${payment.id}`)).body.status, 'processing', 'the bank does not say so');
  });

  test('everything that was asked and answered was as the description says', async () => {
    const { violations, payments } = await stage.acquirer.books();
    assert.ok(payments.length > 15, `saw only ${payments.length} payments`);
    assert.deepEqual(violations, []);
  });
});
