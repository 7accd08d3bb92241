/** Facts about live payments whose money is held, and captured later. */
import assert from 'node:assert/strict';
import { harness, type Facts } from './shared-harness.ts';
import { shopAccount } from '../acquirer/start-acquirer.ts';
import { atBank, cardOf, confirmed, onPage, untilStatus } from './harness.ts';
import { eventually } from '../support/eventually.ts';

/** A payment by card or SberPay whose money the bank holds. */
const held = async (amount: number, method: 'cards' | 'sberpay' = 'cards'): Promise<any> => {
  const { merchant } = harness();
  const { status, body } = await merchant.call('POST', '/payments', {
    amount,
    method,
    capture: 'manual',
  });
  assert.equal(status, 201, JSON.stringify(body));
  await onPage(body.payment_url, 'pay', method === 'cards' ? { card: cardOf() } : {});
  if (method === 'sberpay') await confirmed(harness(), body.payment.id, 'pay');
  // A list asks no bank.
  return eventually(
    async () =>
      (await merchant.call('GET', '/payments?status=authorized&limit=50')).body.items.find(
        ({ id }: any) => id === body.payment.id,
      ),
    'the held payment',
  );
};

const capture = (id: string, amount?: number) =>
  harness().merchant.call('POST', `/payments/${id}/capture`, amount ? { amount } : {});

/** What the bank has of the payment: its status and its amount. */
const there = async (id: string): Promise<readonly [string, string]> => {
  const { status, amount } = await atBank(harness(), 'payments', id);
  return [status, amount.value];
};

const ledgerOf = async (id: string): Promise<readonly string[]> => {
  const { items } = (await harness().merchant.call('GET', '/ledger?limit=200')).body;
  return items
    .filter(({ payment_id: of }: any) => of === id)
    .map((entry: any) => `${entry.type} ${entry.amount}`)
    .toSorted();
};

export const holdFacts: Facts = {
  'a bank holds the money until its own moment; a capture takes a part of it, and the rest goes back':
    async () => {
      for (const method of ['cards', 'sberpay'] as const) {
        const payment = await held(20_000, method);
        assert.deepEqual(await there(payment.id), ['waiting_for_capture', '200.00']);
        const { expires_at: end } = await atBank(harness(), 'payments', payment.id);
        assert.equal(payment.capture_before, end);
        assert.deepEqual([payment.amount_capturable, payment.captured_at], [20_000, null]);
        assert.deepEqual(await ledgerOf(payment.id), []);
        const { status, body } = await capture(payment.id, 8_000);
        assert.equal(status, 200, JSON.stringify(body));
        assert.deepEqual([body.payment.status, body.payment.amount_captured], ['succeeded', 8_000]);
        assert.deepEqual(await there(payment.id), ['succeeded', '80.00']);
        assert.equal(body.payment.net, 8_000 - body.payment.fee);
        assert.deepEqual(await ledgerOf(payment.id), [`fee -${body.payment.fee}`, 'payment 8000']);
        const refund = await harness().merchant.call('POST', `/payments/${payment.id}/refund`, {});
        assert.equal(refund.status, 201, JSON.stringify(refund.body));
        await untilStatus(harness().merchant, payment.id, 'refunded');
      }
    },

  'a capture and a cancellation whose answers are lost take effect once, and nothing else happens to the hold meanwhile':
    async () => {
      const { merchant, acquirer } = harness();
      for (const [verb, status] of [
        ['capture', 'succeeded'],
        ['cancel', 'cancelled'],
      ] as const) {
        const payment = await held(20_000);
        // No answer of the bank arrives.
        await acquirer.faults({ rates: { lost: 1, closed_after: 1 } });
        const answer = await merchant.call('POST', `/payments/${payment.id}/${verb}`);
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        const asked = (await merchant.call('GET', `/payments/${payment.id}`)).body;
        assert.deepEqual([asked.status, asked.amount_capturable], ['authorized', 0]);
        const other = await merchant.call('POST', `/payments/${payment.id}/cancel`);
        assert.deepEqual([other.status, other.body.error?.code], [409, 'not_pending']);
        await acquirer.faults({ rates: {} });
        const ended = await untilStatus(merchant, payment.id, status);
        assert.equal(ended.amount_captured, verb === 'capture' ? 20_000 : 0);
        assert.equal((await there(payment.id))[0], verb === 'capture' ? 'succeeded' : 'canceled');
      }
    },

  'a capture that the bank refuses leaves the money held': async () => {
    const payment = await held(20_000);
    const refused = await capture(payment.id, 10_001);
    assert.deepEqual([refused.status, refused.body.error?.code], [422, 'capture_declined']);
    assert.deepEqual(await there(payment.id), ['waiting_for_capture', '200.00']);
    const { body } = await capture(payment.id);
    assert.deepEqual([body.payment.status, body.payment.amount_captured], ['succeeded', 20_000]);
  },

  'a hold that was cancelled at the bank, which has not reported it, is found when it is read, and the bank is not asked by each reader':
    async () => {
      const { merchant, acquirer } = harness();
      const release = async (payment: any): Promise<void> => {
        const { id } = await atBank(harness(), 'payments', payment.id);
        const answer = await fetch(`${acquirer.api}/payments/${id}/cancel`, {
          method: 'POST',
          headers: {
            authorization: `Basic ${btoa(`${shopAccount.id}:${shopAccount.secret}`)}`,
            'content-type': 'application/json',
            'idempotence-key': crypto.randomUUID(),
          },
          body: '{}',
        });
        assert.equal(answer.status, 200);
      };
      const read = async ({ id }: any) => (await merchant.call('GET', `/payments/${id}`)).body;
      // A notification of the hold that came later would have the bank asked, too.
      await acquirer.faults({ rates: { lost: 1 } });
      const [unread, beingRead] = [await held(20_000), await held(30_000)];
      assert.equal((await read(beingRead)).status, 'authorized');
      await Promise.all([unread, beingRead].map(release));
      await acquirer.faults({ rates: { lost: 0 } });
      await untilStatus(merchant, unread.id, 'expired');
      assert.equal((await read(beingRead)).status, 'authorized', 'it was asked a moment ago');
    },

  'a hold that the bank ends by itself has expired here, whether anybody captures it or not':
    async () => {
      const { merchant } = harness();
      const [left, late] = [await held(20_009), await held(30_009)];
      const expired = await untilStatus(merchant, left.id, 'expired');
      assert.equal(expired.metadata.failure_code, 'capture_expired');
      await eventually(
        async () => (await there(late.id))[0] === 'canceled',
        'the end of the hold at the bank',
      );
      const answer = await capture(late.id);
      assert.deepEqual([answer.status, answer.body.error?.code], [409, 'payment_not_authorized']);
      await untilStatus(merchant, late.id, 'expired');
      assert.deepEqual(await ledgerOf(late.id), []);
    },
};
