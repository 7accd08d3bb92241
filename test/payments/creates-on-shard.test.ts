/**
 * New payments as spread tables write them, by a function on the machine of their merchant: the
 * same rows as by the statement of one database, and each key once. Here the function runs in one
 * database; on a real Citus the scenarios of `npm run test:citus` call it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRowId } from '../../subgraphs/kernel/database/new-id.ts';
import { inTransaction, isLockTimeout } from '../../subgraphs/kernel/database/statement.ts';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { insertPayment } from '../../subgraphs/payments/insert-payment.ts';
import { insertOnShard } from '../../subgraphs/payments/insert-on-shard.ts';
import type { NewPayment } from '../../subgraphs/payments/insert-statements.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const createdAt = Temporal.Instant.from('2026-11-24T10:00:00.123Z');

const newPayment = ({ merchantId, shopId }: KeyPrincipal): NewPayment => ({
  merchantId,
  id: newRowId(),
  shopId,
  mode: 'test',
  orderId: 'an order "of" {many} \\ signs, №1 🫘',
  amount: 9_999_900n,
  capture: 'manual',
  currency: 'RUB',
  method: 'cards',
  status: 'pending',
  returnUrl: 'https://shop.example/?a=1&b=2',
  webhookUrl: null,
  description: '',
  customerId: 'c-1',
  metadata: { text: '{"a", NULL} \\', '': '1' },
  createdAt,
  expiresAt: createdAt.add({ hours: 1 }),
  plannedOutcome: 'failed',
  plannedFailureCode: 'insufficient_funds',
  amountUsdt: 0.1,
  receiptTermsId: null,
  madeByKey: randomUUID(),
});

const claimOf = (key: string) => ({ key, fingerprint: `of ${key}` });

/** What was written of a payment, without what differs from payment to payment. */
const writtenOf = async ({ merchantId, id }: Pick<NewPayment, 'merchantId' | 'id'>) => {
  const ask = async (table: string, by: string, drawn: string): Promise<unknown> => {
    const { rows } = await migrated.database.pool.query<{ row: object }>(
      `select to_jsonb(${table}) - '{${drawn}}'::text[] as row from ${table} where merchant_id = $1 and ${by} = $2`,
      [merchantId, id],
    );
    return JSON.parse(JSON.stringify(rows).replaceAll(id, 'the payment'));
  };
  return {
    payment: await ask('payment', 'id', 'public_id,made_by_key'),
    event: await ask('event', 'subject_id', 'id,position'),
    key: await ask('idempotency_key', 'resource_id', 'key,fingerprint'),
  };
};

test('a payment is written as the statement of one database writes it, and given as it is stored', async () => {
  const { database, merchant } = migrated;
  const key = await merchant();
  for (const isKeyed of [true, false]) {
    const [one, other] = [newPayment(key), newPayment(key)];
    const stated = await insertPayment(database, one, isKeyed ? claimOf('stated') : null);
    const [made] = await insertOnShard(database.pool, [
      { payment: other, claim: isKeyed ? claimOf('made') : null },
    ]);
    assert.ok(stated && made);
    const { id, publicId, madeByKey } = stated;
    assert.deepEqual({ ...made, id, publicId, madeByKey }, stated);
    assert.match(made.publicId, /^P-\d+$/);
    assert.notEqual(made.publicId, publicId);
    const written = await writtenOf(other);
    assert.deepEqual(written, await writtenOf(one));
    assert.deepEqual(
      Object.values(written).map((rows) => (Array.isArray(rows) ? rows.length : 0)),
      [1, 1, isKeyed ? 1 : 0],
    );
  }
});

test('of several, those whose key is taken and those of an unknown shop are left out', async () => {
  const { pool } = migrated.database;
  const key = await migrated.merchant();
  await insertOnShard(pool, [{ payment: newPayment(key), claim: claimOf('taken') }]);
  const many = ['first', 'taken', 'first', null, 'third', 'stranger'].map((name) => ({
    payment: {
      ...newPayment(key),
      ...(name === 'stranger' ? { shopId: randomUUID() } : {}),
    },
    claim: name === null ? null : claimOf(name),
  }));
  const made = await insertOnShard(pool, many);
  assert.deepEqual(
    made.map(({ id }) => many.findIndex(({ payment }) => payment.id === id)),
    [0, 3, 4],
  );
  const { rows } = await pool.query(
    `select subject_id from event where merchant_id = $1 order by position offset 1`,
    [key.merchantId],
  );
  assert.deepEqual(
    rows.map((row: { subject_id: string }) => row.subject_id),
    made.map(({ id }) => id),
    'events are in the order of the calls',
  );
});

test('fifty calls at once with one key make one payment; another shop of the id makes none', async () => {
  const { pool } = migrated.database;
  const [key, stranger] = [await migrated.merchant(), await migrated.merchant()];
  const calls = Array.from({ length: 50 }, () =>
    insertOnShard(pool, [{ payment: newPayment(key), claim: claimOf('one') }]),
  );
  assert.equal((await Promise.all(calls)).flat().length, 1);
  const foreign = { ...newPayment(key), shopId: stranger.shopId };
  assert.deepEqual(await insertOnShard(pool, [{ payment: foreign, claim: claimOf('two') }]), []);
  const { rows } = await pool.query('select key from idempotency_key where merchant_id = $1', [
    key.merchantId,
  ]);
  assert.deepEqual(rows, [{ key: 'one' }], 'what was refused has left its key free');
});

test('a call waits for another with its key and gives up in time, a batch leaves it out at once', async () => {
  const { pool } = migrated.database;
  const key = await migrated.merchant();
  const held = Promise.withResolvers<void>();
  const holder = inTransaction(pool, async (client) => {
    // As each claim of the key takes it before its row.
    await client.query(
      `select pg_advisory_xact_lock(hashtextextended('idempotency/' || $1 || 'test' || 'held', 0))`,
      [key.merchantId],
    );
    held.resolve();
    await sleep(7_000);
  });
  await held.promise;
  const began = performance.now();
  const [alone, batch] = await Promise.allSettled([
    insertOnShard(pool, [{ payment: newPayment(key), claim: claimOf('held') }]),
    insertOnShard(pool, [
      { payment: newPayment(key), claim: claimOf('held') },
      { payment: newPayment(key), claim: claimOf('free') },
    ]).then((made) => ({ made, after_ms: performance.now() - began })),
  ]);
  assert.ok(alone.status === 'rejected' && isLockTimeout(alone.reason));
  assert.ok(batch.status === 'fulfilled' && batch.value.made.length === 1);
  assert.ok(batch.value.after_ms < 5_000, 'it did not wait as a call does');
  await holder;
});
