/** Facts about refunds of live payments. */
import assert from 'node:assert/strict';
import { harness, type Facts } from './shared-harness.ts';
import {
  alertOf,
  askAgain,
  atBank,
  confirmed,
  countAtBank,
  onPage,
  order,
  paid,
} from './harness.ts';
import { eventually } from '../support/eventually.ts';

export const refundFacts: Facts = {
  'money is given back, all or a part, also when the answer to the refund is lost': async () => {
    const { merchant, acquirer } = harness();
    const payment = await paid(harness(), 30_000);
    const refund = (amount: number) =>
      merchant.call('POST', `/payments/${payment.id}/refund`, { amount, reason: 'returned' });
    const ended = (id: string, status: string) =>
      eventually(
        async () =>
          (await merchant.call('GET', `/refunds?limit=50`)).body.items.find(
            (item: any) => item.id === id && item.status === status,
          ),
        `${id} ${status}`,
      );
    const first = await refund(10_000);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    await ended((first.body.refund ?? first.body).id, 'succeeded');
    await acquirer.faults({ next: [{ fault: 'closed_after', method: 'POST', path: '/refunds' }] });
    const second = await refund(5_000);
    await ended((second.body.refund ?? second.body).id, 'succeeded');
    const refused = await refund(7_001);
    await ended((refused.body.refund ?? refused.body).id, 'failed');
    const given = (await acquirer.books()).refunds.filter(({ status }) => status === 'succeeded');
    assert.equal(
      given.filter(({ metadata }) => metadata.payment_operation_id === payment.id).length,
      2,
    );
    assert.equal(
      (await merchant.call('GET', `/payments/${payment.id}`)).body.amount_refunded,
      15_000,
    );
  },

  'a refund of another amount than was ordered stops: nothing is given back here, and the operators are notified, who have the bank asked again':
    async () => {
      const { merchant, acquirer } = harness();
      // A notification of the payment that came later would have the bank asked, too.
      await acquirer.faults({
        rates: { lost: 1 },
        next: [{ fault: 'wrong_amount', method: 'POST', path: '/refunds' }],
      });
      const payment = await paid(harness(), 20_000);
      const { body: refund } = await merchant.call('POST', `/payments/${payment.id}/refund`, {
        amount: 5_000,
      });
      assert.equal(refund.status, 'pending');
      await alertOf(harness(), 'bank_echo_differs', refund.id);
      await acquirer.faults({ rates: { lost: 0 } });
      // Reading its payment would have the bank asked, too.
      const status = async (): Promise<string> =>
        (await merchant.call('GET', '/refunds?limit=50')).body.items.find(
          (item: any) => item.id === refund.id,
        ).status;
      assert.equal(await status(), 'pending');
      assert.equal(await askAgain(harness(), refund.id), 'refund');
      await eventually(async () => (await status()) === 'succeeded', 'the refund');
      assert.equal(await countAtBank(harness(), 'refunds', refund.id), 1);
    },

  'a refund that the bank has not decided is asked about when its payment is read': async () => {
    const { merchant } = harness();
    const payment = await paid(harness(), 20_000);
    const { body: refund } = await merchant.call('POST', `/payments/${payment.id}/refund`, {
      amount: 1_007,
    });
    assert.equal(refund.status, 'pending');
    const given = await eventually(async () => {
      const { body } = await merchant.call('GET', `/payments/${payment.id}`);
      return body.amount_refunded === 1_007 && body;
    }, 'the refund');
    assert.equal(given.status, 'succeeded');
  },

  'a payment that was paid a moment ago, and was not reported yet, can be refunded': async () => {
    const { merchant, acquirer } = harness();
    const { payment, url } = await order(merchant, 9_900);
    await onPage(url, 'pay');
    await acquirer.faults({ rates: { lost: 1 } });
    await confirmed(harness(), payment.id, 'pay');
    const answer = await eventually(async () => {
      const received = await merchant.call('POST', `/payments/${payment.id}/refund`, {});
      return received.status === 201 && received;
    }, 'the refund');
    await acquirer.faults({ rates: { lost: 0 } });
    assert.equal(answer.body.amount, 9_900);
    assert.equal((await atBank(harness(), 'refunds', answer.body.id)).status, 'succeeded');
  },
};
