/**
 * The consumer of payments' events: nothing lost and nothing twice, whatever is killed, however
 * many consume.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { consumeBatch, readBatch } from '../../subgraphs/platform/events/consume.ts';
import {
  consumePayments,
  retryPayments,
  startConsuming,
  type OnPaymentsMoved,
} from '../../subgraphs/recurring/consume-payments.ts';
import { settleTokens } from '../../subgraphs/recurring/payment-listeners.ts';
import { granted } from '../support/granted.ts';
import { log, openHarness, type Harness } from './harness.ts';
import { eventually } from '../support/eventually.ts';

let harness: Harness;
before(async () => {
  harness = await openHarness();
  await harness.database.pool.query('create table received (payment_id uuid, status text)');
});
after(() => harness.close());

/** An effect that cannot hide that it happened twice. */
const receive: OnPaymentsMoved = async (client, payments) => {
  for (const { id, status } of payments)
    await client.query('insert into received values ($1, $2)', [id, status]);
};

const received = async (): Promise<readonly string[]> => {
  const { rows } = await harness.database.pool.query<{ payment_id: string }>(
    'select payment_id from received',
  );
  return rows.map(({ payment_id }) => payment_id);
};

test('a consumer that dies before its commit has done nothing, and the next one does everything', async () => {
  const key = await harness.merchant();
  const { token } = granted(await harness.create(key, { customerRef: 'c' }));
  await harness.pay(token);
  await harness.number();
  const { pool } = harness.database;
  // What is left of a process that was killed is what is left of its session.
  const killed = consumeBatch(pool, await readBatch(pool, 'recurring', 100), async (client) => {
    await settleTokens(
      client,
      (
        await harness.payments.read([
          { merchantId: token.merchantId, id: token.bindingPaymentId ?? '' },
        ])
      ).filter((payment) => payment !== null),
      harness.call().now,
    );
    await client.query('select pg_terminate_backend(pg_backend_pid())');
  });
  await assert.rejects(killed);
  assert.equal((await harness.read(token)).status, 'pending');
  while ((await harness.follow()) > 0);
  assert.equal((await harness.read(token)).status, 'active');
  assert.equal(await harness.follow(), 0, 'nothing is consumed again');
});

test('payments that recurring billing did not ask for are not consumed', async () => {
  const { rows } = await harness.database.pool.query(
    'select 1 from event where follower is null and stream_kind = $1',
    ['payment.created'],
  );
  assert.ok(rows.length > 0);
  assert.equal(await harness.follow(), 0);
});

test('an event that cannot be consumed holds no other back, and is tried again until it can', async () => {
  const key = await harness.merchant();
  const tokens = await Promise.all(
    [1, 2, 3].map(async () => granted(await harness.create(key, { customerRef: 'c' })).token),
  );
  for (const token of tokens) await harness.pay(token);
  const bad = tokens[1]?.bindingPaymentId;
  let isBroken = true;
  const breaking: OnPaymentsMoved = async (_, payments) => {
    if (isBroken && payments.some(({ id }) => id === bad)) throw new Error('a mistake');
  };
  const listeners = [settleTokens, breaking];
  while ((await harness.follow(listeners)) > 0);
  const statuses = async () =>
    Promise.all(tokens.map(async (token) => (await harness.read(token)).status));
  assert.deepEqual(await statuses(), ['active', 'pending', 'active']);
  const { pool } = harness.database;
  const parts = { pool, payments: harness.payments, listeners, now: () => harness.call().now, log };
  const due = () => pool.query("update consumer_retry set due_at = now() - interval '1 second'");
  await due();
  assert.equal(await retryPayments(parts), 0);
  isBroken = false;
  assert.equal(await retryPayments(parts), 0, 'it waits after a failure');
  await due();
  assert.ok((await retryPayments(parts)) > 0);
  assert.deepEqual(await statuses(), ['active', 'active', 'active']);
  assert.equal((await pool.query('select from consumer_retry')).rowCount, 0);
});

test('three consumers whose sessions die between the effects and the commit consume every payment once', async () => {
  const key = await harness.merchant();
  const token = await harness.active(key);
  const { pool } = harness.database;
  let turns = 0;
  let deaths = 0;
  const dying: OnPaymentsMoved = async (client) => {
    turns += 1;
    if (turns % 3 !== 1) return;
    deaths += 1;
    await client.query('select pg_terminate_backend(pg_backend_pid())');
  };
  const parts = {
    pool,
    payments: harness.payments,
    listeners: [receive, settleTokens, dying],
    now: () => harness.call().now,
    log,
  };
  const over = new AbortController();
  const consumers = [1, 2, 3].map(async () => {
    while (!over.signal.aborted) await consumePayments(parts).catch(() => 0);
  });
  const made: string[] = [];
  for (let index = 0; index < 30; index++) {
    made.push(granted(await harness.charge(key, token, 1_000n, `n${index}`)).payment.id);
    await harness.number();
  }
  const running = startConsuming(parts);
  await eventually(async () => (await received()).length >= made.length, 'every charge');
  over.abort();
  await Promise.all([...consumers, running.stop()]);
  assert.ok(deaths > 0, 'a session died');
  assert.deepEqual((await received()).toSorted(), made.toSorted());
  assert.deepEqual(
    granted(await harness.charge(key, token, 1_000n, 'n29')).payment.capturedAt,
    (await harness.read(token)).lastChargedAt,
  );
});
