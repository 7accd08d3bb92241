/** Facts about live payments. */
import assert from 'node:assert/strict';
import { cardWith3ds } from '../acquirer/api.ts';
import { harness, type Facts } from './shared-harness.ts';
import {
  alertOf,
  askAgain,
  atBank,
  cardOf,
  confirmed,
  countAtBank,
  onPage,
  order,
  pageState,
  untilStatus,
} from './harness.ts';
import { failureTexts } from '../../subgraphs/rules/failure-code.ts';
import { eventually } from '../support/eventually.ts';

interface LedgerEntry {
  readonly payment_id: string | null;
  readonly type: string;
  readonly amount: number;
}

/** What the ledger has of a payment, sorted. */
const movementsOf = async (id: string): Promise<readonly string[]> => {
  const { body } = await harness().merchant.call('GET', '/ledger?limit=200');
  const items: readonly LedgerEntry[] = body.items;
  return items
    .filter(({ payment_id: of }) => of === id)
    .map(({ type, amount }) => `${type} ${amount}`)
    .toSorted();
};

/** The money of a late success is on its way back, here and at the bank. */
const goesBack = async (id: string, status: string, amount: number): Promise<void> => {
  const { merchant } = harness();
  await alertOf(harness(), 'late_success', id);
  const late = await eventually(async () => {
    const { body } = await merchant.call('GET', `/payments/${id}`);
    return body.amount_refunded === amount && body;
  }, 'the money on its way back');
  assert.deepEqual(
    [late.status, late.metadata.late_success, late.fee, late.refunds.length],
    [status, 'true', undefined, 1],
  );
  assert.deepEqual(await movementsOf(id), [`payment ${amount}`, `refund -${amount}`]);
  const given = (await harness().acquirer.books()).refunds.filter(
    ({ payment_id: of }) => of === late.metadata.bank_ref,
  );
  assert.deepEqual(
    given.map((refund) => [refund.status, refund.amount.value]),
    [['succeeded', `${amount / 100}.00`]],
  );
};

