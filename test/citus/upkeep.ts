/**
 * What keeps tables that are sharded over two workers: months are made and dropped, and what has
 * reached its age is removed, of every merchant and nothing else; and the books are proved.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  makePartitions,
  partitionedTables,
} from '../../subgraphs/platform/database/maintain-tables.ts';
import type { Database } from '../../subgraphs/platform/database/orm.ts';
import { checkBooks } from '../support/check-books.ts';
import { dropPartitions } from '../../subgraphs/platform/retention/jobs.ts';
import * as rows from '../../subgraphs/platform/retention/forget-rows.ts';
import { openHistory } from '../books/history.ts';
import { checkAll } from '../books/turns.ts';
import {
  migrateTemplate,
  openMigratedDatabase,
  type MigratedDatabase,
} from '../support/migrated.ts';
import { distribute, startCitus, type Servers } from './servers.ts';

const now = Temporal.Now.instant();
const long = now.subtract({ hours: 24 * 100 });
const merchants = Array.from({ length: 8 }, () => randomUUID());

let servers: Servers;
let migrated: MigratedDatabase;
let database: Database;
before(async () => {
  servers = await startCitus(process.env['CITUS_BIN'] ?? '');
  await migrateTemplate(servers.url);
  await distribute(servers.url);
  migrated = await openMigratedDatabase(servers.url);
  ({ database } = migrated);
});
after(async () => {
  await migrated?.close();
  await servers?.stop();
});

const countOf = async (table: string): Promise<number> => {
  const { rows: found } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from ${table}`,
  );
  return found[0]?.count ?? 0;
};

const addEvent = (merchantId: string, at: Temporal.Instant, sequence: number | null) =>
  database.pool.query(
    `insert into event (merchant_id, id, shop_id, mode, subject_id, created_at, sequence)
     values ($1, gen_random_uuid(), gen_random_uuid(), 'live', gen_random_uuid(), $2, $3)`,
    [merchantId, at.toString(), sequence],
  );

test('old keys of every merchant go, new ones stay', async () => {
  for (const merchantId of merchants)
    for (const [key, at] of [
      ['old', long],
      ['new', now],
    ] as const)
      await database.pool.query(
        `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at, request)
         values ($1, 'test', $2, 'f', gen_random_uuid(), gen_random_uuid(), $3, 'r')`,
        [merchantId, key, at.toString()],
      );
  const cutoff = now.subtract({ hours: 24 });
  assert.equal((await rows.forgetBatch(database.pool, rows.forgetKeys, cutoff, 1_000)).result, 8);
  assert.equal(await countOf('idempotency_key'), 8);
});

test('an old event goes once it was counted, from the default partition', async () => {
  await database.pool.query(`update consumer_offset set sequence = 5`);
  for (const [index, merchantId] of merchants.entries())
    await addEvent(merchantId, long, index + 1);
  assert.equal(
    (await rows.forgetBatch(database.pool, rows.forgetDefaultPartitions.event, now, 1_000)).result,
    5,
  );
  assert.equal(await countOf('event'), 3);
  await database.pool.query('update consumer_offset set sequence = 100');
  assert.equal(
    (await rows.forgetBatch(database.pool, rows.forgetDefaultPartitions.event, now, 1_000)).result,
    3,
  );
});

test('everything that is removed by its age is removed by statements that Citus takes', async () => {
  const { forgetDefaultPartitions, forgetBatch: _batch, forgetOlder: _older, ...others } = rows;
  const all = [...Object.values(forgetDefaultPartitions), ...Object.values(others)];
  assert.ok(all.length >= 14, `only ${all.length} kinds of rows`);
  for (const one of all) await rows.forgetBatch(database.pool, one, now, 1_000);
});

test('months are made and dropped, with what waited for them', async () => {
  const later = now.add({ hours: 24 * 150 });
  for (const merchantId of merchants) await addEvent(merchantId, later, 1);
  assert.equal(await countOf('partitions.event_default'), 8);
  // The audit log has months, too, and keeps them.
  assert.equal(await makePartitions(database.pool, later), (partitionedTables.length + 1) * 3);
  assert.deepEqual([await countOf('partitions.event_default'), await countOf('event')], [0, 8]);
  const dropped: string[] = [];
  const end = later.add({ hours: 24 * 100 });
  await dropPartitions(database.pool, end, (table) => dropped.push(table));
  assert.deepEqual(new Set(dropped), new Set(partitionedTables));
  assert.equal(await countOf('event'), 0);
});

test('the books are checked merchant by merchant, and an alert is raised for what differs', async () => {
  const { pool } = database;
  const history = openHistory(migrated);
  const keys = [];
  for (let count = 0; count < 4; count += 1) {
    const key = await migrated.merchant();
    const { id } = await history.pay(key, 10_000n);
    await history.refund(key, id, 4_000n);
    await history.payOut(key, 1_000n, 'succeeded');
    keys.push({ ...key, paymentId: id });
  }
  assert.deepEqual(await checkBooks({ pool }), []);
  const [wronged] = keys;
  assert.ok(wronged);
  const { merchantId, paymentId } = wronged;
  const change = `update posting set amount = amount + 1 where merchant_id = $1 and source_id = $2 and type = 'payment'`;
  await pool.query(change, [merchantId, paymentId]);
  const found = await checkBooks({ pool });
  assert.deepEqual(
    new Set(found.map((difference) => `${difference.check} ${difference.merchantId}`)),
    new Set([`payment_booked ${merchantId}`, `balance_adds_up ${merchantId}`]),
  );
  await checkAll(pool);
  const { rows: alerts } = await pool.query(
    `select merchant_id from alert where kind = 'books_differ'`,
  );
  assert.deepEqual(
    alerts.map((alert) => alert.merchant_id),
    [merchantId, merchantId],
  );
});
