/** Facts about methods that are saved and charged at the live bank. */
import assert from 'node:assert/strict';
import { cardWith3ds } from '../acquirer/api.ts';
import { receiptOf } from '../support/receipts.ts';
import { ended, isSame, standing, there } from './receipts.ts';
import { harness, type Facts } from './shared-harness.ts';
import { alertOf, atBank, cardOf, confirmed, countAtBank, onPage } from './harness.ts';
import { eventually } from '../support/eventually.ts';

/** Binds a method on the page and gives the active token. */
const bound = async (
  body: object,
  page: object,
  bindingOf: (token: any) => Promise<any>,
): Promise<any> => {
  const { merchant } = harness();
  const made = await merchant.call('POST', '/tokens', { customer_ref: 'c-1', ...body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await onPage(made.body.pay_url, 'pay', page);
  await confirmed(harness(), (await bindingOf(made.body.card)).metadata.operation_id, 'pay');
  return eventually(
    async () =>
      (await merchant.call('GET', '/tokens')).body.items.find(
        ({ id, status }: any) => id === made.body.card.id && status === 'active',
      ),
    'the active token',
  );
};
/** What the acquirer has had since: the binding's order. */
const newest = async (): Promise<any> =>
  eventually(
    async () => (await harness().acquirer.books()).payments.at(-1),
    'the binding at the bank',
  );
const charge = async (token: any, amount: number, more: object = {}): Promise<any> => {
  const body = { amount, ...more };
  const answer = await harness().merchant.call('POST', `/tokens/${token.id}/charge`, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
};
const settled = (id: string, status: string): Promise<any> =>
  eventually(async () => {
    const { body } = await harness().merchant.call('GET', `/payments/${id}`);
    return body.status === status && body;
  }, `the charge as ${status}`);
let card: any;

export const chargeFacts: Facts = {
  'a card is proved without taking money, and charged without its buyer': async () => {
    card = await bound({ method: 'cards' }, { card: cardOf(cardWith3ds) }, newest);
    assert.equal(card.card_mask.slice(-4), '0053');
    const proof = (await harness().acquirer.books()).payments.findLast(
      ({ cancellation_details: why }) => why?.reason === 'canceled_by_merchant',
    );
    assert.equal(proof.amount.value, '1.00');
    const charged = await settled((await charge(card, 45_000)).id, 'succeeded');
    assert.equal((await atBank(harness(), 'payments', charged.id)).amount.value, '450.00');
  },

  'SBP is bound by its first payment, and charged without its buyer': async () => {
    const token = await bound({ method: 'sbp', amount: 15_000 }, {}, newest);
    await settled((await charge(token, 16_000)).id, 'succeeded');
  },

  'a charge whose answer is lost is one charge; one that is refused has the reason': async () => {
    await harness().acquirer.faults({
      next: [{ fault: 'error_after', method: 'POST', path: '/payments' }],
    });
    const lost = await charge(card, 17_000);
    await settled(lost.id, 'succeeded');
    assert.equal(await countAtBank(harness(), 'payments', lost.id), 1);
    const refused = await settled((await charge(card, 17_002)).id, 'failed');
    assert.equal(refused.metadata.failure_code, 'insufficient_funds');
  },

  'a charge with a receipt has it registered once, also when the answer of the bank is lost':
    async () => {
      await harness().acquirer.faults({
        next: [{ fault: 'error_after', method: 'POST', path: '/payments' }],
      });
      const { id } = await charge(card, 19_000, { receipt: receiptOf(19_000) });
      const { metadata } = await settled(id, 'succeeded');
      const [receipt] = await ended(id, 1);
      isSame(receipt, (await there(metadata.bank_ref))[0]);
      assert.deepEqual(await standing(metadata.bank_ref), ['payment cashless 190.00 succeeded']);
    },

  'each period of a subscription has its receipt at the bank: that of the first payment, too':
    async () => {
      const { merchant, elapse } = harness();
      const body = { amount: 21_000, customer_ref: 'c-2', receipt: receiptOf(21_000) };
      const started = await merchant.call('POST', '/subscriptions', body);
      assert.equal(started.status, 201, JSON.stringify(started.body));
      const { subscription, initial_payment: first, pay_url: url } = started.body;
      await onPage(url, 'pay', { card: cardOf() });
      await eventually(
        async () =>
          (await merchant.call('GET', `/subscriptions/${subscription.id}`)).body.status ===
          'active',
        'the active subscription',
      );
      await elapse(subscription.id, 'period');
      const second = await eventually(
        async () =>
          (await merchant.call('GET', '/payments?status=succeeded')).body.items.find(
            ({ id, amount }: any) => amount === 21_000 && id !== first.id,
          ),
        'the charge of the second period',
      );
      for (const id of [first.id, second.id]) {
        const [receipt, ...others] = await ended(id, 1);
        const { body: payment } = await merchant.call('GET', `/payments/${id}`);
        const [theirs, ...more] = await there(payment.metadata.bank_ref);
        isSame(receipt, theirs);
        assert.deepEqual([receipt.amount, others, more], [21_000, [], []]);
      }
    },

  'a charge of another amount than was ordered takes nothing, and the operators are notified':
    async () => {
      const { merchant, acquirer } = harness();
      const balance = async (): Promise<number> =>
        (await merchant.call('GET', '/balance')).body.balance;
      const before = await balance();
      await acquirer.faults({
        rates: { lost: 1 },
        next: [{ fault: 'wrong_amount', method: 'POST', path: '/payments' }],
      });
      const { id } = await charge(card, 18_000);
      await acquirer.faults({ rates: { lost: 0 } });
      await alertOf(harness(), 'bank_echo_differs', id);
      assert.deepEqual(
        [(await merchant.call('GET', `/payments/${id}`)).body.status, await balance()],
        ['processing', before],
      );
    },
};
