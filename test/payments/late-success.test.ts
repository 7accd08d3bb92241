import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { checkBooks } from '../support/check-books.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { askBankAgain } from '../../subgraphs/merchants/alerts/ask-bank-again.ts';
import type { Acting } from '../../subgraphs/platform/database/audit.ts';
import type { Bank, PaymentQuestion, BankAnswer } from '../../subgraphs/acquirers/bank.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { askBank, paymentAsks } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { retryRefund } from '../../subgraphs/payments/refunds/return-late-payment.ts';
import { refundAsks, sendRefund } from '../../subgraphs/payments/refunds/send-refund.ts';
import { findPayment, findRefunds } from '../../subgraphs/payments/store-payment.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { booksOf } from './books-of.ts';
import { granted } from '../support/granted.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
const at = (seconds: number): Temporal.Instant => start.add({ seconds });

const traits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};
const approved: BankAnswer = { kind: 'approved', reference: 'r', rrn: '1', traits };

test('a late success that is reported twenty times at once, and sent back by several workers, is booked and given back once', async () => {
  const { database } = migrated;
  const banks = openBanks(openSimulator(database), database.pool);
  const key = await migrated.merchant();
  const { payment } = granted(
    await recordPayment(
      database,
      noPolicies,
      key,
      { input: { amount: 5_000n, method: 'sbp' } },
      start,
    ),
  );
  granted(await cancelPayment(database, key, payment.id, at(1)));
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  await Promise.all(
    Array.from({ length: 20 }, () =>
      applyBankAnswer(database, paymentKey, 'simulator', approved, at(2)),
    ),
  );
  const [left, ...more] = await findRefunds(database.pool, [payment]);
  assert.deepEqual([left?.status, left?.amount, more], ['pending', 5_000n, []]);
  assert.deepEqual(
    await booksOf(database, key),
    { merchant: 0n, reserved: 5_000n, clearing: -5_000n },
    'none of it can be paid out',
  );
  const due = (await refundAsks.dueByTurns(database.pool, null, at(2), 500)).filter(
    ({ refundId }) => refundId === left?.id,
  );
  assert.equal(due.length, 1, 'any worker finds it');
  await Promise.all(
    Array.from({ length: 5 }, () =>
      due.map((refundKey) => sendRefund(database, banks, refundKey, at(3))),
    ).flat(),
  );
  assert.deepEqual(await booksOf(database, key), { merchant: 0n, reserved: 0n, clearing: 0n });
  const returned =
    (await findPayment(database.pool, paymentKey, start))?.payment ?? assert.fail('gone');
  assert.deepEqual(
    [
      returned.status,
      returned.amountRefunded,
      returned.fee,
      returned.rrn,
      returned.metadata['late_success'],
      returned.finalizedAt?.toString(),
    ],
    ['cancelled', 5_000n, null, '1', 'true', at(1).toString()],
  );
  const { rows } = await database.pool.query<{
    operations: number;
    alerts: number;
    entries: number;
  }>(
    `select (select count(*)::int from simulator_operation where merchant_id = $1) as operations, (select count(*)::int from alert where merchant_id = $1) as alerts,
      (select count(*)::int from audit_entry where merchant_id = $1 and action = 'refund.create') as entries`,
    [key.merchantId],
  );
  assert.deepEqual(rows, [{ operations: 1, alerts: 1, entries: 1 }]);
});

test('a live payment that its bank had not seen until it expired is asked about again when the bank reports it, however late, and goes back', async () => {
  const { database } = migrated;
  const real = openBanks(openSimulator(database), database.pool);
  let says: BankAnswer = { kind: 'unseen' };
  const asked: PaymentQuestion[] = [];
  const ask = async (question: PaymentQuestion): Promise<BankAnswer> => {
    asked.push(question);
    return says;
  };
  const bank: Bank = {
    ...real.simulator,
    connector: 'slow',
    openSession: async () => ({ kind: 'unknown' }),
    ask,
  };
  const banks = { ...real, candidates: async () => [bank] as const, bankOf: () => bank };
  const key = await migrated.merchant('live');
  const { payment } = granted(
    await recordPayment(
      database,
      noPolicies,
      key,
      { input: { amount: 5_000n, method: 'sbp' } },
      start,
    ),
  );
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  granted(
    await openSession(database, banks, noPolicies, {
      key: paymentKey,
      card: null,
      pageUrl: 'https://pay.example/p',
      now: at(600),
    }),
  );
  const after = async (seconds: number) =>
    granted(await askBank(database, banks, paymentKey, at(seconds)));
  const unseen = await after(700);
  assert.deepEqual(
    [unseen.status, unseen.step, unseen.askAt?.toString()],
    ['processing', null, at(710).toString()],
    'it may be ordered again',
  );
  await expirePayments(database, banks, () => at(600 + 20 * 60));
  assert.deepEqual([(await after(1_861)).status, (await after(1_862)).askAt], ['expired', null]);
  assert.deepEqual(
    asked.map(({ createdEarlyAt, orderedAt }) => [
      createdEarlyAt?.toString(),
      orderedAt.toString(),
    ]),
    Array.from({ length: 4 }, () => [start.toString(), at(600).toString()]),
    'it is looked for when it was made, too: then it may have been registered',
  );
  says = approved;
  const due = await paymentAsks.dueByTurns(database.pool, null, at(90_000), 500);
  assert.deepEqual(
    [due.filter(({ paymentId }) => paymentId === payment.id), asked.length],
    [[], 4],
    'by itself no sweep asks any more',
  );
  const acting: Acting = {
    principal: { kind: 'service', name: 'test' },
    requestId: 'test',
    now: () => at(90_001),
  };
  const again = await askBankAgain(database, acting, {
    merchantId: key.merchantId,
    id: payment.id,
  });
  assert.deepEqual(
    isRefusal(again) ? again : [again.subject, again.askAt],
    ['payment', at(90_001)],
    'save for an operator',
  );
  const received = await Promise.all(Array.from({ length: 10 }, () => after(90_001)));
  assert.ok(received.every(({ status }) => status === 'expired'));
  assert.equal(
    (await findPayment(database.pool, paymentKey, at(90_002)))?.payment.askAt,
    null,
    'and then no sweep asks any more',
  );
  const refunds = await findRefunds(database.pool, [payment]);
  assert.deepEqual(
    refunds.map(({ amount, status }) => [amount, status]),
    [[5_000n, 'pending']],
  );
  assert.deepEqual(await booksOf(database, key), {
    merchant: 0n,
    reserved: 5_000n,
    clearing: -5_000n,
  });
});

