import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { openReceiver } from '../support/merchant.ts';
import { faultKinds, openFaults, seeded, type CallbackFault, type FaultKind } from './faults.ts';
import { gatewayAccount, shopAccount, startAcquirer, type Acquirer } from './start-acquirer.ts';
import { eventually } from '../support/eventually.ts';

interface Received {
  readonly status: number;
  readonly body: any;
}

const orderOf = (value: string, more: object = {}) => ({
  amount: { value, currency: 'RUB' },
  capture: true,
  payment_method_data: { type: 'sbp' },
  confirmation: { type: 'qr', return_url: 'https://shop.example/back' },
  metadata: { operation_id: randomUUID() },
  ...more,
});
const card = (number: string) => ({
  payment_method_data: {
    type: 'bank_card',
    card: { number, expiry_year: '2030', expiry_month: '12', csc: '123' },
  },
  confirmation: { type: 'redirect', return_url: 'https://shop.example/back' },
});

describe('the emulated acquirer', () => {
  let acquirer: Acquirer;
  before(async () => {
    acquirer = await startAcquirer();
  });
  after(() => acquirer.stop());

  const ask = async (
    path: string,
    post?: { readonly body: object; readonly key?: string },
    account = shopAccount as { id: string; secret: string },
  ): Promise<Received> => {
    const answer = await fetch(`${acquirer.api}${path}`, {
      headers: {
        authorization: `Basic ${btoa(`${account.id}:${account.secret}`)}`,
        ...(post
          ? { 'content-type': 'application/json', 'idempotence-key': post.key ?? randomUUID() }
          : {}),
      },
      ...(post ? { method: 'POST', body: JSON.stringify(post.body) } : {}),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const pay = async (value: string): Promise<any> => {
    const { body } = await ask('/payments', { body: orderOf(value) });
    await acquirer.confirm(body.confirmation.confirmation_data, 'pay');
    return (await ask(`/payments/${body.id}`)).body;
  };

  test('answers all that the connector asks as it is described', async () => {
    const { books, seen } = { books: acquirer.books, seen: new Set<number>() };
    const every = async (answer: Promise<Received>): Promise<any> => {
      const { status, body } = await answer;
      seen.add(status);
      return body;
    };
    const paid = await pay('100.00');
    assert.deepEqual(
      [paid.status, paid.payment_method.payer_bank_details.bank_id],
      ['succeeded', '100000000111'],
    );
    const bound = await every(
      ask('/payments', {
        body: orderOf('1.00', {
          ...card('2200000000000004'),
          capture: false,
          save_payment_method: true,
        }),
      }),
    );
    assert.equal(bound.status, 'waiting_for_capture');
    assert.equal(
      (await every(ask(`/payments/${bound.id}/cancel`, { body: {} }))).status,
      'canceled',
    );
    const { confirmation: _, payment_method_data: __, ...order } = orderOf('50.00');
    assert.equal(
      (
        await every(
          ask('/payments', { body: { ...order, payment_method_id: bound.payment_method.id } }),
        )
      ).status,
      'succeeded',
    );
    for (const value of ['10.01', '10.03'])
      assert.equal(
        (await every(ask('/payments', { body: orderOf(value, card('2200000000000004')) }))).status,
        'canceled',
      );
    for (const type of ['tinkoff_bank', 'sberbank']) {
      const data = {
        payment_method_data: { type },
        confirmation: { type: 'redirect', return_url: 'https://shop.example/back' },
      };
      assert.equal(
        (await every(ask('/payments', { body: orderOf('10.00', data) }))).status,
        'pending',
      );
    }
    await every(ask('/payments', { body: orderOf('700000.01') }));
    await every(ask('/payments?limit=2'));
    const refund = await every(
      ask('/refunds', {
        body: { payment_id: paid.id, amount: { value: '40.00', currency: 'RUB' }, metadata: {} },
      }),
    );
    await every(ask(`/refunds/${refund.id}`));
    assert.equal((await every(ask(`/refunds?payment_id=${paid.id}`))).items.length, 1);
    const asGateway = (path: string, body?: object): Promise<any> =>
      every(ask(path, body && { body }, gatewayAccount));
    const { id: nameId } = await asGateway('/personal_data', {
      type: 'sbp_payout_recipient',
      last_name: 'Петров',
      first_name: 'Иван',
    });
    const toPhone = { type: 'sbp', phone: '79991234567', bank_id: '100000000111' };
    for (const to of [toPhone, { type: 'bank_card', card: { number: '2200000000000004' } }]) {
      const metadata = { operation_id: randomUUID() };
      const payout = await asGateway('/payouts', {
        amount: { value: '10.00', currency: 'RUB' },
        payout_destination_data: to,
        personal_data: [{ id: nameId }],
        metadata,
      });
      assert.equal(
        (await asGateway(`/payouts/search?metadata[operation_id]=${metadata.operation_id}`))
          .items[0].id,
        payout.id,
      );
      await asGateway(`/payouts/${payout.id}`);
    }
    await asGateway('/sbp_banks');
    await every(ask(`/payments/${randomUUID()}`));
    assert.deepEqual(
      [...seen].toSorted((one, other) => one - other),
      [200, 400, 404],
    );
    assert.deepEqual((await books()).violations, []);
  });

  test('tells what is asked otherwise than described, and does nothing', async () => {
    const before = await acquirer.books();
    for (const order of [
      { amount: { value: '10', currency: 'RUB' } },
      orderOf('10.00', { recurring: true }),
      orderOf('10.00', { payment_method_id: 'x' }),
    ]) {
      assert.equal((await ask('/payments', { body: order })).status, 400);
    }
    const { payments, violations } = await acquirer.books();
    assert.deepEqual(
      [payments.length, violations.length >= before.violations.length + 3],
      [before.payments.length, true],
    );
  });

  test('a repeated key is answered with the first order as it is now; another order under it is refused', async () => {
    const [key, order] = [randomUUID(), orderOf('20.00')];
    const [first, second] = [
      await ask('/payments', { key, body: order }),
      await ask('/payments', { key, body: order }),
    ];
    assert.equal(first.body.id, second.body.id);
    assert.equal((await ask('/payments', { key, body: orderOf('21.00') })).status, 400);
    assert.equal(
      (await ask('/payments', { body: order }, { ...shopAccount, secret: 'another' })).status,
      401,
    );
  });

  test('each fault is one that was asked for: before the effect or after it, and the next call is well again', async () => {
    const effects: Readonly<
      Record<FaultKind, [effect: boolean, answered: number | 'closed' | 'silent']>
    > = {
      timeout_before: [false, 'silent'],
      timeout_after: [true, 'silent'],
      error_before: [false, 500],
      error_after: [true, 500],
      closed_before: [false, 'closed'],
      closed_after: [true, 'closed'],
      too_many: [false, 429],
      wrong_amount: [true, 200],
      wrong_id: [true, 200],
      slow: [true, 200],
    };
    const made = async (): Promise<number> => (await acquirer.books()).payments.length;
    for (const fault of faultKinds) {
      const before = await made();
      await acquirer.faults({ next: [{ fault, method: 'POST', path: '/payments' }] });
      const [order, key] = [orderOf('30.00'), randomUUID()];
      const patience = new AbortController();
      const began = fetch(`${acquirer.api}/payments`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa(`${shopAccount.id}:${shopAccount.secret}`)}`,
          'idempotence-key': key,
        },
        body: JSON.stringify(order),
        signal: patience.signal,
      });
      if (fault.startsWith('timeout')) {
        await eventually(async () => (await acquirer.books()).planned === 0, `the call's ${fault}`);
        patience.abort();
      }
      const answer = await began.catch((error: Error) =>
        error.name === 'AbortError' ? 'silent' : 'closed',
      );
      const [effect, answered] = effects[fault];
      if (effect)
        await eventually(async () => (await made()) === before + 1, `the effect of ${fault}`);
      assert.deepEqual(
        [await made(), typeof answer === 'string' ? answer : answer.status],
        [before + Number(effect), answered],
        fault,
      );
      const body: any = typeof answer === 'string' ? {} : await answer.json();
      if (fault === 'too_many') assert.equal(typeof body.retry_after, 'number');
      if (fault === 'wrong_amount') assert.equal(body.amount.value, '30.01');
      if (fault === 'wrong_id')
        assert.notEqual(body.metadata.operation_id, order.metadata.operation_id);
      assert.equal((await ask('/payments', { key, body: order })).body.amount.value, '30.00');
      assert.equal(await made(), before + 1, fault);
    }
  });

  test('notifications come, come three times, out of order, or not at all', async () => {
    const receiver = await openReceiver();
    await acquirer.callbacks({ callbackUrl: receiver.url });
    const received = (id: string) => receiver.received.filter(({ body }) => body.object.id === id);
    const paidWith = async (fault: CallbackFault | null): Promise<string> => {
      await acquirer.faults({ rates: fault === null ? {} : { [fault]: 1 } });
      return (await pay('10.00')).id;
    };
    const doubled = await paidWith('duplicate');
    await receiver.until(() => received(doubled).length === 3);
    const lost = await paidWith('lost');
    const held = await paidWith('reordered');
    const next = await paidWith(null);
    await receiver.until(() => received(held).length === 1 && received(next).length === 1);
    assert.equal(received(lost).length, 0);
    const alone = await paidWith('reordered');
    await receiver.until(() => received(alone).length === 1);
    await acquirer.faults({ rates: {} });
    await acquirer.callbacks({ callbackUrl: null });
    await receiver.close();
  });

  test('a buyer without scripts reads what is paid and to whom, and what became of it', async () => {
    const { body } = await ask('/payments', { body: orderOf('12500.50') });
    const url: string = body.confirmation.confirmation_data;
    const open = await (await fetch(url)).text();
    assert.match(open, /12\u{a0}500,50\u{a0}₽/u);
    assert.match(open, /shop\.example/);
    await acquirer.confirm(url, 'refuse');
    assert.match(await (await fetch(url)).text(), /Платёж не прошёл/);
    await acquirer.confirm(url, 'pay');
    assert.equal(
      (await ask(`/payments/${body.id}`)).body.cancellation_details.reason,
      '3d_secure_failed',
    );
  });
});

test('the faults of a seed are the same again, and as many as their rates say', () => {
  const drawn = (seed: number): readonly (string | null)[] => {
    const faults = openFaults(seeded(seed));
    faults.set({ rates: Object.fromEntries(faultKinds.map((kind) => [kind, 0.05])) });
    return Array.from({ length: 10_000 }, () => faults.ofCall('POST', '/payments'));
  };
  const [one, again, other] = [drawn(7), drawn(7), drawn(8)];
  assert.deepEqual(one, again);
  assert.notDeepEqual(one, other);
  for (const kind of faultKinds) {
    const share = one.filter((fault) => fault === kind).length / one.length;
    assert.ok(share > 0.035 && share < 0.065, `${kind}: ${share}`);
  }
});
