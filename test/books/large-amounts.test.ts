/** Totals of amounts whose sum no bigint holds: exact, and the counting of others continues. */
import assert from 'node:assert/strict';
import type { TotalsRow } from '../../schema/generated/merchants.ts';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { checkBooks } from '../support/check-books.ts';
import { countFacts } from '../../subgraphs/ledger/totals/count-facts.ts';
import { followEvents } from '../../subgraphs/ledger/totals/keep-totals.ts';
import { noPolicies } from '../support/no-policies.ts';
import { largestAmount } from '../../subgraphs/rules/money.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { TotalsGroup } from '../../schema/generated/merchants.ts';
import { readTotals } from '../../subgraphs/merchants/totals/resolvers.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { openHistory, start, type History } from './history.ts';

let migrated: MigratedDatabase;
let history: History;
before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
});
after(() => migrated.close());
const pool = () => migrated.database.pool;

/** The largest amount that ends in 00: the simulated bank approves it. */
const paidAmount = 9_007_199_254_740_900n;
/** It ends in 01, and is refused. */
const refusedAmount = 206_158_430_201n;

const create = async (key: KeyPrincipal, amount: bigint, count = 1): Promise<void> => {
  const request = { input: { amount, ttlMinutes: 10 } };
  await Promise.all(
    Array.from({ length: count }, async () =>
      granted(await recordPayment(migrated.database, noPolicies, key, request, start)),
    ),
  );
};
const expire = async (): Promise<void> => {
  const banks = openBanks(openSimulator(migrated.database), pool());
  const later = start.add({ minutes: 20 });
  while ((await expirePayments(migrated.database, banks, () => later)) > 0);
};
const countAll = async (): Promise<void> => {
  await history.relay();
  while ((await followEvents(pool())) > 0);
};

/** The totals of payments of a merchant in the hour, or of all merchants. */
const totalsOf = async (
  merchantId: string | null,
  groupBy: TotalsGroup | null = null,
): Promise<readonly TotalsRow[]> => {
  const [rows = []] = await readTotals(pool(), {
    merchantId,
    shopIds: null,
    mode: 'test',
    currency: 'RUB',
    of: 'payment',
    starts: [start.subtract({ hours: 24 })],
    to: start.add({ hours: 24 }),
    groupBy,
  });
  return rows;
};
const amountsOf = async (merchantId: string | null, groupBy: TotalsGroup | null = null) =>
  (await totalsOf(merchantId, groupBy)).map(({ group, count, amount }) => [group, count, amount]);
const notCounted = async (): Promise<number> =>
  (await pool().query(`select 1 from consumer_retry where consumer = 'totals'`)).rows.length;

test('a merchant with 1,100 payments of the largest amount in an hour does not keep others from being counted', async () => {
  const [noisy, other] = [await migrated.merchant(), await migrated.merchant()];
  const all = largestAmount * 1_100n;
  await create(noisy, largestAmount, 1_100);
  await countAll();
  await create(other, 10_000n);
  await countAll();
  assert.equal(await notCounted(), 0);
  assert.deepEqual(await amountsOf(other.merchantId), [[null, 1, 10_000n]]);
  assert.deepEqual(await amountsOf(noisy.merchantId), [[null, 1_100, all]]);
  assert.deepEqual(await amountsOf(null), [[null, 1_101, all + 10_000n]]);
  assert.deepEqual(await amountsOf(null, 'status'), [['pending', 1_101, all + 10_000n]]);
  assert.deepEqual(await checkBooks(migrated.database), []);
  await expire();
  await countAll();
  assert.deepEqual(await amountsOf(null, 'status'), [['expired', 1_101, all + 10_000n]]);
  assert.deepEqual(await checkBooks(migrated.database), []);
});

test('money of large amounts is counted to the kopeck', async () => {
  const key = await migrated.merchant();
  const { id } = await history.pay(key, paidAmount);
  await history.refund(key, id, paidAmount);
  const { id: subjectId } = await history.pay(key, refusedAmount);
  await history.pay(key, paidAmount);
  await history.relay();
  await countFacts(pool(), [{ merchantId: key.merchantId, subjectId }]);
  await countAll();
  const [row] = await totalsOf(key.merchantId);
  assert.deepEqual(
    [row?.count, row?.moved, row?.amount],
    [3, paidAmount * 2n, paidAmount * 2n + refusedAmount],
  );
  const failed = await totalsOf(key.merchantId, 'failure_code');
  assert.deepEqual(
    failed.map(({ count, amount, moved }) => [count, amount, moved]),
    [[1, refusedAmount, null]],
  );
  assert.deepEqual(await checkBooks(migrated.database), []);
});

test('a large amount that was changed in the totals is found', async () => {
  const key = await migrated.merchant();
  await create(key, largestAmount);
  await countAll();
  await pool().query(
    `update hourly_total set amount_pending = amount_pending - 1
     where merchant_id = $1 and shop_id = $2 and kind = 'payment'`,
    [key.merchantId, key.shopId],
  );
  const found = await checkBooks(migrated.database);
  assert.deepEqual(
    found.map(({ check }) => check),
    ['hour_adds_up'],
  );
});