test('an automatic refund that the bank refused is ordered again by an operator, however often it is refused, and once at a time', async () => {
  const { database } = migrated;
  const real = openBanks(openSimulator(database), database.pool);
  let isRefusing = true;
  const orders: string[] = [];
  const bank: Bank = {
    ...real.simulator,
    refund: async (order) => {
      orders.push(order.operationId);
      return isRefusing
        ? { kind: 'declined', failureCode: 'refund_rejected', bankCode: 'x' }
        : real.simulator.refund(order);
    },
  };
  const banks = { ...real, bankOf: () => bank };
  const key = await migrated.merchant();
  const input = { amount: 5_000n, method: 'sbp' } as const;
  const { payment } = granted(await recordPayment(database, noPolicies, key, { input }, start));
  granted(await cancelPayment(database, key, payment.id, at(1)));
  const { merchantId } = key;
  const paymentKey = { merchantId, paymentId: payment.id };
  await applyBankAnswer(database, paymentKey, 'simulator', approved, at(2));
  const refunds = () => findRefunds(database.pool, [payment]);
  const [first] = await refunds();
  assert.ok(first);
  const acting: Acting = {
    principal: { kind: 'operator', subject: 'olga', role: 'finance', merchantId: null },
    requestId: 'r',
    now: () => at(5),
  };
  const retry = (refund: { readonly id: string }, seconds: number) =>
    retryRefund(database, banks, acting, { ...paymentKey, id: refund.id }, at(seconds));
  const codeOf = (answer: object): string => (isRefusal(answer) ? answer.code : 'done');
  assert.equal(codeOf(await retry(first, 3)), 'bad_request', 'the bank has not refused it yet');
  await sendRefund(database, banks, { merchantId, refundId: first.id }, at(3));
  const inSuspense = { merchant: 0n, reserved: 0n, clearing: -5_000n };
  assert.deepEqual(await booksOf(database, key), inSuspense);

  const second = granted(await retry(first, 4));
  assert.deepEqual([second.status, second.amount], ['failed', 5_000n]);
  assert.deepEqual(await booksOf(database, key), inSuspense, 'refused again');
  isRefusing = false;
  const all = await Promise.all(Array.from({ length: 10 }, () => retry(second, 5)));
  assert.deepEqual(all.map(codeOf).filter((code) => code === 'done').length, 1);
  assert.ok(
    all
      .map(codeOf)
      .every((code) => ['done', 'amount_exceeds_remainder', 'already_refunded'].includes(code)),
  );
  assert.deepEqual(
    (await refunds()).map(({ status }) => status),
    ['failed', 'failed', 'succeeded'],
  );
  assert.equal(new Set(orders).size, 3, 'the bank gets a new order each time');
  assert.equal(codeOf(await retry(first, 6)), 'already_refunded');
  const returned = (await findPayment(database.pool, paymentKey, start))?.payment;
  assert.deepEqual([returned?.status, returned?.amountRefunded], ['cancelled', 5_000n]);
  assert.deepEqual(await booksOf(database, key), { merchant: 0n, reserved: 0n, clearing: 0n });
  assert.deepEqual(await checkBooks(database, merchantId), []);
  const { rows } = await database.pool.query(
    `select (select count(*)::int from alert where merchant_id = $1 and subject_id <> $2) as alerts,
      (select count(*)::int from audit_entry where merchant_id = $1 and action = 'refund.create' and actor = 'olga') as entries`,
    [merchantId, payment.id],
  );
  assert.deepEqual(rows, [{ alerts: 2, entries: 2 }], 'an alert for each refusal');
});
