/** The connector to YooKassa alone, ordered about receipts: one for each movement. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { SessionOrder, ReceiptOrder } from '../../subgraphs/acquirers/bank.ts';
import { openAccounts } from '../../subgraphs/acquirers/bank-accounts.ts';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { openYooKassa } from '../../subgraphs/acquirers/yookassa/open-yookassa.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import type { ReceiptTerms } from '../../subgraphs/rules/receipt.ts';
import type { FaultKind } from '../acquirer/faults.ts';
import { shopAccount, startAcquirer, type Acquirer } from '../acquirer/start-acquirer.ts';
import { patience_ms } from '../support/eventually.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import {
  ended,
  merchantId,
  now,
  questionOf,
  receiptBank,
  receiptOf,
  sessionOf,
  type Known,
} from './receipt-fixture.ts';

describe('receipts at YooKassa', () => {
  let acquirer: Acquirer;
  let record: MigratedDatabase;
  let bank: OpenedBank;
  /** The same, which gives up soon: its answers are lost. */
  let lossy: OpenedBank;
  before(async () => {
    [acquirer, record] = await Promise.all([startAcquirer(), startMigratedDatabase()]);
    const { pool } = record.database;
    const accounts = openAccounts(pool, randomBytes(32), 'yookassa', {
      payments: shopAccount,
      payouts: null,
    });
    const withAttempts = (attempt_ms: number): OpenedBank =>
      openYooKassa({ url: acquirer.api, payouts: null, attempt_ms }, accounts, pool);
    bank = withAttempts(patience_ms);
    lossy = withAttempts(500);
  });
  after(async () => {
    await Promise.all([bank.close(), lossy.close()]);
    await Promise.all([acquirer.stop(), record.close()]);
  });

  const paid = async (
    amount: number,
    receipt: ReceiptTerms,
    more: Partial<SessionOrder> = {},
  ): Promise<Known> => {
    const operationId = randomUUID();
    const answer = await bank.openSession(sessionOf(operationId, amount, { receipt, ...more }));
    assert.ok(answer.kind === 'opened', JSON.stringify(answer));
    return { operationId, reference: answer.reference };
  };
  const there = async (reference: string): Promise<readonly any[]> =>
    (await acquirer.books()).receipts.filter(
      ({ payment_id: payment, refund_id: refund }) => payment === reference || refund === reference,
    );
  const standing = async (reference: string): Promise<readonly string[]> =>
    (await there(reference)).map(
      ({ type, status, settlements: [{ amount }] }) => `${type} ${amount.value} ${status}`,
    );
  const refund = async (payment: Known, amount: number, receipt?: ReceiptTerms): Promise<Known> => {
    const operationId = randomUUID();
    const order = {
      merchantId,
      operationId,
      payment,
      amount: minorUnits(amount),
      currency: 'RUB',
      planned: null,
      reference: null,
      now: now(),
    };
    const answer = await bank.refund({ ...order, ...(receipt ? { receipt } : {}) });
    assert.ok(answer.kind === 'approved', JSON.stringify(answer));
    return { operationId, reference: answer.reference };
  };

  test('a payment registers its receipt, a partial refund its own, a whole one that of the payment', async () => {
    const terms = receiptOf(20_000);
    const payment = await paid(20_000, terms);
    const registered = await ended(bank, questionOf(payment, 20_000, terms));
    assert.ok(registered.kind === 'registered');
    assert.match(registered.fiscalDocumentNumber, /^\d+$/);
    assert.deepEqual(await standing(payment.reference), ['payment 200.00 succeeded']);
    const part = await refund(payment, 5_000, receiptOf(5_000));
    const of = (refunded: Known, amount: number): ReceiptOrder =>
      questionOf(payment, amount, receiptOf(amount), { type: 'refund', refund: refunded });
    assert.equal((await ended(bank, of(part, 5_000))).kind, 'registered');
    const whole = await paid(7_000, receiptOf(7_000));
    const back = await refund(whole, 7_000);
    assert.equal((await ended(bank, { ...of(back, 7_000), payment: whole })).kind, 'registered');
    assert.deepEqual(await standing(back.reference), ['refund 70.00 succeeded']);
  });

  test('a hold has a receipt from its beginning, as the bank makes it; what is captured of it has its own', async () => {
    const payment = await paid(20_000, receiptOf(20_000), { holds: true });
    const capture = {
      kind: 'capture',
      merchantId,
      operationId: randomUUID(),
      payment,
      held: minorUnits(20_000),
      currency: 'RUB',
      now: now(),
    } as const;
    const amount = minorUnits(8_000);
    const settled = await bank.settleHold?.({ ...capture, amount, receipt: receiptOf(8_000) });
    assert.deepEqual(settled, { kind: 'captured', amount });
    const answer = await ended(bank, questionOf(payment, 8_000, receiptOf(8_000)));
    assert.equal(answer.kind, 'registered');
    assert.deepEqual((await standing(payment.reference)).toSorted(), [
      'payment 200.00 succeeded',
      'payment 80.00 succeeded',
      'refund 200.00 succeeded',
    ]);
  });

  test('a closing receipt settles the prepayment once, however many of its answers are lost', async () => {
    const faults: readonly FaultKind[] = [
      'timeout_after',
      'error_after',
      'closed_before',
      'too_many',
    ];
    for (const fault of faults) {
      const payment = await paid(9_000, receiptOf(9_000, 'full_prepayment'));
      const order = questionOf(payment, 9_000, receiptOf(9_000, 'full_payment'), {
        type: 'closing',
      });
      const lost = { fault, method: 'POST', path: '/receipts' } as const;
      await acquirer.faults({ next: [lost, lost, lost] });
      const answers = await Promise.all([receiptBank(lossy)(order), receiptBank(lossy)(order)]);
      assert.ok(
        answers.every(({ kind }) => kind !== 'failed'),
        JSON.stringify(answers),
      );
      assert.equal((await ended(bank, order)).kind, 'registered', fault);
      await acquirer.faults({ next: [] });
      const closing = (await there(payment.reference)).filter(
        ({ settlements: [{ type }] }) => type === 'prepayment',
      );
      assert.equal(closing.length, 1, fault);
    }
  });

  test('a receipt that failed is sent again, and what is registered meanwhile is not', async () => {
    const terms = receiptOf(10_008);
    const payment = await paid(10_008, terms);
    const order = questionOf(payment, 10_008, terms);
    const failed = await ended(bank, order);
    assert.equal(failed.kind, 'failed');
    assert.equal((await ended(bank, { ...order, attempt: 1 })).kind, 'registered');
    assert.equal((await ended(bank, { ...order, attempt: 2 })).kind, 'registered');
    assert.deepEqual((await standing(payment.reference)).toSorted(), [
      'payment 100.08 canceled',
      'payment 100.08 succeeded',
    ]);
  });

  test('a receipt that never appears, and one that is pending for three days, are a person’s to look into', async () => {
    await acquirer.callbacks({ receipts: 'silent' });
    const payment = await paid(20_000, receiptOf(20_000));
    await acquirer.callbacks({ receipts: 'usual' });
    const order = questionOf(payment, 20_000, receiptOf(20_000));
    const ask = (hours: number, more: Partial<ReceiptOrder> = {}) =>
      receiptBank(bank)({ ...order, ...more, now: order.createdAt.add({ hours }) });
    const pending = await ask(71);
    assert.deepEqual(pending, {
      kind: 'pending',
      askAt: order.createdAt.add({ hours: 71, minutes: 30 }),
    });
    assert.equal((await ask(73)).kind, 'failed');
    // Of another sum there is none.
    assert.equal((await ask(23, { amount: minorUnits(1) })).kind, 'pending');
    assert.deepEqual(await ask(25, { amount: minorUnits(1) }), {
      kind: 'failed',
      reason: 'YooKassa has no such receipt',
    });
  });

  test('items that do not sum, and orders of a shop without a cash register, are refused before money moves', async () => {
    const before = (await acquirer.books()).payments.length;
    const operationId = randomUUID();
    const order = sessionOf(operationId, 20_000, { receipt: receiptOf(19_999) });
    assert.equal((await bank.openSession(order)).kind, 'declined');
    await acquirer.callbacks({ receipts: 'off' });
    // The settings of a shop are known for ten minutes.
    const later = now().add({ minutes: 11 });
    const refused = await bank.openSession({ ...order, receipt: receiptOf(20_000), now: later });
    await acquirer.callbacks({ receipts: 'usual' });
    assert.deepEqual(refused, {
      kind: 'declined',
      failureCode: 'method_unavailable',
      bankCode: 'no_cash_register',
    });
    assert.equal((await acquirer.books()).payments.length, before);
  });

  test('everything that was asked, answered and notified was as described', async () => {
    assert.deepEqual((await acquirer.books()).violations, []);
  });
});
