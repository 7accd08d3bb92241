/** Facts about receipts of live movements (additions, section 2). */
import assert from 'node:assert/strict';
import { askGraph } from '../support/merchant.ts';
import { itemOf, receiptOf } from '../support/receipts.ts';
import { alertOf, atBank, cardOf, confirmed, onPage, operate } from './harness.ts';
import { harness, type Facts } from './shared-harness.ts';
import { eventually } from '../support/eventually.ts';

const call = async (path: string, body: object): Promise<any> => {
  const answer = await harness().merchant.call('POST', path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
};

/** A payment by SBP, or held by card, with a receipt. */
const paid = async (amount: number, receipt: object = receiptOf(amount)): Promise<any> => {
  const { payment, payment_url: url } = await call('/payments', { amount, method: 'sbp', receipt });
  await onPage(url, 'pay');
  await confirmed(harness(), payment.id, 'pay');
  return untilListed(payment.id, 'succeeded');
};

/** A list asks no bank. */
const untilListed = (id: string, status: string): Promise<any> =>
  eventually(
    async () =>
      (
        await harness().merchant.call('GET', `/payments?status=${status}&limit=100`)
      ).body.items.find((item: any) => item.id === id),
    `${id} as ${status}`,
  );

const held = async (amount: number): Promise<any> => {
  const body = { amount, method: 'cards', capture: 'manual', receipt: receiptOf(amount) };
  const { payment, payment_url: url } = await call('/payments', body);
  await onPage(url, 'pay', { card: cardOf() });
  return untilListed(payment.id, 'authorized');
};

/** The receipts of a payment here, the oldest first, once so many have come to an end. */
export const ended = (paymentId: string, count: number): Promise<any[]> =>
  eventually(async () => {
    const { body } = await harness().merchant.call('GET', `/receipts?payment_id=${paymentId}`);
    const receipts: any[] = body.items.toReversed();
    return receipts.filter(({ status }) => status !== 'pending').length === count && receipts;
  }, `${count} receipts of ${paymentId}`);

/** Those of a movement at the bank. */
export const there = async (movement: string): Promise<any[]> =>
  (await harness().acquirer.books()).receipts.filter(
    ({ payment_id: payment, refund_id: refund }) => payment === movement || refund === movement,
  );
export const standing = async (movement: string): Promise<readonly string[]> =>
  (await there(movement))
    .map(
      ({ type, status, settlements: [settled] }) =>
        `${type} ${settled.type} ${settled.amount.value} ${status}`,
    )
    .toSorted();

export const isSame = (ours: any, theirs: any): void =>
  assert.deepEqual(
    [
      ours.status,
      ours.fiscal_storage_number,
      ours.fiscal_document_number,
      ours.fiscal_attribute,
      ours.registered_at,
    ],
    [
      'registered',
      theirs.fiscal_storage_number,
      theirs.fiscal_document_number,
      theirs.fiscal_attribute,
      theirs.registered_at,
    ],
  );

const prepaid = (amount: number): object =>
  receiptOf(amount, { items: [itemOf(amount, { payment_mode: 'full_prepayment' })] });

export const receiptFacts: Facts = {
  'a live payment, a part of it that goes back and the rest of it have the receipts that the bank has registered':
    async () => {
      const payment = await paid(20_000);
      const [own] = await ended(payment.id, 1);
      const [theirs] = await there(payment.metadata.bank_ref);
      isSame(own, theirs);
      for (const amount of [5_000, 15_000]) {
        const body = { amount, receipt: receiptOf(amount) };
        const { id } = await call(`/payments/${payment.id}/refund`, body);
        const refund = await atBank(harness(), 'refunds', id);
        const receipts = await ended(payment.id, amount === 5_000 ? 2 : 3);
        const [back, ...others] = await there(refund.id);
        isSame(receipts.at(-1), back);
        assert.deepEqual([others, receipts.at(-1).refund_id], [[], id]);
      }
      const whole = await paid(7_000);
      const { id } = await call(`/payments/${whole.id}/refund`, {});
      const [, back] = await ended(whole.id, 2);
      const refund = await atBank(harness(), 'refunds', id);
      assert.deepEqual(await standing(refund.id), ['refund cashless 70.00 succeeded']);
      assert.deepEqual([back.refund_id, back.amount], [id, 7_000]);
    },

  'what is captured of a live hold has a receipt of its own, and a hold that is given up has none':
    async () => {
      const [part, given] = [await held(20_000), await held(30_000)];
      await call(`/payments/${part.id}/capture`, { amount: 8_000, receipt: receiptOf(8_000) });
      const [receipt, ...others] = await ended(part.id, 1);
      assert.deepEqual([receipt.amount, receipt.status, others], [8_000, 'registered', []]);
      const theirs = (await there(part.metadata.bank_ref)).find(
        ({ settlements: [{ amount }] }) => amount.value === '80.00',
      );
      isSame(receipt, theirs);
      await call(`/payments/${given.id}/cancel`, {});
      await untilListed(given.id, 'cancelled');
      await eventually(
        async () =>
          (await standing(given.metadata.bank_ref)).every((each) => each.endsWith('succeeded')),
        'both receipts at the bank',
      );
      const { body } = await harness().merchant.call('GET', `/receipts?payment_id=${given.id}`);
      assert.deepEqual(body.items, []);
      assert.deepEqual(await standing(given.metadata.bank_ref), [
        'payment cashless 300.00 succeeded',
        'refund cashless 300.00 succeeded',
      ]);
    },

  'a prepayment is closed by a receipt that the bank registers once, also when answers are lost':
    async () => {
      const payment = await paid(9_000, prepaid(9_000));
      await ended(payment.id, 1);
      const lost = { fault: 'closed_after', method: 'POST', path: '/receipts' } as const;
      await harness().acquirer.faults({ next: [lost, lost] });
      const { receipt } = await call(`/payments/${payment.id}/receipts`, {
        customer: { phone: '+79161234567' },
        items: [itemOf(9_000, { payment_mode: 'full_payment' })],
      });
      assert.equal(receipt.type, 'closing');
      const [, closing] = await ended(payment.id, 2);
      assert.equal(closing.status, 'registered');
      assert.deepEqual(await standing(payment.metadata.bank_ref), [
        'payment cashless 90.00 succeeded',
        'payment prepayment 90.00 succeeded',
      ]);
    },

  'a receipt that the bank could not register raises an alert, and is sent again by an operator':
    async () => {
      const { merchant, service } = harness();
      const payment = await paid(10_008);
      const [failed] = await ended(payment.id, 1);
      assert.equal(failed.status, 'failed');
      assert.match(failed.failure_reason, /could not register its receipt rt-/);
      await alertOf(harness(), 'receipt_failed', failed.id);
      const resend =
        'mutation ($m: ID!, $id: ID!) { receiptResend(merchantId: $m, id: $id) { ... on Refused { code message } } }';
      await operate(service, resend, { m: merchant.id, id: failed.id });
      const registered = await eventually(async () => {
        const { body } = await merchant.call('GET', `/receipts/${failed.id}`);
        return body.status === 'registered' && body;
      }, 'the receipt that was sent again');
      assert.equal(registered.failure_reason, null);
      assert.deepEqual(await standing(payment.metadata.bank_ref), [
        'payment cashless 100.08 canceled',
        'payment cashless 100.08 succeeded',
      ]);
      const { receiptResend } = await askGraph(service, resend, { m: merchant.id, id: failed.id });
      assert.equal(receiptResend.code, 'receipt_not_expected');
    },

  'whichever answer is lost, each movement has one receipt, here and at the bank': async () => {
    const { acquirer } = harness();
    const lose = (method: 'GET' | 'POST', path: string) =>
      acquirer.faults({
        next: Array.from({ length: 2 }, () => ({ fault: 'closed_after', method, path }) as const),
      });
    await lose('POST', '/payments');
    await lose('GET', '/receipts');
    const payment = await paid(20_000);
    const [own] = await ended(payment.id, 1);
    assert.equal(own.status, 'registered');
    await lose('POST', '/refunds');
    const body = { amount: 4_000, receipt: receiptOf(4_000) };
    const { id } = await call(`/payments/${payment.id}/refund`, body);
    assert.equal((await ended(payment.id, 2)).length, 2);
    const refund = await atBank(harness(), 'refunds', id);
    assert.deepEqual(await standing(refund.id), ['refund cashless 40.00 succeeded']);
    assert.deepEqual(await standing(payment.metadata.bank_ref), [
      'payment cashless 200.00 succeeded',
    ]);
    const hold = await held(20_000);
    await lose('POST', `/payments/${hold.metadata.bank_ref}/capture`);
    await call(`/payments/${hold.id}/capture`, { amount: 6_000, receipt: receiptOf(6_000) });
    assert.equal((await ended(hold.id, 1))[0].amount, 6_000);
    assert.deepEqual(await standing(hold.metadata.bank_ref), [
      'payment cashless 200.00 succeeded',
      'payment cashless 60.00 succeeded',
      'refund cashless 200.00 succeeded',
    ]);
  },
};
