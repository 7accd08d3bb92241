/**
 * Receipts in the database: one for each movement, however many calls come at once; the sweep gives
 * each merchant its share, and sets aside what it fails at.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { askReceipts } from '../../subgraphs/payments/receipts/ask-receipts.ts';
import { closePayment, resendReceipt } from '../../subgraphs/payments/receipts/order-receipt.ts';
import type { Receipt } from '../../subgraphs/payments/entities.ts';
import { givenReceipt, type GivenReceipt } from '../../subgraphs/acquirers/receipt-terms.ts';
import { findReceipts } from '../../subgraphs/payments/receipts/store-receipts.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { sendDueRefunds } from '../../subgraphs/payments/refunds/send-refund.ts';
import { countStatements } from '../support/count-statements.ts';
import { testCustomers } from '../support/customers.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { retryDeadLetters, poisonRow } from '../support/poison.ts';

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const at = (seconds: number): Temporal.Instant => start.add({ seconds });

let migrated: MigratedDatabase;
let banks: Banks;
before(async () => {
  migrated = await startMigratedDatabase();
  banks = openBanks(openSimulator(migrated.database), migrated.database.pool);
});
after(() => migrated.close());

const codeOf = (result: object): string => (isRefusal(result) ? result.code : 'done');
const given = (amount: bigint, paymentMode: 'full_prepayment' | null = null): GivenReceipt => {
  const items = [{ description: 'Tea', quantity: '1', price: amount, vatCode: 1, paymentMode }];
  const receipt = givenReceipt(testCustomers, { customer: { email: 'a@b.ru' }, items }, start);
  return receipt ? granted(receipt) : assert.fail('nothing was given');
};

const parts = () => ({ database: migrated.database, banks, customers: testCustomers });
const sweep = (seconds: number) => askReceipts(parts(), () => at(seconds));
const receiptsOf = (payment: Payment): Promise<Receipt[]> =>
  findReceipts(migrated.database.pool, [payment]);

/** A payment whose session is open. */
const opened = async (
  key: KeyPrincipal,
  { hint, receipt = given(10_000n) }: { hint?: string; receipt?: GivenReceipt | null } = {},
): Promise<Payment> => {
  const { database } = migrated;
  const metadata = hint ? { simulator_receipt: hint } : {};
  const input = { amount: 10_000n, method: 'sbp', metadata } as const;
  const request = { input, receipt };
  const { payment } = granted(await recordPayment(database, noPolicies, key, request, start));
  const of = { merchantId: key.merchantId, paymentId: payment.id };
  const session = { key: of, card: null, pageUrl: 'https://pay.example/p', now: start };
  return granted(await openSession(database, banks, noPolicies, session));
};
const keyOf = ({ merchantId, id: paymentId }: Payment) => ({ merchantId, paymentId });

const paid = async (...made: Parameters<typeof opened>): Promise<Payment> =>
  granted(await askBank(migrated.database, banks, keyOf(await opened(...made)), at(5)));

const approved = {
  kind: 'approved',
  reference: 'sim_1',
  rrn: null,
  traits: { cardBrand: null, cardMask: null, cardHolder: null, phoneMask: null, payerBank: null },
} as const;

