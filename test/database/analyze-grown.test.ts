/** No plan hurts that was made for an empty table, or for other merchants. Counts rows, not time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entities } from '../../subgraphs/entities.ts';
import { analyzeGrown } from '../../subgraphs/platform/database/maintain-tables.ts';
import { openDatabase, type Database } from '../../subgraphs/platform/database/orm.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { claimDeliveries, findDueLanes } from '../../subgraphs/merchants/webhooks/deliveries.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { loadPayments } from '../../subgraphs/payments/find-payments.ts';
import { storePayment } from '../../subgraphs/payments/store-payment.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { granted } from '../support/granted.ts';
import { openMigratedDatabase } from '../support/migrated.ts';
import { noPolicies } from '../support/no-policies.ts';

let server: TestDatabase;
/** On one connection, so that each statement meets the plan that was kept. */
let database: Database;
let keys: readonly KeyPrincipal[];
before(async () => {
  server = await startTestDatabase({ migrated: true });
  const migrated = await openMigratedDatabase(server.url);
  keys = [await migrated.merchant(), await migrated.merchant()];
  await migrated.close();
  database = await openDatabase({ url: server.url, entities, pool: 1 });
  // Autovacuum would do it in its time.
  await database.pool.query('alter table payment set (autovacuum_enabled = off)');
});
after(async () => {
  await database?.close();
  await server?.stop();
});

const now = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
/** After so many executions PostgreSQL keeps a plan for any parameters. */
const executions = 10;
/** So many share a statement. */
const together = 4;

const create = async (key: KeyPrincipal): Promise<Payment> =>
  granted(await recordPayment(database, noPolicies, key, { input: { amount: 100n } }, now)).payment;

/** PostgreSQL counts what a session does once a second, unless it is told to. */
const countNow = (): Promise<unknown> => database.pool.query('select pg_stat_force_next_flush()');

/** Creates payments one by one, reads and changes each; gives the rows of payments that were read. */
const rowsRead = async (key: KeyPrincipal): Promise<number> => {
  const count = async (): Promise<number> => {
    await countNow();
    const { rows } = await database.pool.query<{ read: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname = 'payment'`,
    );
    return rows[0]?.read ?? 0;
  };
  const before_rows = await count();
  for (let done = 0; done < executions; done += 1)
    await Promise.all(
      Array.from({ length: together }, async () => {
        const payment = await create(key);
        await loadPayments(database.pool, [payment]);
        const change = { patch: { metadata: { text: 'changed' } }, postings: [], events: () => [] };
        assert.ok(await storePayment(database.pool, payment, change, now));
      }),
    );
  return (await count()) - before_rows;
};

const createMany = (key: KeyPrincipal): Promise<unknown> =>
  Promise.all(Array.from({ length: 3_000 }, () => create(key)));

test('a payment after a burst of creates on an empty database reads as many rows as before', async () => {
  const [key] = keys as [KeyPrincipal];
  const calm = await rowsRead(key);
  await createMany(key);
  await countNow();
  assert.ok((await analyzeGrown(database.pool)) > 0);
  assert.equal(await analyzeGrown(database.pool), 0, 'nothing has grown since');
  const analyzed = await rowsRead(key);
  assert.ok(analyzed <= 2 * calm, `${analyzed} rows, ${calm} before`);
});

test('a payment of a merchant whom the statistics do not know reads as many rows as another', async () => {
  const [known, unknown] = keys as [KeyPrincipal, KeyPrincipal];
  await createMany(unknown);
  const expected = await rowsRead(known);
  const read = await rowsRead(unknown);
  assert.ok(read <= 2 * expected, `${read} rows, ${expected} of the other`);
});

test('a payment of a large merchant among thousands of small ones reads as many rows as before', async () => {
  const [large] = keys as [KeyPrincipal];
  const calm = await rowsRead(large);
  await database.pool.query(
    `insert into payment select small.* from (select * from payment limit 1) as one
       cross join generate_series(1, 20000) as n cross join lateral jsonb_populate_record(null::payment,
         to_jsonb(one) || jsonb_build_object('merchant_id', gen_random_uuid(), 'public_id', concat('Q-', n))) as small`,
  );
  await database.pool.query('analyze payment');
  const read = await rowsRead(large);
  assert.ok(read <= 2 * calm, `${read} rows, ${calm} before`);
});

/** How many rows of deliveries were read. */
const deliveriesRead = async (): Promise<number> => {
  await countNow();
  const { rows } = await database.pool.query<{ read: number }>(
    `select sum(seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname like 'webhook_delivery%'`,
  );
  return rows[0]?.read ?? 0;
};

test('a claim reads few rows of a lane, though nothing was due when the statistics were taken', async () => {
  const [{ merchantId, shopId }] = keys as [KeyPrincipal];
  const { pool } = database;
  await pool.query(
    `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, lane, url, status, attempts, created_at)
       select $1, gen_random_uuid(), gen_random_uuid(), 'payment.succeeded', $2, 'test', gen_random_uuid(), 'lane', 'https://shop.example', 'delivered', 1, now()
       from generate_series(1, 3000)`,
    [merchantId, shopId],
  );
  await pool.query('vacuum (analyze) webhook_delivery');
  await pool.query(
    `update webhook_delivery set status = 'pending', due_at = created_at - random() * interval '1 hour'`,
  );
  const before_rows = await deliveriesRead();
  const limits = { deadline_ms: 10_000, leaseMargin_ms: 5_000 };
  const claimed = await claimDeliveries({ pool, now: () => Temporal.Now.instant(), limits }, [
    { merchantId, lane: 'lane', room: 10 },
  ]);
  assert.equal(claimed.length, 10);
  const read = (await deliveriesRead()) - before_rows;
  assert.ok(read <= 100, `${read} rows`);
});

test('the look for due lanes reads few rows, whatever was due when the statistics were taken', async () => {
  const { pool } = database;
  const analyze = (): Promise<unknown> =>
    pool.query('vacuum (analyze) webhook_delivery, dead_letter');
  const look = async (): Promise<void> => {
    const before_rows = await deliveriesRead();
    assert.equal((await findDueLanes(pool, Temporal.Now.instant())).length, 1);
    const read = (await deliveriesRead()) - before_rows;
    assert.ok(read <= 100, `${read} rows`);
  };
  await pool.query(`update webhook_delivery set status = 'delivered', lease_until = null`);
  await analyze();
  await pool.query(`update webhook_delivery set status = 'pending'`);
  await look();
  await analyze();
  await pool.query(
    `update webhook_delivery set status = case when webhook_delivery.id = last.id then 'pending' else 'delivered' end
       from (select id from webhook_delivery order by created_at desc, ctid desc limit 1) as last`,
  );
  await look();
});
