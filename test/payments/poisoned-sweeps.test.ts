/**
 * One poisoned row does not stop the others: the sweeps of payments and refunds, where one merchant's rows
 * fail whatever is done with them.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { receiveCallbacks } from '../../subgraphs/payments/jobs.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { askDue } from '../../subgraphs/payments/bank-answers/order-again.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { sendDueRefunds } from '../../subgraphs/payments/refunds/send-refund.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { retryDeadLetters, poison, deadLettersOf } from '../support/poison.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const at = (minutes: number): Temporal.Instant => start.add({ minutes });
const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);

const create = async (
  key: KeyPrincipal,
  amount: bigint,
  now: Temporal.Instant,
  metadata = {},
): Promise<Payment> =>
  granted(
    await recordPayment(
      migrated.database,
      noPolicies,
      key,
      { input: { amount, method: 'sbp', ttlMinutes: 10, metadata } },
      now,
    ),
  ).payment;

const open = async (payment: Payment, now: Temporal.Instant): Promise<Payment> => {
  const key = { merchantId: payment.merchantId, paymentId: payment.id };
  return granted(
    await openSession(migrated.database, banks(), noPolicies, {
      key,
      card: null,
      pageUrl: 'https://pay.example/p',
      now,
    }),
  );
};

const statusOf = async ({ merchantId, id }: Payment): Promise<string> =>
  (await findPayment(migrated.database.pool, { merchantId, paymentId: id }, start))?.payment
    .status ?? 'gone';

/** A merchant whose rows are older than those of five others. */
const merchants = async (): Promise<readonly [bad: KeyPrincipal, ...others: KeyPrincipal[]]> => {
  const [bad, ...others] = await Promise.all(Array.from({ length: 6 }, () => migrated.merchant()));
  return [bad ?? assert.fail(), ...others];
};

/** Runs a sweep that may reject with what failed, in a database where nothing else waits. */
const sweep = async (work: () => Promise<unknown>): Promise<void> =>
  void (await work().catch(() => {}));

const database = () => migrated.database;
const ordering = () => ({
  database: database(),
  banks: banks(),
  publicUrl: 'https://pay.example',
  pageSecret: Buffer.alloc(32),
});
const sweeps = {
  payment_links: (now: Temporal.Instant) => expirePayments(database(), banks(), () => now),
  payment_sessions: (now: Temporal.Instant) => expirePayments(database(), banks(), () => now),
  payment_asks: (now: Temporal.Instant) => askDue(ordering(), () => now),
  simulator_callbacks: (now: Temporal.Instant) => receiveCallbacks(database(), banks(), now),
} as const;

/** How the payments of each sweep come to be due, at which minute, and what they become. */
const lives: Record<
  keyof typeof sweeps,
  {
    readonly amount: bigint;
    readonly metadata?: object;
    readonly opened: boolean;
    readonly due: number;
    readonly becomes: string;
  }
> = {
  payment_links: { amount: 100n, opened: false, due: 11, becomes: 'expired' },
  // Ends in 06: the simulated bank never answers.
  payment_sessions: { amount: 106n, opened: true, due: 30, becomes: 'expired' },
  payment_asks: { amount: 100n, opened: true, due: 1, becomes: 'succeeded' },
  simulator_callbacks: {
    amount: 100n,
    metadata: { simulator_callbacks: 'delayed' },
    opened: true,
    due: 2,
    becomes: 'succeeded',
  },
};

for (const [task, { amount, metadata = {}, opened, due, becomes }] of Object.entries(lives)) {
  test(`${task}: a payment that cannot be written is set aside, and all others become ${becomes} in the same run`, async () => {
    const { pool } = migrated.database;
    const [bad, ...others] = await merchants();
    const made = [];
    for (const [place, key] of [bad, ...others].entries())
      made.push(await create(key, amount, start.add({ seconds: place }), metadata));
    const payments = opened
      ? await Promise.all(made.map((payment) => open(payment, start.add({ seconds: 10 }))))
      : made;
    const [poisoned, ...healthy] = payments;
    assert.ok(poisoned);
    const cure = await poison(pool, 'payment', 'update', bad.merchantId);
    const run = sweeps[task as keyof typeof sweeps];
    await sweep(() => run(at(due)));
    assert.deepEqual(
      await Promise.all(healthy.map(statusOf)),
      healthy.map(() => becomes),
    );
    assert.equal(await statusOf(poisoned), poisoned.status);
    assert.deepEqual(await deadLettersOf(pool, bad.merchantId), {
      subjects: [`${task} ${poisoned.id}`],
      alerts: [task],
    });
    await run(at(due));
    assert.equal(await statusOf(poisoned), poisoned.status, 'it is left alone');
    await cure();
    await retryDeadLetters(pool);
    await run(at(due));
    assert.equal(await statusOf(poisoned), becomes, 'it is tried again by itself');
  });
}

test('six hundred poisoned payments of one merchant, more than a page of the sweep, do not delay others: the merchant is set aside as a whole', async () => {
  const { pool } = migrated.database;
  const [bad, other] = await merchants();
  assert.ok(other);
  await Promise.all(Array.from({ length: 600 }, () => create(bad, 100n, start)));
  const last = await create(other, 100n, at(1));
  const cure = await poison(pool, 'payment', 'update', bad.merchantId);
  await sweeps.payment_links(at(20));
  assert.equal(await statusOf(last), 'expired');
  assert.ok((await deadLettersOf(pool, bad.merchantId)).subjects.includes('payment_links *'));
  await cure();
});

test('refund_asks: a refund that cannot be written is set aside, and all others are given back in the same run', async () => {
  const { pool } = migrated.database;
  const [bad, ...others] = await merchants();
  const refunds = [];
  for (const key of [bad, ...others]) {
    const payment = await open(await create(key, 1_000n, start), start);
    await askDue(ordering(), () => at(1));
    // Ends in 07: it is given back 5 seconds later.
    const request = { paymentId: payment.id, amount: 107n, reason: null, idempotency: null };
    refunds.push(
      granted(await refundPayment(migrated.database, banks(), key, request, at(1))).refund,
    );
  }
  const cure = await poison(pool, 'refund', 'insert', bad.merchantId);
  await sweep(() => sendDueRefunds(migrated.database, banks(), () => at(3)));
  const { rows } = await pool.query<{ status: string; bad: boolean }>(
    'select status, merchant_id = $1 as bad from refund where id = any ($2) order by 2',
    [bad.merchantId, refunds.map(({ id }) => id)],
  );
  assert.deepEqual(
    rows.map(({ status }) => status),
    [...others.map(() => 'succeeded'), 'pending'],
  );
  assert.deepEqual((await deadLettersOf(pool, bad.merchantId)).alerts, ['refund_asks']);
  await cure();
});
