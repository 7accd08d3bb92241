import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { tbankTerminal } from '../acquirer/start-acquirer.ts';
import { signatureOf } from '../acquirer/tbank/api.ts';
import { hasToken, tokenOf } from '../../subgraphs/acquirers/tbank/client.ts';
import { askGraph } from '../support/merchant.ts';
import {
  onPage,
  openLiveHarness,
  order,
  routeTo,
  untilStatus,
  type LiveHarness,
} from './harness.ts';
import { eventually } from '../support/eventually.ts';

test('a message is signed as the bank describes it: its own fields and the password by their names, no objects', () => {
  const [password, message] = [
    'usaf8fw8fsw21g',
    {
      TerminalKey: 'MerchantTerminalKey',
      Amount: 19200,
      OrderId: '21090',
      Description: 'Подарочная карта на 1000 рублей',
    },
  ];
  const token = '0024a00af7c350a3a67ca168ce06502aa72772456662e38696d48b56ee9c97d9';
  assert.equal(
    tokenOf({ ...message, DATA: { Phone: '+71234567890' }, Receipt: null }, password),
    token,
  );
  assert.ok(hasToken({ ...message, Token: token }, password));
  for (const other of [
    { Amount: 19201 },
    { Token: 'x' },
    { Token: token.replace('0', '1') },
    { Extra: '', OrderId: '21091' },
  ]) {
    assert.equal(hasToken({ ...message, Token: token, ...other }, password), false);
  }
});

