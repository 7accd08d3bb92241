/**
 * New payments as sharded tables write them, by a function on the machine of their merchant, which
 * is made from the same file: the same rows as by the statement, and each key once. Here the
 * function runs in one database that says it has Citus; on a real one the scenarios of
 * `npm run test:citus` call it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  newRowId,
  inTransaction,
  isLockTimeout,
} from '../../subgraphs/platform/database/statement.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import {
  recordPayment,
  insertPayment,
  type NewPayment,
} from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { statusEvents } from '../../subgraphs/payments/change-payment.ts';
import { storePayment } from '../../subgraphs/payments/store-payment.ts';
import { isSharded } from '../../subgraphs/platform/database/sql-file.ts';
import type { IdempotencyClaim } from '../../subgraphs/platform/database/idempotency.ts';
import { granted } from '../support/granted.ts';
import {
  openMigratedDatabase,
  startMigratedDatabase,
  type MigratedDatabase,
} from '../support/migrated.ts';

let migrated: MigratedDatabase;
let sharded: Pick<MigratedDatabase, 'database' | 'close'>;
before(async () => {
  migrated = await startMigratedDatabase();
  const { pool, url } = migrated.database;
  assert.equal(await isSharded(pool), false);
  await pool.query(
    `insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 1, 'citus', extowner, extnamespace, false, '13' from pg_extension where extname = 'plpgsql'`,
  );
  sharded = await openMigratedDatabase(url);
  assert.equal(await isSharded(sharded.database.pool), true);
});
after(async () => {
  await sharded?.close();
  await migrated.close();
});

interface Insertion {
  readonly payment: NewPayment;
  readonly claim: IdempotencyClaim | null;
}

/** Writes payments of one moment; gives those that were written. */
const insertOnShard = async (insertions: readonly Insertion[]): Promise<Payment[]> => {
  const made = await Promise.all(
    insertions.map((one) => insertPayment(sharded.database, { ...one, terms: null })),
  );
  return made.flatMap((rated) => rated?.payment ?? []);
};

const createdAt = Temporal.Instant.from('2026-11-24T10:00:00.123Z');

/** A payment as the program makes it in one database. */
const makeModel = async (
  key: KeyPrincipal,
  idempotencyKey: string | null = null,
): Promise<Payment> =>
  granted(
    await recordPayment(
      migrated.database,
      noPolicies,
      key,
      {
        input: {
          amount: 9_999_900n,
          orderId: 'an order "of" {many} \\ signs, №1 🫘',
          capture: 'manual',
          returnUrl: "https://shop.example/?a=1&b='2'",
          description: '',
          customerId: 'c-1',
          metadata: { text: '{"a", NULL} \\', "o'clock": '$1 %L', simulator_outcome: 'failed' },
        },
        idempotency: idempotencyKey === null ? null : { key: idempotencyKey },
      },
      createdAt,
    ),
  ).payment;
/** A new one with its values. */
const like = (payment: Payment): NewPayment => ({ ...payment, id: newRowId() });

const request = 'POST /v1/public/payments';
const claimOf = (key: string, asksLater = false) => ({
  key,
  fingerprint: `of ${key}`,
  request,
  asksLater,
});

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
    payment: await ask('payment', 'id', 'public_id'),
    event: await ask('event', 'subject_id', 'id,position'),
    key: await ask('idempotency_key', 'resource_id', 'key,fingerprint,request'),
  };
};

test('a payment is written as the statement of one database writes it, and given as it is stored', async () => {
  const key = await migrated.merchant();
  for (const idempotencyKey of ['stated', null]) {
    const model = await makeModel(key, idempotencyKey);
    const payment = like(model);
    const claim = idempotencyKey === null ? null : claimOf('made');
    const [made] = await insertOnShard([{ payment, claim }]);
    assert.ok(made);
    const { id, publicId } = model;
    assert.deepEqual({ ...made, id, publicId }, model);
    assert.match(made.publicId, /^P-\d+$/);
    assert.notEqual(made.publicId, publicId);
    const written = await writtenOf(payment);
    assert.deepEqual(written, await writtenOf(model));
    assert.deepEqual(
      Object.values(written).map((rows) => (Array.isArray(rows) ? rows.length : 0)),
      [1, 1, claim ? 1 : 0],
    );
  }
});

