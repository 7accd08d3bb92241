import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Bank } from '../../subgraphs/kernel/banks/bank.ts';
import { askBank, findAsksDue } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { findRefundsDue, sendRefund } from '../../subgraphs/payments/refunds/send-refund.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { granted } from '../support/granted.ts';
import { openStage, type Stage } from '../recurring/stage.ts';

/** When charges were ordered. */
const orders: Temporal.Instant[] = [];
let isSilent = true;
let stage: Stage;

/**
 * An acquirer that takes the money of a charge and says nothing of it, to no question, until it is
 * told to.
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

before(async () => void (stage = await openStage((simulator) => [silent(simulator)])));
after(() => stage.close());

test('the money of a charge that the bank took and did not tell of until the charge had expired is found and goes back', async () => {
  const key = await stage.merchant('live');
  const { pool } = stage.database;
  const route = `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
    values ($1, gen_random_uuid(), $2, 'live', 'recurrent', 'cards', 'silent', 0, true, now())`;
  await pool.query(route, [key.merchantId, key.shopId]);
  const token = await stage.active(key);
  const { payment } = granted(await stage.charge(key, token, 49_900n));
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  const sweep = async (seconds: number): Promise<void> => {
    const now = stage.pass({ seconds });
    for (const due of await findAsksDue(stage.database, now, 100))
      await askBank(stage.database, stage.banks, due, now);
    await expirePayments(stage.database, stage.banks, () => now);
    for (const due of await findRefundsDue(stage.database, now, 100))
      await sendRefund(stage.database, stage.banks, due, now);
  };
  const read = async () =>
    (await findPayment(pool, paymentKey, stage.pass({ seconds: 0 }))) ?? assert.fail();
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
  const { balance, available, ledger } = await stage.books(key);
  // Both are entries of the same moment.
  assert.deepEqual(
    [balance, available, ledger.toSorted()],
    [0n, 0n, ['payment 49900', 'refund -49900']],
  );
});
