import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { askBank, paymentAsks } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { refundAsks, sendRefund } from '../../subgraphs/payments/refunds/send-refund.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { granted } from '../support/granted.ts';
import { openHarness, type Harness } from '../recurring/harness.ts';

/** When charges were ordered. */
const orders: Temporal.Instant[] = [];
let isSilent = true;
let harness: Harness;

/**
 * An acquirer that takes the money of a charge and gives no answer about it until it is
 * instructed to.
 */
const silent = (simulator: Bank): Bank => ({
  ...simulator,
  connector: 'silent',
  charge: async (order) => {
    orders.push(order.now);
    await simulator.charge(order);
    return { kind: 'unknown' };
  },
  ask: async (question) =>
    isSilent && orders.length > 0 ? { kind: 'unknown' } : simulator.ask(question),
});

before(async () => void (harness = await openHarness((simulator) => [silent(simulator)])));
after(() => harness.close());

test('the money of a charge that the bank took and did not report until the charge had expired is found and goes back', async () => {
  const key = await harness.merchant('live');
  const { pool } = harness.database;
  const route = `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
    values ($1, gen_random_uuid(), $2, 'live', 'recurrent', 'cards', 'silent', 0, true, now())`;
  await pool.query(route, [key.merchantId, key.shopId]);
  const token = await harness.active(key);
  const { payment } = granted(await harness.charge(key, token, 49_900n));
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  const sweep = async (seconds: number): Promise<void> => {
    const now = harness.pass({ seconds });
    for (const due of await paymentAsks.dueByTurns(harness.database.pool, null, now, 100))
      await askBank(harness.database, harness.banks, due, now);
    await expirePayments(harness.database, harness.banks, () => now);
    for (const due of await refundAsks.dueByTurns(harness.database.pool, null, now, 100))
      await sendRefund(harness.database, harness.banks, due, now);
  };
  const read = async () =>
    (await findPayment(pool, paymentKey, harness.pass({ seconds: 0 }))) ?? assert.fail();
  for (let minute = 0; minute < 21; minute++) await sweep(60);
  const { payment: expired } = await read();
  assert.deepEqual([expired.status, expired.capturedAt], ['expired', null]);
  assert.ok(
    expired.askAt !== null && orders.length > 2,
    'it was ordered again, and is asked about after its end',
  );
  assert.ok(
    orders.every(
      (at) =>
        Temporal.Instant.compare(at, expired.processingUntil ?? at) < 0 ||
        expired.processingUntil === null,
    ),
    'and not ordered after it',
  );

  isSilent = false;
  for (let minute = 0; minute < 15; minute++) await sweep(60);
  const { payment: found } = await read();
  assert.deepEqual(
    [found.status, found.amountRefunded, found.metadata['late_success']],
    ['expired', 49_900n, 'true'],
  );
  const { balance, available, ledger } = await harness.books(key);
  // Both are entries of the same moment.
  assert.deepEqual(
    [balance, available, ledger.toSorted()],
    [0n, 0n, ['payment 49900', 'refund -49900']],
  );
});
