/** Facts about live payouts. */
import assert from 'node:assert/strict';
import { operatorToken } from '../support/service.ts';
import { askGraph } from '../support/merchant.ts';
import { harness, type Facts } from './shared-harness.ts';
import { alertOf, askAgain, countAtBank, paid } from './harness.ts';
import { eventually } from '../support/eventually.ts';

const sbp = { method: 'payouts_sbp', phone: '+79161234567', bank_id: '100000000111' };
const ended = (id: string, status: string): Promise<any> =>
  eventually(async () => {
    const { body } = await harness().merchant.call('GET', `/payouts/${id}`);
    return body.status === status && body;
  }, `the payout ${id} as ${status}`);
const payOut = async (body: object): Promise<any> => {
  const answer = await harness().merchant.call('POST', '/payouts', body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.payout;
};

export const payoutFacts: Facts = {
  'money goes out by SBP and to a card, once each, also when the answer to the order is lost':
    async () => {
      const { acquirer, service } = harness();
      await paid(harness(), 900_000);
      const named = await payOut({ ...sbp, amount: 10_000, full_name: 'Петров Иван Сергеевич' });
      const card = await payOut({
        method: 'payouts_card',
        amount: 12_000,
        card_pan: '2200000000000004',
      });
      await acquirer.faults({
        next: [{ fault: 'closed_after', method: 'POST', path: '/payouts' }],
      });
      const lost = await payOut({ ...sbp, amount: 13_000 });
      for (const { id } of [named, card, lost]) {
        const done = await ended(id, 'succeeded');
        assert.match(done.bank_ref, /^po-/);
        assert.equal(await countAtBank(harness(), 'payouts', id), 1);
      }
      assert.doesNotMatch(service.processes.map((part) => part.output()).join(''), /220000000000/);
    },

  'what the bank refuses to pay out has failed with the reason, and the money is available again':
    async () => {
      const { merchant } = harness();
      const available = async (): Promise<number> =>
        (await merchant.call('GET', '/balance')).body.available;
      const before = await available();
      const unknown = await payOut({ ...sbp, amount: 10_002 });
      assert.equal((await ended(unknown.id, 'failed')).fail_reason, 'recipient_not_in_sbp');
      const nowhere = await payOut({ ...sbp, amount: 10_000, bank_id: '000000000000' });
      assert.equal((await ended(nowhere.id, 'failed')).fail_reason, 'bank_unknown');
      assert.equal(await available(), before);
    },

  'an account cannot be paid by this bank': async () => {
    const account = {
      method: 'payouts_account',
      amount: 1_000,
      account_number: '40702810900000000001',
      bik: '044525225',
      full_name: 'OOO Romashka',
    };
    const answer = await harness().merchant.call('POST', '/payouts', account);
    assert.deepEqual([answer.status, answer.body.error?.code], [422, 'method_unsupported']);
  },

  'a payout of another amount than was ordered stops, and the operators are notified, who have the bank asked again':
    async () => {
      const { merchant, acquirer } = harness();
      await acquirer.faults({
        rates: { lost: 1 },
        next: [{ fault: 'wrong_amount', method: 'POST', path: '/payouts' }],
      });
      const { id } = await payOut({ ...sbp, amount: 14_000 });
      assert.match(
        (await alertOf(harness(), 'bank_echo_differs', id)).detail,
        /140\.01 RUB.*14000 minor units/,
      );
      await acquirer.faults({ rates: { lost: 0 } });
      // Reading it by its id would have the bank asked, too.
      const status = async (): Promise<string> =>
        (await merchant.call('GET', '/payouts?limit=100')).body.items.find(
          (item: any) => item.id === id,
        ).status;
      assert.equal(await status(), 'pending');
      assert.equal(await askAgain(harness(), id), 'payout');
      await eventually(async () => (await status()) === 'succeeded', 'the payout');
      assert.equal(await countAtBank(harness(), 'payouts', id), 1);
    },

  'the directory of SBP comes from the bank': async () => {
    const asked = await askGraph(
      harness().service,
      'mutation { sbpBanksRefresh(connector: "yookassa") { ... on SbpBanksRefreshed { named } ... on Refused { code } } }',
    );
    assert.equal(asked.sbpBanksRefresh.named, 2);
  },

  'whether calls to the bank are withheld is among the metrics': async () => {
    const metrics = await fetch(new URL('/metrics', harness().service.graph), {
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    assert.match(await metrics.text(), /^bank_breaker_open\{connector="yookassa"\} 0$/m);
  },
};
