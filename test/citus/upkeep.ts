/**
 * What keeps tables that are spread over two workers: months are made and dropped, and what has
 * reached its age is removed, of every merchant and nothing else.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { makePartitions, partitionedTables } from '../../subgraphs/kernel/database/partitions.ts';
import { openDatabase, type Database } from '../../subgraphs/kernel/database/orm.ts';
import { dropPartitions } from '../../subgraphs/kernel/retention/drop-partitions.ts';
import { forgetBatch } from '../../subgraphs/kernel/retention/forget-batches.ts';
import * as rows from '../../subgraphs/kernel/retention/forget-rows.ts';
import { entities } from '../../subgraphs/entities.ts';
import { migrateTemplate } from '../support/migrated.ts';
import { distribute, startCitus, type Servers } from './servers.ts';

const now = Temporal.Now.instant();
const long = now.subtract({ hours: 24 * 100 });
const merchants = Array.from({ length: 8 }, () => randomUUID());

let servers: Servers;
let database: Database;
before(async () => {
  servers = await startCitus(process.env['CITUS_BIN'] ?? '');
  await migrateTemplate(servers.url);
  await distribute(servers.url);
  database = await openDatabase({ url: servers.url, entities, pool: 4 });
});
after(async () => {
  await database?.close();
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
        `insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at)
         values ($1, 'test', $2, 'f', gen_random_uuid(), gen_random_uuid(), $3)`,
        [merchantId, key, at.toString()],
      );
  const cutoff = now.subtract({ hours: 24 });
  assert.equal((await forgetBatch(database.pool, rows.forgetKeys, cutoff, 1_000)).result, 8);
  assert.equal(await countOf('idempotency_key'), 8);
});

test('an old event goes once it was counted, from the default partition', async () => {
  await database.pool.query(`update consumer_offset set sequence = 5`);
  for (const [index, merchantId] of merchants.entries())
    await addEvent(merchantId, long, index + 1);
  assert.equal((await forgetBatch(database.pool, rows.forgetStrays.event, now, 1_000)).result, 5);
  assert.equal(await countOf('event'), 3);
  await database.pool.query('update consumer_offset set sequence = 100');
  assert.equal((await forgetBatch(database.pool, rows.forgetStrays.event, now, 1_000)).result, 3);
});

test('everything that is removed by its age is removed by statements that Citus takes', async () => {
  const { forgetStrays, ...others } = rows;
  const all = [...Object.values(forgetStrays), ...Object.values(others)];
  assert.ok(all.length >= 14, `only ${all.length} kinds of rows`);
  for (const one of all) await forgetBatch(database.pool, one, now, 1_000);
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