test('the claim of a payment whose bank is asked says so', async () => {
  const { pool } = migrated.database;
  const key = await migrated.merchant();
  const payment = like(await makeModel(key));
  await insertOnShard([{ payment, claim: claimOf('asks', true) }]);
  const { rows } = await pool.query(
    `select key from idempotency_key where merchant_id = $1 and asking_until > clock_timestamp()`,
    [key.merchantId],
  );
  assert.deepEqual(rows, [{ key: 'asks' }]);
});

test('of several, those whose key is taken and those of an unknown shop are left out', async () => {
  const { pool } = migrated.database;
  const key = await migrated.merchant();
  const model = await makeModel(key);
  await insertOnShard([{ payment: like(model), claim: claimOf('taken') }]);
  const many = ['first', 'taken', 'first', null, 'third', 'stranger'].map((name) => ({
    payment: {
      ...like(model),
      ...(name === 'stranger' ? { shopId: randomUUID() } : {}),
    },
    claim: name === null ? null : claimOf(name),
  }));
  const made = await insertOnShard(many);
  assert.deepEqual(
    made.map(({ id }) => many.findIndex(({ payment }) => payment.id === id)),
    [0, 3, 4],
  );
  const { rows } = await pool.query(
    `select subject_id from event where merchant_id = $1 order by position offset 2`,
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
  const model = await makeModel(key);
  const calls = Array.from({ length: 50 }, () =>
    insertOnShard([{ payment: like(model), claim: claimOf('one') }]).catch(
      // A busy machine may take longer than a call waits.
      (error: unknown) => (isLockTimeout(error) ? [] : Promise.reject(error)),
    ),
  );
  assert.equal((await Promise.all(calls)).flat().length, 1);
  const foreign = { ...like(model), shopId: stranger.shopId };
  assert.deepEqual(await insertOnShard([{ payment: foreign, claim: claimOf('two') }]), []);
  const { rows } = await pool.query('select key from idempotency_key where merchant_id = $1', [
    key.merchantId,
  ]);
  assert.deepEqual(rows, [{ key: 'one' }], 'what was refused has left its key free');
});

test('a call waits for another with its key and gives up in time; the batch that it was in has gone on', async () => {
  const { pool } = migrated.database;
  const key = await migrated.merchant();
  const model = await makeModel(key);
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = inTransaction(pool, async (client) => {
    // As each claim of the key takes it before its row.
    await client.query(
      `select pg_advisory_xact_lock(hashtextextended('idempotency/' || $1 || 'test' || 'held', 0))`,
      [key.merchantId],
    );
    held.resolve();
    await over.promise;
  });
  await held.promise;
  try {
    const insertOne = (name: string) =>
      insertPayment(sharded.database, {
        payment: like(model),
        claim: claimOf(name),
        terms: null,
      });
    const gaveUp = [insertOne('held'), insertOne('held')].map((call) =>
      assert.rejects(call, isLockTimeout),
    );
    assert.ok(await insertOne('free'));
    await Promise.all(gaveUp);
  } finally {
    over.resolve();
  }
  await holder;
});

test('a change of a payment is written by a function, too, with its events in their order', async () => {
  const key = await migrated.merchant();
  const payment = await makeModel(key);
  const change = {
    patch: { status: 'cancelled', finalizedAt: createdAt },
    postings: [],
    events: (after: Payment) => [
      ...statusEvents(after, [], createdAt),
      ...statusEvents(payment, [], createdAt),
    ],
  } as const;
  const { pool } = sharded.database;
  const stored = await storePayment(pool, payment, change, createdAt);
  assert.equal(stored?.status, 'cancelled');
  assert.equal(
    await storePayment(pool, payment, change, createdAt),
    null,
    'its version is another',
  );
  const { rows } = await migrated.database.pool.query<{ status: string }>(
    `select coalesce(payload ->> 'status', '') as status from event where merchant_id = $1 order by position`,
    [key.merchantId],
  );
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['pending', 'cancelled', 'pending'],
  );
});
