/** The connector to T-Bank alone, ordered about receipts: one for each movement. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { SessionOrder } from '../../subgraphs/acquirers/bank.ts';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { openTBank } from '../../subgraphs/acquirers/tbank/open-tbank.ts';
import { receiptIn } from '../../subgraphs/acquirers/tbank/connector.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import type { ReceiptTerms } from '../../subgraphs/rules/receipt.ts';
import { startAcquirer, tbankTerminal, type Acquirer } from '../acquirer/start-acquirer.ts';
import { openReceiver } from '../support/merchant.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import {
  merchantId,
  now,
  questionOf,
  receiptBank,
  receiptOf,
  sessionOf,
  type Known,
} from './receipt-fixture.ts';
import { eventually, patience_ms } from '../support/eventually.ts';

describe('receipts at T-Bank', () => {
  let acquirer: Acquirer;
  let record: MigratedDatabase;
  /** `lossy` gives up soon: its answers are lost. */
  let banks: Readonly<Record<'1.05' | '1.2' | 'lossy', OpenedBank>>;
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  before(async () => {
    [acquirer, record] = await Promise.all([startAcquirer(), startMigratedDatabase()]);
    receiver = await openReceiver();
    const { pool } = record.database;
    const open = (ffd: '1.05' | '1.2', attempt_ms: number): OpenedBank => {
      const config = {
        url: acquirer.tbankApi,
        terminal: tbankTerminal.id,
        password: tbankTerminal.password,
        attempt_ms,
        hold_d: 7,
        register: { ffd, taxSystem: null },
      };
      return openTBank(config, new URL(receiver.url).origin, pool);
    };
    banks = {
      '1.05': open('1.05', patience_ms),
      '1.2': open('1.2', patience_ms),
      lossy: open('1.2', 1_500),
    };
  });
  after(async () => {
    await Promise.all(Object.values(banks).map((bank) => bank.close()));
    await receiver.close();
    await Promise.all([acquirer.stop(), record.close()]);
  });

  const paid = async (
    amount: number,
    receipt: ReceiptTerms,
    more: Partial<SessionOrder> = {},
  ): Promise<Known> => {
    const operationId = randomUUID();
    const order = sessionOf(operationId, amount, { card: null, receipt, ...more });
    const answer = await banks['1.2'].openSession(order);
    assert.ok(answer.kind === 'opened' && answer.stepUrl !== null, JSON.stringify(answer));
    await acquirer.confirm(answer.stepUrl, 'pay');
    return { operationId, reference: answer.reference };
  };
  /** What the bank has notified of the receipts of a payment. */
  const notified = (payment: Known, type: string): Promise<any> =>
    eventually(
      () =>
        receiver.received
          .map(({ body }) => receiptIn(merchantId, body))
          .find((each) => each?.paymentId === payment.operationId && each.type === type),
      `the ${type} receipt`,
    );
  const there = async ({ operationId }: Known): Promise<readonly string[]> =>
    (await acquirer.books()).tbank.receipts
      .filter(({ orderId }) => orderId === operationId)
      .map(({ kind, amount }) => `${kind} ${amount}`);

  test('a payment, a part of it that goes back, and the rest of a hold have receipts, of which the bank notifies', async () => {
    const bank = banks['1.2'];
    const payment = await paid(20_000, receiptOf(20_000, 'full_prepayment'));
    const registered = await notified(payment, 'payment');
    assert.deepEqual([registered.amount, registered.failureReason], [20_000, null]);
    assert.match(registered.fiscal.registeredAt, /Z$/);
    const refund = {
      merchantId,
      operationId: randomUUID(),
      payment,
      amount: minorUnits(5_000),
      currency: 'RUB',
      planned: null,
      reference: null,
      now: now(),
    };
    assert.equal((await bank.refund({ ...refund, receipt: receiptOf(5_000) })).kind, 'approved');
    assert.equal((await notified(payment, 'refund')).amount, 5_000);

    const held = await paid(20_000, receiptOf(20_000), { holds: true });
    const hold = {
      kind: 'capture',
      merchantId,
      operationId: randomUUID(),
      payment: held,
      amount: minorUnits(8_000),
      held: minorUnits(20_000),
      currency: 'RUB',
      receipt: receiptOf(8_000),
      now: now(),
    } as const;
    assert.equal((await bank.settleHold?.(hold))?.kind, 'captured');
    await eventually(async () => (await there(held)).length === 1, 'the receipt of the part');
    assert.deepEqual(await there(held), ['payment 8000']);

    const whole = await paid(6_000, receiptOf(6_000));
    await notified(whole, 'closing');
    const all = { ...refund, operationId: randomUUID(), payment: whole, amount: minorUnits(6_000) };
    assert.deepEqual(await bank.refund({ ...all, receipt: receiptOf(6_000) }), {
      kind: 'declined',
      failureCode: 'refund_rejected',
      bankCode: 'receipt_of_whole_refund',
    });
    assert.equal((await bank.refund(all)).kind, 'approved');
    assert.equal((await notified(whole, 'refund')).amount, 6_000);
  });

  test('a closing receipt goes out once, whatever becomes of its answer and however many order it', async () => {
    const bank = banks.lossy;
    for (const fault of ['timeout_after', 'error_after', 'slow'] as const) {
      const payment = await paid(9_000, receiptOf(9_000, 'full_prepayment'));
      await notified(payment, 'payment');
      const order = questionOf(payment, 9_000, receiptOf(9_000, 'full_payment'), {
        type: 'closing',
      });
      const path = '/cashbox/SendClosingReceipt';
      await acquirer.faults({ next: [{ fault, method: 'POST', path }] });
      const answers = await Promise.all(Array.from({ length: 5 }, () => receiptBank(bank)(order)));
      assert.ok(
        answers.every(({ kind }) => kind === 'pending'),
        JSON.stringify(answers),
      );
      assert.equal((await notified(payment, 'closing')).failureReason, null, fault);
      assert.deepEqual(await there(payment), ['payment 9000', 'closing 9000'], fault);
    }
  });

  test('what the bank refuses at once has failed; a failed closing receipt is sent again, another is not', async () => {
    const bank = banks['1.2'];
    const unpaid = await paid(9_000, receiptOf(9_000));
    const closing = questionOf(unpaid, 9_000, receiptOf(9_000), { type: 'closing' });
    assert.deepEqual(await receiptBank(bank)(closing), {
      kind: 'failed',
      reason: 'T-Bank refused it: 309',
    });
    const payment = await paid(9_108, receiptOf(9_108, 'full_prepayment'));
    assert.match(
      (await notified(payment, 'payment')).failureReason,
      /^T-Bank: 1 The cash register/,
    );
    const order = questionOf(payment, 9_108, receiptOf(9_108), { type: 'closing' });
    await receiptBank(bank)(order);
    assert.notEqual((await notified(payment, 'closing')).failureReason, null);
    await receiptBank(bank)({ ...order, attempt: 1 });
    await eventually(async () => (await there(payment)).length === 3, 'the closing receipt again');
    const again = questionOf(payment, 9_108, receiptOf(9_108), { attempt: 1 });
    const answer = await receiptBank(bank)(again);
    assert.match(answer.kind === 'failed' ? answer.reason : '', /sends no receipt .* again/);
  });

  test('a receipt is awaited for a day', async () => {
    const payment = await paid(9_000, receiptOf(9_000));
    const order = questionOf(payment, 9_000, receiptOf(9_000));
    const ask = (hours: number) =>
      receiptBank(banks['1.2'])({ ...order, now: order.createdAt.add({ hours }) });
    const until = order.createdAt.add({ hours: 24 });
    assert.deepEqual(await ask(1), { kind: 'pending', askAt: until });
    assert.equal((await ask(24)).kind, 'failed');
    // A closing receipt, too, from each of its orders: it was sent again three days later.
    const prepaid = await paid(9_000, receiptOf(9_000, 'full_prepayment'));
    await notified(prepaid, 'payment');
    const closing = questionOf(prepaid, 9_000, receiptOf(9_000), { type: 'closing', attempt: 1 });
    const askAgain = (hours: number) =>
      receiptBank(banks['1.2'])({
        ...closing,
        now: order.createdAt.add({ hours }).round('microsecond'),
      });
    const day = order.createdAt.add({ hours: 96 }).round('microsecond');
    assert.deepEqual(await askAgain(72), { kind: 'pending', askAt: day });
    assert.deepEqual(await askAgain(80), { kind: 'pending', askAt: day });
    assert.equal((await askAgain(96)).kind, 'failed');
  });

  test('the terminal takes its own format, and refuses another', async () => {
    const order = sessionOf(randomUUID(), 9_000, { card: null, receipt: receiptOf(9_000) });
    const answer = await banks['1.05'].openSession(order);
    assert.deepEqual(answer, {
      kind: 'declined',
      failureCode: 'unknown_bank_code',
      bankCode: '309',
    });
  });

  test('everything that was asked, answered and notified was as described', async () => {
    assert.deepEqual((await acquirer.books()).violations, []);
  });
});