describe('fifty at once', () => {
  test('answers make one receipt of a payment, and refunds one of each refund that succeeded', async () => {
    const { database } = migrated;
    const key = await migrated.merchant();
    const payment = await opened(key);
    await Promise.all(
      Array.from({ length: 50 }, () =>
        applyBankAnswer(database, keyOf(payment), 'simulator', approved, at(5)),
      ),
    );
    const refund = (amount: bigint) =>
      refundPayment(
        database,
        banks,
        key,
        { paymentId: payment.id, amount, reason: null, receipt: given(amount) },
        at(10),
      );
    const results = await Promise.all(Array.from({ length: 50 }, () => refund(1_000n)));
    assert.equal(results.map(codeOf).filter((code) => code === 'done').length, 10);
    const receipts = await receiptsOf(payment);
    assert.deepEqual(
      receipts.map(({ type, amount, status }) => `${type} ${amount} ${status}`).toSorted(),
      ['payment 10000 pending', ...Array.from({ length: 10 }, () => 'refund 1000 pending')],
    );
    await Promise.all(Array.from({ length: 10 }, () => sweep(60)));
    assert.ok((await receiptsOf(payment)).every(({ status }) => status === 'registered'));
    const { rows } = await database.pool.query(
      `select webhook_event, count(*)::int from event where merchant_id = $1 and webhook_event like 'receipt%' group by 1`,
      [key.merchantId],
    );
    assert.deepEqual(rows, [{ webhook_event: 'receipt.registered', count: 11 }]);
  });

  test('closing receipts are one, and resent ones, too', async () => {
    const { database } = migrated;
    const key = await migrated.merchant();
    const payment = await paid(key, { receipt: given(10_000n, 'full_prepayment') });
    const asked = { paymentId: payment.id, receipt: given(10_000n), requestId: 'r' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => closePayment(database, key, asked, at(10))),
    );
    const codes = answers.map(codeOf).toSorted();
    assert.deepEqual(codes, ['done', ...Array.from({ length: 49 }, () => 'receipt_not_expected')]);
    await sweep(60);
    assert.deepEqual(
      (await receiptsOf(payment)).map(({ type, status }) => `${type} ${status}`),
      ['payment registered', 'closing registered'],
    );
    const failing = await paid(key, { hint: 'failed' });
    await sweep(60);
    const [failed] = await receiptsOf(failing);
    assert.equal(failed?.status, 'failed');
    const { rows: alerts } = await database.pool.query(
      `select subject_id from alert where kind = 'receipt_failed' and merchant_id = $1`,
      [key.merchantId],
    );
    assert.deepEqual(alerts, [{ subject_id: failed.id }]);
    const acting = {
      principal: { kind: 'service', name: 'test' },
      requestId: 'r',
      now: () => at(70),
    } as const;
    const resent = await Promise.all(
      Array.from({ length: 50 }, () => resendReceipt(database, acting, failed, at(70))),
    );
    assert.equal(resent.map(codeOf).filter((code) => code === 'done').length, 1);
    await sweep(80);
    const [again] = await receiptsOf(failing);
    assert.deepEqual(
      [again?.status, again?.attempt, again?.failureReason],
      ['registered', 1, null],
    );
    const { rows: audited } = await database.pool.query(
      `select action from audit_entry where merchant_id = $1 and subject_kind = 'receipt' order by id`,
      [key.merchantId],
    );
    assert.deepEqual(
      audited.map(({ action }) => action),
      ['receipt.close', 'receipt.resend'],
    );
  });
});

test('a success that comes too late has both receipts: the money came, and went back', async () => {
  const { database } = migrated;
  const payment = await opened(await migrated.merchant());
  await database.pool.query(
    `update payment set status = 'expired', finalized_at = $2, ask_at = null, version = version + 1 where id = $1`,
    [payment.id, at(30).toString()],
  );
  await applyBankAnswer(database, keyOf(payment), 'simulator', approved, at(40));
  await sendDueRefunds(database, banks, () => at(41));
  assert.deepEqual(
    (await receiptsOf(payment)).map(({ type, amount }) => `${type} ${amount}`),
    ['payment 10000', 'refund 10000'],
  );
});

test('payments without a receipt cost no statement more, and those with one share theirs', async () => {
  const { database } = migrated;
  const key = await migrated.merchant();
  const counted = countStatements(database.pool);
  const count = async (receipt: GivenReceipt | null): Promise<number> => {
    const payments = await Promise.all(Array.from({ length: 20 }, () => opened(key, { receipt })));
    const before = counted.texts.length;
    await Promise.all(
      payments.map((payment) =>
        applyBankAnswer(database, keyOf(payment), 'simulator', approved, at(5)),
      ),
    );
    return counted.texts.length - before;
  };
  // How calls of the same moment share statements differs a little from time to time.
  const least = async (receipt: GivenReceipt | null): Promise<number> =>
    Math.min(await count(receipt), await count(receipt), await count(receipt));
  const [without, withOnes] = [await least(null), await least(given(10_000n))];
  assert.ok(withOnes <= without + 2, `${withOnes} statements, and ${without} without receipts`);
});

test('a receipt that cannot be written is set aside, and a merchant with very many does not delay others', async () => {
  const { database } = migrated;
  const [bad, rich, other] = await Promise.all([0, 1, 2].map(() => migrated.merchant()));
  assert.ok(bad && rich && other);
  const poisoned = await paid(bad);
  const many = await Promise.all(Array.from({ length: 150 }, () => paid(rich)));
  const one = await paid(other);
  const [receipt] = await receiptsOf(poisoned);
  assert.ok(receipt);
  const cure = await poisonRow(database.pool, 'receipt', 'update', { id: receipt.id });
  // The stranger's receipt, the youngest of all, is in the first round.
  await database.pool.query('update receipt set ask_at = $2 where merchant_id = $1', [
    other.merchantId,
    at(8).toString(),
  ]);
  await sweep(60).catch(() => {});
  assert.equal((await receiptsOf(one))[0]?.status, 'registered');
  await sweep(61).catch(() => {});
  const left = (await Promise.all(many.map(receiptsOf))).flat();
  assert.deepEqual([...new Set(left.map(({ status }) => status))], ['registered']);
  assert.equal((await receiptsOf(poisoned))[0]?.status, 'pending');
  await cure();
  await retryDeadLetters(database.pool);
  await sweep(120);
  assert.equal((await receiptsOf(poisoned))[0]?.status, 'registered');
});
