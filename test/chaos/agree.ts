/**
 * Whether our books and the acquirer's agree when a chaos run is over: operation by operation, and
 * in the sums.
 */
import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { checkBooks } from '../support/check-books.ts';
import { kopecks } from '../acquirer/books.ts';
import type { AcquirerBooks } from '../acquirer/start-acquirer.ts';
import { registryOf } from '../crash/books.ts';
import type { LiveMerchant } from '../live/harness.ts';
import { compareLinks } from './pay-link.ts';

type Row = Readonly<Record<string, any>>;

const succeeded = ({ status }: Row): boolean => status === 'succeeded';
const sumOf = (rows: readonly Row[]): bigint =>
  rows.reduce(
    (sum, { amount }) => sum + (typeof amount === 'object' ? kopecks(amount) : BigInt(amount)),
    0n,
  );
const operationOf = ({ metadata }: Row): string => metadata.operation_id;

/**
 * What the bank has by our operations' ids; an operation that it has twice is money moved twice.
 */
const onceEach = (
  what: string,
  rows: readonly Row[],
  known: ReadonlySet<string>,
): ReadonlyMap<string, Row> => {
  const byOperation = new Map(rows.map((row) => [operationOf(row), row]));
  const twice = [...Map.groupBy(rows, operationOf)]
    .filter(([, same]) => same.length > 1)
    .map(([id]) => id);
  assert.deepEqual(twice, [], `${what} that the bank has twice`);
  assert.deepEqual(
    [...byOperation.keys()].filter((id) => !known.has(id)),
    [],
    `${what} that the bank has and we do not`,
  );
  return byOperation;
};

/**
 * Statuses at the bank that fit each of ours; `none`: it never had the operation. A verification
 * that was voided is `refunded` here and cancelled there.
 */
const fitting: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['succeeded'],
  refunded: ['succeeded'],
  failed: ['canceled', 'none'],
  expired: ['canceled', 'none'],
  cancelled: ['canceled', 'none'],
};

const compareEach = (
  what: string,
  ours: readonly Row[],
  theirs: ReadonlyMap<string, Row>,
): void => {
  const differing = ours.flatMap((row) => {
    const there = theirs.get(row['id']);
    const status = there?.['status'] ?? 'none';
    const isFitting =
      fitting[row['status']]?.includes(status) &&
      (!there || kopecks(there['amount']) === BigInt(row['amount_captured'] || row['amount']));
    return isFitting
      ? []
      : [
          `${row['id']} ${row['status']} ${row['amount']} here, ${status} ${there?.['amount'].value} there`,
        ];
  });
  assert.deepEqual(differing, [], `${what} that differ`);
};

const sumOfReceipt = ({ settlements: [settled] }: Row): bigint => kopecks(settled.amount);

/**
 * Each receipt that we have is registered at the bank once, and what the bank has registered of a
 * movement comes to the money that moved: a hold that was captured in part, or given up, has its
 * receipt returned there.
 */
const compareReceipts = (
  ours: {
    readonly payments: readonly Row[];
    readonly refunds: readonly Row[];
    readonly receipts: readonly Row[];
  },
  bank: AcquirerBooks,
): void => {
  const registered = bank.receipts.filter(succeeded);
  const refOf = new Map(
    [...bank.payments, ...bank.refunds].map((row) => [operationOf(row), row.id]),
  );
  const differing = ours.receipts.flatMap((receipt) => {
    const movement = refOf.get(receipt['refund_id'] ?? receipt['payment_id']);
    const same = registered.filter(
      (row) =>
        (row.refund_id ?? row.payment_id) === movement &&
        row.type === receipt['type'] &&
        sumOfReceipt(row) === BigInt(receipt['amount']),
    );
    // A whole capture with a receipt of its own has the hold's returned: two of one sum.
    const numbered = same.filter(
      (row) => row.fiscal_document_number === receipt['fiscal_document_number'],
    );
    const isOne = numbered.length === 1 && (receipt['type'] !== 'refund' || same.length === 1);
    return isOne
      ? []
      : [`${receipt['type']} ${receipt['amount']} ${receipt['status']}: ${same.length} there`];
  });
  assert.deepEqual(differing, [], 'receipts that differ');
  const unequal = bank.payments.flatMap(({ id, status, amount }) => {
    const rows = registered.filter(({ payment_id: payment }) => payment === id);
    const net = rows.reduce(
      (sum, row) => sum + (row.type === 'payment' ? sumOfReceipt(row) : -sumOfReceipt(row)),
      0n,
    );
    const moved = status === 'succeeded' ? kopecks(amount) : 0n;
    return rows.length === 0 || net === moved ? [] : [`${id}: receipts ${net}, money ${moved}`];
  });
  assert.deepEqual(unequal, [], 'payments whose receipts are not their money');
  const expected = new Set(
    [...ours.payments, ...ours.refunds].flatMap(({ id, status, payment_id: of }) => {
      const isReceipted = ours.receipts.some(({ payment_id: payment }) => payment === (of ?? id));
      return isReceipted && (status === 'succeeded' || status === 'refunded') ? [id] : [];
    }),
  );
  const has = new Set(
    ours.receipts.map(({ refund_id: refund, payment_id: payment }) => refund ?? payment),
  );
  assert.deepEqual([...expected.difference(has)], [], 'movements without their receipt');
};

