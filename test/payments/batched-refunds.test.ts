/** Refunds of one merchant at the same moment share transactions, with the same answers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { countStatements } from '../support/count-statements.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { poisonRow } from '../support/poison.ts';
import { booksOf } from './books-of.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);

/** Payments of 100 rubles that have succeeded. */
const pay = (key: KeyPrincipal, count: number): Promise<readonly Payment[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { database } = migrated;
      const input = { amount: 10_000n, method: 'sbp' } as const;
      const { payment } = granted(await recordPayment(database, noPolicies, key, { input }, start));
      const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
      const pageUrl = 'https://pay.example/p';
      granted(
        await openSession(database, banks(), noPolicies, {
          key: paymentKey,
          card: null,
          pageUrl,
          now: start,
        }),
      );
      return granted(await askBank(database, banks(), paymentKey, start.add({ seconds: 60 })));
    }),
  );

const refund = (key: KeyPrincipal, payment: Payment, amount: bigint, idempotencyKey?: string) =>
  refundPayment(
    migrated.database,
    banks(),
    key,
    {
      paymentId: payment.id,
      amount,
      reason: 'One ticket',
      requestId: 'test',
      idempotency: idempotencyKey === undefined ? null : { key: idempotencyKey },
    },
    start.add({ seconds: 100 }),
  );

const codes = (results: readonly (object | PromiseSettledResult<object>)[]): readonly string[] =>
  results.map((result) => {
    if ('status' in result) return result.status;
    return isRefusal(result) ? result.code : 'refunded';
  });

test('refunds at the same moment are written, booked and recorded as one by one', async () => {
  const { database } = migrated;
  const [key, other] = [await migrated.merchant(), await migrated.merchant()];
  const payments = await pay(key, 20);
  const ofOther = await pay(other, 4);
  const counted = countStatements(database.pool);
  // Two of each payment, of which the second is what the first leaves.
  const results = await Promise.all([
    ...payments.map((payment, place) => refund(key, payment, 4_000n, `first ${place}`)),
    ...payments.map((payment, place) => refund(key, payment, 6_000n, `second ${place}`)),
    ...ofOther.map((payment) => refund(other, payment, 1_000n)),
  ]);
  assert.deepEqual(new Set(codes(results)), new Set(['refunded']));
  assert.ok(counted.texts.length < 44 * 4, `${counted.texts.length} statements for 44 refunds`);
  const { merchant, reserved } = await booksOf(database, key);
  assert.deepEqual([merchant, reserved], [0n, 0n]);
  assert.equal((await booksOf(database, other)).merchant, 36_000n);
  const { rows } = await database.pool.query<{ counts: number[] }>(
    `select array[(select count(*) from refund where merchant_id = $1 and status = 'succeeded'),
      (select count(*) from payment where merchant_id = $1 and status = 'refunded' and amount_refunded = 10000),
      (select count(distinct subject_id) from audit_entry where merchant_id = $1 and action = 'refund.create'),
      (select count(*) from event where merchant_id = $1 and stream_kind = 'refund.created'),
      (select count(*) from event where merchant_id = $1 and webhook_event = 'payment.refunded'),
      (select count(*) from idempotency_key where merchant_id = $1)]::int[] as counts`,
    [key.merchantId],
  );
  assert.deepEqual(rows[0]?.counts, [40, 20, 40, 40, 40, 40]);
});

test('two calls with one key in one batch are one refund, and what is refused leaves its key free', async () => {
  const key = await migrated.merchant();
  const [payment, second] = await pay(key, 2);
  assert.ok(payment && second);
  const results = await Promise.all([
    refund(key, payment, 1_000n, 'same'),
    refund(key, payment, 1_000n, 'same'),
    refund(key, second, 99_000n, 'too much'),
    refund(key, second, 1_000n, 'fits'),
    refund(key, payment, 2_000n, 'same'),
  ]);
  assert.deepEqual(codes(results), [
    'refunded',
    'refunded',
    'amount_exceeds_remainder',
    'refunded',
    'idempotent_conflict',
  ]);
  const [one, again] = results.map((result) => (isRefusal(result) ? null : result));
  assert.equal(one?.refund.id, again?.refund.id);
  assert.deepEqual([one?.replayed, again?.replayed], [false, true]);
  assert.deepEqual(codes([await refund(key, second, 9_000n, 'too much')]), ['refunded']);
});

test('a locked payment is waited for alone: the other refunds of its batch are made', async () => {
  const key = await migrated.merchant();
  const [locked, ...beside] = await pay(key, 8);
  assert.ok(locked);
  const holder = await migrated.database.pool.connect();
  await holder.query('begin');
  await holder.query('select from payment where id = $1 for update', [locked.id]);
  // Without a key it waits as long as it takes.
  const waiting = refund(key, locked, 1_000n);
  const made = await Promise.all(beside.map((payment) => refund(key, payment, 1_000n)));
  assert.deepEqual(new Set(codes(made)), new Set(['refunded']));
  await holder.query('rollback');
  holder.release();
  assert.deepEqual(codes([await waiting]), ['refunded']);
});

test('a refund that cannot be written fails alone', async () => {
  const { pool } = migrated.database;
  const key = await migrated.merchant();
  const [bad, ...good] = await pay(key, 6);
  assert.ok(bad);
  const cure = await poisonRow(pool, 'refund', 'insert', { payment_id: bad.id });
  const results = await Promise.allSettled(
    [bad, ...good].map((payment) => refund(key, payment, 1_000n)),
  );
  await cure();
  assert.deepEqual(codes(results), ['rejected', ...good.map(() => 'fulfilled')]);
  assert.equal((await booksOf(migrated.database, key)).merchant, 55_000n);
});
