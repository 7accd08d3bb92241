/**
 * Receipts of live movements at T-Bank, emulated as a process of its own: what becomes of them
 * comes by its signed notifications alone.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { tbankTerminal } from '../acquirer/start-acquirer.ts';
import { signatureOf } from '../acquirer/tbank/api.ts';
import { itemOf, receiptOf } from '../support/receipts.ts';
import {
  alertOf,
  onPage,
  openLiveHarness,
  operate,
  routeTo,
  untilStatus,
  type LiveHarness,
} from './harness.ts';
import { eventually } from '../support/eventually.ts';

describe('receipts of live movements at T-Bank', () => {
  let harness: LiveHarness;
  before(async () => {
    harness = await openLiveHarness(
      ({ tbankApi }) => ({
        TBANK_URL: tbankApi,
        TBANK_TERMINAL_KEY: tbankTerminal.id,
        TBANK_PASSWORD: tbankTerminal.password,
        TBANK_TIMEOUT_MS: '1500',
        TBANK_FFD: '1.2',
        TBANK_TAX_SYSTEM: '2',
      }),
      (service, merchant) => routeTo(service, 'tbank', merchant, { payment: ['sbp', 'cards'] }),
    );
  });
  after(() => harness.close());

  const books = async () => (await harness.acquirer.books()).tbank;
  const call = async (path: string, body: object): Promise<any> => {
    const answer = await harness.merchant.call('POST', path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const paid = async (amount: number, fields: object = {}): Promise<any> => {
    const given = { amount, method: 'cards', receipt: receiptOf(amount), ...fields };
    const { payment, payment_url: url } = await call('/payments', given);
    await onPage(url, 'pay');
    const order = await eventually(
      async () => (await books()).payments.find(({ orderId }) => orderId === payment.id),
      'the order at the bank',
    );
    const page = `${harness.acquirer.tbankApi.replace('/v2', '')}/pay/${order.id}`;
    await harness.acquirer.confirm(page, 'pay');
    const status = 'capture' in fields ? 'authorized' : 'succeeded';
    return untilStatus(harness.merchant, payment.id, status);
  };
  const receiptsOf = async (paymentId: string): Promise<any[]> =>
    (
      await harness.merchant.call('GET', `/receipts?payment_id=${paymentId}`)
    ).body.items.toReversed();
  /** Once so many of them have come to an end. */
  const ended = (paymentId: string, count: number): Promise<any[]> =>
    eventually(async () => {
      const receipts = await receiptsOf(paymentId);
      return receipts.filter(({ status }) => status !== 'pending').length === count && receipts;
    }, `${count} receipts of ${paymentId}`);
  const standing = (receipts: readonly any[]): readonly string[] =>
    receipts.map(({ type, amount, status }) => `${type} ${amount} ${status}`);
  const there = async (paymentId: string): Promise<readonly string[]> =>
    (await books()).receipts
      .filter(({ orderId }) => orderId === paymentId)
      .map(({ kind, amount, status }) => `${kind} ${amount} ${status}`);
  const prepaid = (amount: number) => ({
    receipt: receiptOf(amount, { items: [itemOf(amount, { payment_mode: 'full_prepayment' })] }),
  });

  test('each movement has its receipt, though notifications come three times and out of order', async () => {
    await harness.acquirer.faults({ rates: { duplicate: 0.5, reordered: 0.4 } });
    const payment = await paid(20_000, prepaid(20_000));
    const [own] = await ended(payment.id, 1);
    assert.match(own.fiscal_attribute, /^34495/);
    for (const receipt of [receiptOf(3_000), receiptOf(3_000)])
      await call(`/payments/${payment.id}/refund`, { amount: 3_000, receipt });
    const receipts = await ended(payment.id, 3);
    const numbers = receipts.map(({ fiscal_document_number: number }) => number);
    assert.equal(new Set(numbers).size, 3, 'each has a number of its own');
    await call(`/payments/${payment.id}/receipts`, receiptOf(14_000));
    const all = [
      'payment 20000 registered',
      'refund 3000 registered',
      'refund 3000 registered',
      'closing 14000 registered',
    ];
    assert.deepEqual(standing(await ended(payment.id, 4)), all);
    assert.deepEqual(await there(payment.id), all);
    await harness.acquirer.faults({ rates: { duplicate: 0, reordered: 0 } });
  });

  test('what is captured of a hold has a receipt of its own; a whole refund has that of the payment', async () => {
    const payment = await paid(20_000, { capture: 'manual' });
    await call(`/payments/${payment.id}/capture`, { amount: 8_000, receipt: receiptOf(8_000) });
    assert.deepEqual(standing(await ended(payment.id, 1)), ['payment 8000 registered']);
    await call(`/payments/${payment.id}/refund`, {});
    await ended(payment.id, 2);
    assert.deepEqual(await there(payment.id), [
      'payment 8000 registered',
      'refund 8000 registered',
    ]);
  });

  test('a receipt that failed raises an alert; the bank sends a closing one again, and another only in its cabinet', async () => {
    const resend = (id: string) =>
      operate(
        harness.service,
        'mutation ($m: ID!, $id: ID!) { receiptResend(merchantId: $m, id: $id) { ... on Refused { code message } } }',
        { m: harness.merchant.id, id },
      );
    const payment = await paid(10_008, prepaid(10_008));
    const [failed] = await ended(payment.id, 1);
    assert.match(failed.failure_reason, /^T-Bank: 1 The cash register did not answer/);
    await alertOf(harness, 'receipt_failed', failed.id);
    await resend(failed.id);
    await eventually(
      async () =>
        /sends no receipt .* again/.test((await receiptsOf(payment.id))[0].failure_reason),
      'the refusal in words',
    );
    const { receipt: closing } = await call(`/payments/${payment.id}/receipts`, receiptOf(10_008));
    await eventually(
      async () => (await receiptsOf(payment.id))[1].status === 'failed',
      'the closing receipt that failed',
    );
    await resend(closing.id);
    await eventually(
      async () => (await receiptsOf(payment.id))[1].status === 'registered',
      'the closing receipt',
    );
    assert.deepEqual(await there(payment.id), [
      'payment 10008 failed',
      'closing 10008 failed',
      'closing 10008 registered',
    ]);
  });

  test('a closing receipt whose answer is lost goes out once; an unsigned notification changes nothing', async () => {
    const payment = await paid(9_000, prepaid(9_000));
    await ended(payment.id, 1);
    await harness.acquirer.callbacks({ receipts: 'silent' });
    const path = '/cashbox/SendClosingReceipt';
    await harness.acquirer.faults({ next: [{ fault: 'timeout_after', method: 'POST', path }] });
    await call(`/payments/${payment.id}/receipts`, receiptOf(9_000));
    await eventually(
      async () => (await there(payment.id)).length === 2,
      'the closing receipt there',
    );
    await harness.acquirer.callbacks({ receipts: 'usual' });
    const message = {
      TerminalKey: tbankTerminal.id,
      OrderId: payment.id,
      Success: true,
      Status: 'RECEIPT',
      PaymentId: Number(payment.metadata.bank_ref),
      ErrorCode: '0',
      Amount: 9_000,
      Type: 'Income',
      FnNumber: '9280440300000001',
      FiscalDocumentNumber: 777,
      FiscalDocumentAttribute: 888,
      ReceiptDatetime: '2026-11-23T20:15:00',
    };
    const notify = async (Token: string): Promise<number> => {
      const answer = await fetch(`${harness.service.rest}/callbacks/tbank/${harness.merchant.id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...message, Receipt: { Items: [{}] }, Token }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    assert.equal(await notify('0'.repeat(64)), 403);
    assert.equal((await receiptsOf(payment.id))[1].status, 'pending');
    assert.equal(await notify(signatureOf(message, tbankTerminal.password)), 200);
    const [, closing] = await receiptsOf(payment.id);
    assert.deepEqual(
      [closing.status, closing.fiscal_document_number, closing.registered_at],
      ['registered', '777', '2026-11-23T17:15:00.000Z'],
    );
    assert.equal((await there(payment.id)).length, 2);
  });

  test('what the bank has no words for fails before money moves, and says why', async () => {
    const item = itemOf(5_000, { payment_subject: 'composite' });
    const { payment, failure_code: code } = await call('/payments', {
      amount: 5_000,
      method: 'sbp',
      receipt: receiptOf(5_000, { items: [item] }),
    });
    assert.deepEqual([payment.status, code], ['failed', 'method_unavailable']);
    const { body } = await harness.merchant.call('GET', `/payments/${payment.id}`);
    assert.equal(body.metadata.bank_failure_code, 'tbank:receipt_payment_subject');
  });

  test('everything that was asked, answered and notified was as described', async () => {
    const { violations, tbank } = await harness.acquirer.books();
    assert.ok(tbank.receipts.length > 8, `saw only ${tbank.receipts.length} receipts`);
    assert.deepEqual(violations, []);
  });
});