const open = `select id::text, ask_at from payment where status in ('pending', 'processing', 'authorized')
  union all select id::text, ask_at from refund where status = 'pending' union all select id::text, ask_at from payout where status = 'pending'
  union all select id::text, ask_at from receipt where status <> 'registered'`;

/** The operations that are not final. */
export const openOperations = async (pool: Pool): Promise<readonly Row[]> =>
  (await pool.query<Row>(open)).rows;

/**
 * What is not final and nothing will look at again: all that was due before `overdue` should have
 * been.
 */
export const stuckOperations = async (
  pool: Pool,
  overdue: Temporal.Instant,
): Promise<readonly Row[]> =>
  (
    await pool.query<Row>(
      `select * from (${open}) as waiting where ask_at is null or ask_at < $1`,
      [overdue.toString()],
    )
  ).rows;

/**
 * Operations about which the bank may know more than we do: those that are open, and payments that
 * ended without its final word.
 */
export const questionableOperations = async (pool: Pool): Promise<ReadonlySet<string>> => {
  const { rows } = await pool.query<Row>(
    `select id from (${open}) as waiting union select payment_id::text from refund where status = 'pending'
      union select id::text from payment where (status in ('expired', 'failed') or hold_order is not null) and captured_at is null`,
  );
  return new Set(rows.map(({ id }) => id));
};

const readRegistries = async (merchant: LiveMerchant) => ({
  payments: await registryOf(merchant, '/payments'),
  refunds: await registryOf(merchant, '/refunds'),
  payouts: await registryOf(merchant, '/payouts'),
  ledger: await registryOf(merchant, '/ledger'),
  receipts: await registryOf(merchant, '/receipts'),
});

/** Compares everything; gives the sums that agreed, in kopecks. */
export const compareWithBank = async (
  pool: Pool,
  merchant: LiveMerchant,
  bank: AcquirerBooks,
  links: readonly string[],
) => {
  const { payments, refunds, payouts, ledger, receipts } = await readRegistries(merchant);
  const idsOf = (rows: readonly Row[]): ReadonlySet<string> => new Set(rows.map(({ id }) => id));
  const isVoid = ({ verification }: Row): boolean => verification;
  const { rows: bindings } = await pool.query<Row>(
    'select id, verification from payment where verification',
  );
  const voided = idsOf(bindings.filter(isVoid));
  const given = payments.filter(({ metadata }) => metadata.bank_failure_code?.endsWith(':unseen'));
  assert.deepEqual(given, [], 'payments that were given up because their order was lost');
  const late = payments.filter(({ metadata }) => metadata.late_success === 'true');
  const paidThere = onceEach('payments', bank.payments, idsOf(payments));
  const inTime = payments.filter(({ id }) => !voided.has(id) && !idsOf(late).has(id));
  compareEach('payments', inTime, paidThere);
  const ordinary = refunds.filter(({ payment_id: id }) => !voided.has(id));
  compareEach('refunds', ordinary, onceEach('refunds', bank.refunds, idsOf(refunds)));
  compareEach('payouts', payouts, onceEach('payouts', bank.payouts, idsOf(payouts)));

  compareReceipts({ payments, refunds, receipts }, bank);
  const givenBack = await compareLinks(merchant, links, payments);

  const sums = {
    paid: sumOf(bank.payments.filter(succeeded)),
    refunded: sumOf(bank.refunds.filter(succeeded)),
    paidOut: sumOf(bank.payouts.filter(succeeded)),
  };
  const booked = (type: string): bigint => sumOf(ledger.filter((entry) => entry.type === type));
  assert.deepEqual(
    { paid: booked('payment'), refunded: -booked('refund'), paidOut: -booked('payout') },
    sums,
    'our ledger and the books of the bank',
  );
  const { body: balance } = await merchant.call('GET', '/balance');
  const fees = booked('fee') + booked('payout_fee');
  assert.equal(
    BigInt(balance.balance),
    sums.paid - sums.refunded - sums.paidOut + fees,
    'the balance is what the bank holds for us, less the fees',
  );
  assert.equal(balance.available, balance.balance, 'nothing is set aside any more');
  assert.deepEqual(await checkBooks({ pool }), []);
  return {
    ...sums,
    fees,
    late: late.length,
    payments: payments.length,
    refunds: ordinary.length,
    payouts: payouts.length,
    receipts: receipts.length,
    links: links.length,
    givenBack,
  };
};