export const paymentFacts: Facts = {
  ...Object.fromEntries(
    (['sbp', 'tpay', 'sberpay'] as const).map((method) => [
      `a buyer pays by ${method} when they confirm at the bank, and the bank's word ends it`,
      async () => {
        const { merchant } = harness();
        const { payment, url } = await order(merchant, 125_000, method);
        const state = await onPage(url, 'pay');
        assert.equal(state.status, 'processing', JSON.stringify(state));
        await confirmed(harness(), payment.id, 'pay');
        const paid = await untilStatus(merchant, payment.id, 'succeeded');
        const { id } = await atBank(harness(), 'payments', payment.id);
        assert.deepEqual([paid.metadata.bank_ref, paid.amount], [id, 125_000]);
        assert.equal(paid.rrn !== null, method === 'sbp');
      },
    ]),
  ),

  'a card pays at once, or after 3-D Secure at the bank; what the bank says of it is kept, the number is not':
    async () => {
      const { merchant, service } = harness();
      const [plain, asked] = [
        await order(merchant, 10_000, 'cards'),
        await order(merchant, 20_000, 'cards'),
      ];
      await onPage(plain.url, 'pay', { card: cardOf() });
      await onPage(asked.url, 'pay', { card: cardOf(cardWith3ds) });
      const paid = await untilStatus(merchant, plain.payment.id, 'succeeded');
      assert.deepEqual(
        [paid.customer_card_mask?.slice(-4), paid.customer_card_brand, paid.customer_card_holder],
        ['0004', 'Mir', 'IVAN PETROV'],
      );
      await confirmed(harness(), asked.payment.id, 'pay');
      await untilStatus(merchant, asked.payment.id, 'succeeded');
      const unanswered = await order(merchant, 30_000, 'cards');
      const lost = { fault: 'error_after', method: 'POST', path: '/payments' } as const;
      await harness().acquirer.faults({ next: [lost, lost] });
      await onPage(unanswered.url, 'pay', { card: cardOf() });
      const found = await untilStatus(merchant, unanswered.payment.id, 'succeeded');
      assert.equal(
        found.customer_card_holder,
        'IVAN PETROV',
        'what the buyer typed is no word of the bank',
      );
      assert.doesNotMatch(service.processes.map((part) => part.output()).join(''), /220000000000/);
    },

  'what the bank refuses has the reason in our words and in its own': async () => {
    const { merchant } = harness();
    const refused = [
      [10_001, 'pay', 'do_not_honor', 'general_decline'],
      [10_002, 'pay', 'insufficient_funds', 'insufficient_funds'],
      [10_000, 'refuse', 'authentication_failed', '3d_secure_failed'],
    ] as const;
    for (const [amount, decision, code, raw] of refused) {
      const { payment, url } = await order(merchant, amount);
      await onPage(url, 'pay');
      await confirmed(harness(), payment.id, decision);
      const failed = await untilStatus(merchant, payment.id, 'failed');
      assert.deepEqual(
        [failed.metadata.failure_code, failed.metadata.bank_failure_code],
        [code, `yookassa:${raw}`],
      );
    }
    const card = await order(merchant, 10_003, 'cards');
    await onPage(card.url, 'pay', { card: cardOf() });
    const failed = await untilStatus(merchant, card.payment.id, 'failed');
    assert.equal(failed.metadata.failure_code, 'expired_card');
    const large = await order(merchant, 35_000_001, 'cards');
    await onPage(large.url, 'pay', { card: cardOf() });
    assert.equal(
      (await untilStatus(merchant, large.payment.id, 'failed')).metadata.failure_code,
      'limit_exceeded',
    );
  },

  'an answer that is lost leaves one payment at the bank, which is found and paid': async () => {
    const { merchant, acquirer } = harness();
    for (const fault of [
      'timeout_after',
      'error_after',
      'too_many',
      'timeout_before',
      'slow',
    ] as const) {
      await acquirer.faults({ next: [{ fault, method: 'POST', path: '/payments' }] });
      const { payment, url } = await order(merchant, 5_000);
      assert.equal((await onPage(url, 'pay')).status, 'processing', fault);
      await confirmed(harness(), payment.id, 'pay');
      await untilStatus(merchant, payment.id, 'succeeded');
      assert.equal(await countAtBank(harness(), 'payments', payment.id), 1, fault);
    }
  },

  'an answer that is lost twice is found among the payments of its minutes at the next read, and the buyer continues with it':
    async () => {
      const { merchant, acquirer } = harness();
      const lost = { fault: 'closed_after', method: 'POST', path: '/payments' } as const;
      await acquirer.faults({ next: [lost, lost, lost, lost] });
      const { payment, url, answer } = await order(merchant, 6_000);
      assert.deepEqual(
        [payment.status, answer.bank, answer.bank_ref],
        ['pending', null, null],
        'unknown is not failed',
      );
      assert.equal((await onPage(url, 'pay')).status, 'processing');
      const { id, confirmation } = await atBank(harness(), 'payments', payment.id);
      await eventually(
        async () =>
          (await merchant.call('GET', `/payments/${payment.id}`)).body.metadata.bank_ref === id,
        'the order that was lost',
      );
      assert.equal((await pageState(url)).stepUrl, confirmation.confirmation_data);
      await confirmed(harness(), payment.id, 'pay');
      await untilStatus(merchant, payment.id, 'succeeded');
      assert.equal(await countAtBank(harness(), 'payments', payment.id), 1);
    },

  'another amount than was ordered moves nothing and is reported to the operators, who have the bank asked again':
    async () => {
      const { merchant, acquirer } = harness();
      const balance = async () => (await merchant.call('GET', '/balance')).body.balance;
      const { payment, url } = await order(merchant, 7_700);
      await onPage(url, 'pay');
      const before = await balance();
      // The notification, and the query that was due at the same moment.
      await acquirer.faults({ rates: { wrong_amount: 1 } });
      await confirmed(harness(), payment.id, 'pay');
      const alert = await alertOf(harness(), 'bank_echo_differs', payment.id);
      assert.match(alert.detail, /77\.01 RUB.*7700 minor units/);
      assert.deepEqual(
        [(await merchant.call('GET', `/payments/${payment.id}`)).body.status, await balance()],
        ['processing', before],
      );
      // The right answer to the first would end the payment before the second.
      assert.deepEqual(
        [await askAgain(harness(), payment.id), await askAgain(harness(), payment.id)],
        ['payment', 'payment'],
      );
      await acquirer.faults({ rates: {} });
      await untilStatus(merchant, payment.id, 'succeeded');
      assert.deepEqual(
        [await askAgain(harness(), payment.id), await askAgain(harness(), merchant.id)],
        ['not_pending', 'not_found'],
      );
    },

  'what becomes of a payment when the bank refuses its order at once: it has failed, and the merchant learns it in the answer':
    async () => {
      const { payment, answer } = await order(harness().merchant, 70_000_001, 'tpay');
      assert.deepEqual(
        [payment.status, answer.failure_code, answer.failure_message, answer.bank_ref],
        ['failed', 'limit_exceeded', failureTexts.limit_exceeded, null],
      );
      assert.equal(
        (await harness().merchant.call('GET', `/payments/${payment.id}`)).body.metadata
          .bank_failure_code,
        'yookassa:invalid_request',
      );
    },

  ...Object.fromEntries(
    (
      [
        ['the merchant has cancelled it', 'cancelled', 31_700],
        ['its link has expired', 'expired', 31_800],
        ['its session has expired', 'expired', 31_900],
      ] as const
    ).map(([sentence, status, amount]) => [
      `a payment that is paid at the bank after ${sentence} goes back to its buyer, both movements in the ledger`,
      async () => {
        const { merchant, elapse } = harness();
        const { payment, url } = await order(merchant, amount);
        if (status === 'cancelled')
          assert.equal((await merchant.call('POST', `/payments/${payment.id}/cancel`)).status, 200);
        if (sentence === 'its link has expired') await elapse(payment.id, 'link');
        if (sentence === 'its session has expired') {
          await onPage(url, 'pay');
          await elapse(payment.id, 'session');
        }
        await untilStatus(merchant, payment.id, status);
        await confirmed(harness(), payment.id, 'pay');
        await goesBack(payment.id, status, amount);
      },
    ]),
  ),

  'an order that is paid before its buyer went on from the page is paid': async () => {
    const { payment } = await order(harness().merchant, 4_200);
    await confirmed(harness(), payment.id, 'pay');
    await untilStatus(harness().merchant, payment.id, 'succeeded');
  },

  'an order whose answer was lost is found when the bank notifies that it is paid, though its buyer never went on from the page':
    async () => {
      const { merchant, acquirer } = harness();
      const lost = { fault: 'closed_after', method: 'POST', path: '/payments' } as const;
      const orderLost = async (amount: number) => {
        await acquirer.faults({ next: [lost, lost] });
        const { payment, answer } = await order(merchant, amount);
        assert.deepEqual([payment.status, answer.bank, answer.bank_ref], ['pending', null, null]);
        return payment.id;
      };
      const id = await orderLost(4_300);
      const [there] = (await acquirer.books()).payments.filter(
        ({ metadata }) => metadata.operation_id === id,
      );
      // The bank's word comes many times at once.
      const notify = (): Promise<Response> =>
        fetch(`${harness().service.rest}/callbacks/yookassa`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            type: 'notification',
            event: 'payment.succeeded',
            object: { ...there, status: 'succeeded' },
          }),
        });
      const once = confirmed(harness(), id, 'pay');
      await Promise.all([once, ...Array.from({ length: 12 }, notify)]);
      await Promise.all(Array.from({ length: 12 }, notify));
      const paid = await untilStatus(merchant, id, 'succeeded');
      assert.equal(paid.metadata.bank_ref, there?.id);
      const fees = paid.fee > 0 ? [`fee -${paid.fee}`] : [];
      assert.deepEqual(await movementsOf(id), [...fees, 'payment 4300'], 'booked once');
      assert.equal((await merchant.call('POST', `/payments/${id}/refund`, {})).status, 201);
      await untilStatus(merchant, id, 'refunded');
      const cancelled = await orderLost(32_000);
      assert.equal((await merchant.call('POST', `/payments/${cancelled}/cancel`)).status, 200);
      await confirmed(harness(), cancelled, 'pay');
      await goesBack(cancelled, 'cancelled', 32_000);
    },

  'an order that comes back under another id is not believed: the operators are notified, and the buyer pays the one that is ours':
    async () => {
      const { merchant, acquirer } = harness();
      await acquirer.faults({ next: [{ fault: 'wrong_id', method: 'POST', path: '/payments' }] });
      const { payment, url, answer } = await order(merchant, 7_800);
      assert.deepEqual([payment.status, answer.bank_ref], ['pending', null]);
      await alertOf(harness(), 'bank_echo_differs', payment.id);
      await onPage(url, 'pay');
      await confirmed(harness(), payment.id, 'pay');
      await untilStatus(merchant, payment.id, 'succeeded');
    },
};