describe('live payments at T-Bank, emulated as a process of its own', () => {
  let harness: LiveHarness;
  before(async () => {
    const routes = {
      payment: ['sbp', 'cards', 'tpay', 'sberpay'],
      recurrent: ['cards', 'sbp'],
      payout: ['sbp'],
    };
    harness = await openLiveHarness(
      ({ tbankApi }) => ({
        TBANK_URL: tbankApi,
        TBANK_TERMINAL_KEY: tbankTerminal.id,
        TBANK_PASSWORD: tbankTerminal.password,
        TBANK_TIMEOUT_MS: '1500',
      }),
      (service, merchant) => routeTo(service, 'tbank', merchant, routes),
    );
  });
  after(() => harness.close());

  const books = async () => (await harness.acquirer.books()).tbank;
  const ofOrder = async (orderId: string): Promise<any[]> =>
    (await books()).payments.filter((payment) => payment.orderId === orderId);
  const pageOf = ({ id }: { readonly id: string }): string =>
    `${harness.acquirer.tbankApi.replace('/v2', '')}/pay/${id}`;
  const paidAtBank = async (orderId: string, decision: 'pay' | 'refuse' = 'pay'): Promise<void> => {
    const last = await eventually(
      async () => (await ofOrder(orderId)).at(-1),
      'the order at the bank',
    );
    await harness.acquirer.confirm(pageOf(last), decision);
  };
  const balance = async (): Promise<number> =>
    (await harness.merchant.call('GET', '/balance')).body.balance;
  const refund = async (id: string, amount: number): Promise<string> => {
    const { status, body } = await harness.merchant.call('POST', `/payments/${id}/refund`, {
      amount,
      reason: 'returned',
    });
    assert.equal(status, 201, JSON.stringify(body));
    return (body.refund ?? body).id;
  };
  const refundEnds = (id: string, status: string): Promise<any> =>
    eventually(
      async () =>
        (await harness.merchant.call('GET', '/refunds?limit=50')).body.items.find(
          (item: any) => item.id === id && item.status === status,
        ),
      `refund ${id} as ${status}`,
    );

  for (const [method, step] of [
    ['sbp', 'qr'],
    ['tpay', 'redirect'],
    ['cards', 'redirect'],
  ] as const) {
    test(`a buyer pays by ${method}, the bank's own way: ${step}`, async () => {
      const { payment, url } = await order(harness.merchant, 125_000, method);
      const page = await (await fetch(url)).text();
      assert.equal(page.includes('card-number'), false, 'no card is typed here');
      const state = await onPage(url, 'pay');
      assert.deepEqual([state.status, state.step], ['processing', step], JSON.stringify(state));
      await paidAtBank(payment.id);
      const paid = await untilStatus(harness.merchant, payment.id, 'succeeded');
      // The one that was paid: where the bank's first answer came too late, it has two.
      const atBank = (await ofOrder(payment.id)).at(-1);
      assert.deepEqual(
        [paid.metadata.bank_ref, atBank.route],
        [atBank.id, method === 'cards' ? 'card' : method],
      );
      assert.notEqual(paid.rrn, null);
    });
  }

  test('what the bank refuses has the reason in our words and in its own', async () => {
    for (const [amount, decision, code, raw] of [
      [10_001, 'pay', 'do_not_honor', '1005'],
      [10_002, 'pay', 'insufficient_funds', '1051'],
      [10_000, 'refuse', 'authentication_failed', '101'],
    ] as const) {
      const { payment, url } = await order(harness.merchant, amount, 'cards');
      await onPage(url, 'pay');
      await paidAtBank(payment.id, decision);
      const failed = await untilStatus(harness.merchant, payment.id, 'failed');
      assert.deepEqual(
        [failed.metadata.failure_code, failed.metadata.bank_failure_code],
        [code, `tbank:${raw}`],
      );
    }
  });

  test('what it does not do is refused: SberPay, saved SBP accounts, payouts', async () => {
    const { merchant } = harness;
    const sberpay = await merchant.call('POST', '/payments', {
      amount: 1_000,
      method: 'sberpay',
      order_id: 's-1',
    });
    const binding = await merchant.call('POST', '/tokens', {
      customer_ref: 'c',
      method: 'sbp',
      amount: 1_000,
    });
    const payout = await merchant.call('POST', '/payouts', {
      method: 'payouts_sbp',
      amount: 1_000,
      phone: '+79991234567',
      bank_id: '100000000111',
    });
    for (const answer of [sberpay, binding, payout])
      assert.deepEqual(
        [answer.status, answer.body.error?.code],
        [422, 'method_unsupported'],
        JSON.stringify(answer.body),
      );
  });

  test('an answer that is lost is asked for by our own id, and the buyer pays once', async () => {
    for (const fault of [
      'timeout_after',
      'error_after',
      'closed_after',
      'timeout_before',
      'too_many',
    ] as const) {
      await harness.acquirer.faults({ next: [{ fault, method: 'POST', path: '/v2/Init' }] });
      const { payment, url } = await order(harness.merchant, 5_000, 'tpay');
      assert.equal((await onPage(url, 'pay')).step, 'redirect', fault);
      await paidAtBank(payment.id);
      await untilStatus(harness.merchant, payment.id, 'succeeded');
      assert.equal(
        (await ofOrder(payment.id)).filter(({ status }) => status === 'CONFIRMED').length,
        1,
        fault,
      );
    }
  });

  test('an order whose answer is lost altogether is found, and its buyer continues', async () => {
    const lost = { fault: 'closed_after', method: 'POST', path: '/v2/Init' } as const;
    await harness.acquirer.faults({ next: [lost, lost, lost, lost] });
    const { payment, url, answer } = await order(harness.merchant, 5_100, 'sbp');
    assert.deepEqual([payment.status, answer.bank], ['pending', null]);
    assert.equal((await onPage(url, 'pay')).step, 'wait');
    const qr = await eventually(async () => {
      await harness.merchant.call('GET', `/payments/${payment.id}`);
      return (await ofOrder(payment.id)).find(({ route }) => route === 'sbp');
    }, 'the QR code of the order that was found');
    await harness.acquirer.confirm(pageOf(qr), 'pay');
    const paid = await untilStatus(harness.merchant, payment.id, 'succeeded');
    assert.deepEqual([paid.metadata.bank_ref, (await ofOrder(payment.id)).length], [qr.id, 4]);
  });

  test('an order is registered with its payment, and cancelled with it: it can no longer be paid', async () => {
    const { payment, answer } = await order(harness.merchant, 5_200, 'sbp');
    const registered = (await ofOrder(payment.id)).at(-1);
    assert.deepEqual(
      [payment.status, answer.bank, answer.bank_ref, registered.status],
      ['pending', 'T-Bank', registered.id, 'NEW'],
    );
    assert.equal(
      (await harness.merchant.call('POST', `/payments/${payment.id}/cancel`)).status,
      200,
    );
    await eventually(
      async () => (await ofOrder(payment.id))[0].status === 'CANCELED',
      'the cancelled order',
    );
    await harness.acquirer.confirm(pageOf(registered), 'pay');
    const after = (await harness.merchant.call('GET', `/payments/${payment.id}`)).body;
    assert.deepEqual(
      [after.status, after.refunds, (await ofOrder(payment.id))[0].status],
      ['cancelled', [], 'CANCELED'],
    );
  });

  test('another amount or another order than ours moves nothing and is reported to the operators', async () => {
    for (const [fault, answered] of [
      ['wrong_amount', /7701 kopecks.*7700 minor units/],
      ['wrong_id', /T-Bank's \d+ is 7700 kopecks for [0-9a-f-]{36}; ordered/],
    ] as const) {
      const { payment, url } = await order(harness.merchant, 7_700, 'sbp');
      await onPage(url, 'pay');
      const before = await balance();
      // The notification, and the query that was due at the same moment.
      await harness.acquirer.faults({ rates: { [fault]: 1 } });
      await paidAtBank(payment.id);
      const find = async (): Promise<any> => {
        const { alerts } = await askGraph(
          harness.service,
          '{ alerts(first: 50) { nodes { kind subjectId detail } } }',
        );
        return alerts.nodes.find(
          ({ kind, subjectId }: any) => kind === 'bank_echo_differs' && subjectId === payment.id,
        );
      };
      assert.match((await eventually(find, 'the alert')).detail, answered);
      assert.deepEqual(
        [
          (await harness.merchant.call('GET', `/payments/${payment.id}`)).body.status,
          await balance(),
        ],
        ['processing', before],
      );
      await harness.acquirer.faults({ rates: {} });
    }
  });

  test('money is given back once: by card under a key, by SBP with a claim of our own, also when answers are lost', async () => {
    for (const method of ['cards', 'sbp'] as const) {
      const { payment, url } = await order(harness.merchant, 30_000, method);
      await onPage(url, 'pay');
      await paidAtBank(payment.id);
      await untilStatus(harness.merchant, payment.id, 'succeeded');
      const before = await balance();
      await harness.acquirer.faults({
        next: [{ fault: 'closed_after', method: 'POST', path: '/v2/Cancel' }],
      });
      await refundEnds(await refund(payment.id, 10_000), 'succeeded');
      await refundEnds(await refund(payment.id, 20_000), 'succeeded');
      const given = (await books()).cancels.filter(({ orderId }) => orderId === payment.id);
      assert.deepEqual(
        [given.map(({ amount }) => amount), await balance()],
        [[10_000, 20_000], before - 30_000],
        method,
      );
    }
    const { payment, url } = await order(harness.merchant, 30_000, 'cards');
    await onPage(url, 'pay');
    await paidAtBank(payment.id);
    await untilStatus(harness.merchant, payment.id, 'succeeded');
    await refundEnds(await refund(payment.id, 1_001), 'failed');
  });

  test('a card is bound without money moving, and charged once, however many answers are lost', async () => {
    const { merchant, acquirer } = harness;
    const created = await merchant.call('POST', '/tokens', { customer_ref: 'c-1' });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await onPage(created.body.pay_url, 'pay');
    const bound = await eventually(
      async () => (await books()).payments.find(({ twoHarnesses }) => twoHarnesses),
      'the binding at the bank',
    );
    await acquirer.confirm(pageOf(bound), 'pay');
    const token = await eventually(
      async () =>
        (await merchant.call('GET', '/tokens?customer_ref=c-1')).body.items.find(
          ({ status }: any) => status === 'active',
        ),
      'the active token',
    );
    assert.deepEqual(
      [token.card_mask.slice(-4), token.card_brand, (await ofOrder(bound.orderId))[0].status],
      ['0004', 'Mir', 'REVERSED'],
    );
    const lost = (path: string) => ({ fault: 'closed_after', method: 'POST', path }) as const;
    await acquirer.faults({ next: [lost('/v2/Init'), lost('/v2/Charge')] });
    const charged = await merchant.call('POST', `/tokens/${token.id}/charge`, { amount: 49_900 });
    assert.equal(charged.status, 201, JSON.stringify(charged.body));
    const { id } = charged.body.payment ?? charged.body;
    await untilStatus(merchant, id, 'succeeded');
    assert.deepEqual(
      (await ofOrder(id)).flatMap(({ paidBy, status }) =>
        paidBy === null ? [] : [[paidBy, status]],
      ),
      [['charge', 'CONFIRMED']],
    );
    const declined = await merchant.call('POST', `/tokens/${token.id}/charge`, { amount: 49_902 });
    const failed = await untilStatus(
      merchant,
      (declined.body.payment ?? declined.body).id,
      'failed',
    );
    assert.equal(failed.metadata.failure_code, 'insufficient_funds');
  });

  test('money is held, and confirmed once or cancelled, also when answers are lost', async () => {
    const { merchant, acquirer } = harness;
    const held = async (method: 'cards' | 'tpay'): Promise<any> => {
      const body = { amount: 20_000, method, capture: 'manual' };
      const created = await merchant.call('POST', '/payments', body);
      assert.equal(created.status, 201, JSON.stringify(created.body));
      await onPage(created.body.payment_url, 'pay');
      await paidAtBank(created.body.payment.id);
      return untilStatus(merchant, created.body.payment.id, 'authorized');
    };
    const statusAtBank = async (id: string) => {
      const { status, amount } = (await ofOrder(id)).at(-1);
      return [status, amount];
    };
    const part = await held('tpay');
    assert.deepEqual(await statusAtBank(part.id), ['AUTHORIZED', 20_000]);
    const capture = (id: string, amount: number) =>
      merchant.call('POST', `/payments/${id}/capture`, { amount });
    const refused = await capture(part.id, 10_002);
    assert.deepEqual([refused.status, refused.body.error?.code], [422, 'capture_declined']);
    const { body } = await capture(part.id, 8_000);
    assert.deepEqual([body.payment.status, body.payment.amount_captured], ['succeeded', 8_000]);
    assert.deepEqual(await statusAtBank(part.id), ['CONFIRMED', 8_000]);
    await refundEnds(await refund(part.id, 8_000), 'succeeded');
    await untilStatus(merchant, part.id, 'refunded');

    const lost = await held('cards');
    const fault = { fault: 'closed_after', method: 'POST', path: '/v2/Confirm' } as const;
    const ask = { ...fault, path: '/v2/CheckOrder', fault: 'timeout_before' } as const;
    await acquirer.faults({ next: [fault, fault] });
    await capture(lost.id, 20_000);
    const captured = await untilStatus(merchant, lost.id, 'succeeded');
    assert.deepEqual(await statusAtBank(lost.id), ['CONFIRMED', captured.amount_captured]);

    const given = await held('cards');
    await acquirer.faults({ next: [{ ...fault, path: '/v2/Cancel' }, ask, ask] });
    const answer = await merchant.call('POST', `/payments/${given.id}/cancel`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    await untilStatus(merchant, given.id, 'cancelled');
    assert.deepEqual(await statusAtBank(given.id), ['REVERSED', 20_000]);
  });

  test('a notification is taken only with the right token, answered OK, and only makes us ask', async () => {
    const { merchant, service } = harness;
    const { payment, url } = await order(merchant, 8_000, 'sbp');
    await onPage(url, 'pay');
    const received = {
      TerminalKey: tbankTerminal.id,
      OrderId: payment.id,
      Success: true,
      Status: 'CONFIRMED',
      PaymentId: 1,
      ErrorCode: '0',
      Amount: 8_000,
    };
    const notify = async (body: object, id = merchant.id) => {
      const answer = await fetch(`${service.rest}/callbacks/tbank/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return [answer.status, await answer.text()];
    };
    const signed = { ...received, Token: signatureOf(received, tbankTerminal.password) };
    assert.deepEqual(await Promise.all([notify(signed), notify(signed), notify(signed, 'x')]), [
      [200, 'OK'],
      [200, 'OK'],
      [200, 'OK'],
    ]);
    const forged = [
      received,
      { ...signed, Amount: 8_001 },
      { ...received, Token: signatureOf(received, 'another password') },
      { ...signed, TerminalKey: 'Other' },
    ];
    for (const one of forged) assert.equal((await notify(one))[0], 403);
    assert.equal(
      (await merchant.call('GET', `/payments/${payment.id}`)).body.status,
      'processing',
      'the bank does not say so',
    );
  });

  test('everything that was asked, answered and notified was as described', async () => {
    const { violations, tbank } = await harness.acquirer.books();
    assert.ok(tbank.payments.length > 12, `saw only ${tbank.payments.length} payments`);
    assert.deepEqual(violations, []);
  });
});
