/**
 * What is kept how long: the closed list against the schema and the guide, and the jobs that
 * enforce it in batches.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { platformMerchantId } from '../../subgraphs/rules/ids.ts';
import {
  alertsKept_days,
  registriesKept_days,
  testOperationsKept_days,
} from '../../subgraphs/rules/retention.ts';
import { forgetReports } from '../../subgraphs/platform/retention/jobs.ts';
import { metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import { retention, type Retention } from './kept.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const count = async (text: string): Promise<number> =>
  (await migrated.database.pool.query<{ count: number }>(`select count(*)::int as count ${text}`))
    .rows[0]?.count ?? 0;

test('every table is in the list of what is kept how long, and nothing else is', async () => {
  const { rows } = await migrated.database.pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'mikro_orm_migrations' order by 1",
  );
  assert.ok(rows.length > 30, `saw only ${rows.length} tables`);
  assert.deepEqual(
    rows.map(({ name }) => name),
    Object.keys(retention).toSorted(),
  );
});

const received = (kept: Retention): string =>
  'days' in kept ? `${kept.days} days, in ${kept.by}` : `${kept.kept}: ${kept.why}`;

test('the operations guide says of every table what the list says', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const lines = guide.split('\n').filter((line) => /^\| `[a-z_]+` \|/.test(line));
  const written = Object.entries(retention).map(
    ([table, kept]) => `| \`${table}\` | ${received(kept)} |`,
  );
  assert.deepEqual(
    written.filter((line) => !lines.includes(line)),
    [],
  );
});

/** How many rows of a table this process has removed by their age, whatever it did before. */
const removedFrom = async (table: string): Promise<number> => {
  const name = `retention_removed_rows_total{table="${table}"} `;
  const line = (await metrics.metrics()).split('\n').find((text) => text.startsWith(name));
  return Number(line?.slice(name.length) ?? 0);
};

test('old lines of matched registries and old resolved alerts are removed in batches, and counted; what is unresolved stays', async () => {
  const { pool } = migrated.database;
  const runs = { old: randomUUID(), open: randomUUID(), fresh: randomUUID() };
  for (const [name, id] of Object.entries(runs)) {
    const days = name === 'fresh' ? registriesKept_days - 1 : registriesKept_days + 1;
    await pool.query(
      `insert into reconciliation_run (id, connector, mode, reference, since, until, status, lines, matched, differences, created_at, created_by)
       values ($1, 'x', 'live', $2, now() - interval '1 day', now(), $3, 2500, 0, 0, now() - $4 * interval '1 day', 'o')`,
      [id, name, name === 'open' ? 'open' : 'matched', days],
    );
    await pool.query(
      `insert into reconciliation_line (run_id, part, line, reference, kind, amount, currency, status, at)
       select $1, 1, n, n::text, 'payment', 1, 'RUB', 'succeeded', now() from generate_series(1, 2500) as n`,
      [id],
    );
  }
  for (const [days, resolved] of [
    [alertsKept_days + 2, true],
    [alertsKept_days + 2, false],
    [1, true],
  ] as const) {
    await pool.query(
      `insert into alert (merchant_id, id, kind, subject_id, detail, raised_at, resolved_at, resolved_by, note)
       values ($1, gen_random_uuid(), 'books_differ', gen_random_uuid(), 'd', now() - $2 * interval '1 day',
         case when $3 then now() - ($2 - 1) * interval '1 day' end, case when $3 then 'o' end, case when $3 then 'n' end)`,
      [platformMerchantId, days, resolved],
    );
  }
  const [lines, alerts] = [await removedFrom('reconciliation_line'), await removedFrom('alert')];
  await forgetReports({
    pool,
    now: () => Temporal.Now.instant(),
    stopping: new AbortController().signal,
  });
  assert.equal(await count(`from reconciliation_line where run_id = '${runs.old}'`), 0);
  assert.equal(await count('from reconciliation_line'), 5_000);
  assert.deepEqual([await count('from reconciliation_run'), await count('from alert')], [3, 2]);
  assert.equal((await removedFrom('reconciliation_line')) - lines, 2_500);
  assert.equal((await removedFrom('alert')) - alerts, 1);
});

test('of the simulated bank what has ended goes with its age; what has not, and what saved a card, stays', async () => {
  const { pool } = migrated.database;
  const { merchantId, shopId } = await migrated.merchant();
  const old = testOperationsKept_days + 1;
  const rows = [
    { name: 'ended', days: old, status: 'succeeded', kind: null },
    { name: 'open', days: old, status: 'authorized', kind: null },
    { name: 'saved', days: old, status: 'succeeded', kind: 'token_bind' },
    { name: 'young', days: old - 2, status: 'succeeded', kind: null },
  ];
  for (const { name, days, status, kind } of rows) {
    const id = randomUUID();
    await pool.query(
      `insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded,
         currency, method, status, metadata, created_at, expires_at, capture_before, kind, token_id)
       values ($1, $2, 1, $3, $4, $4, 't', 's', 'test', 'o', 100, 0, 'RUB', 'cards', $5, '{}', now(), now(), now(), $6, case when $6::text is not null then $2::uuid end)`,
      [merchantId, id, name, shopId, status, kind],
    );
    await pool.query(
      `insert into simulator_operation (merchant_id, operation_id, reference, outcome, created_at) values ($1, $2, $3, 'succeeded', now() - $4 * interval '1 day')`,
      [merchantId, id, name, days],
    );
    await pool.query(
      `insert into simulator_hold_order (merchant_id, operation_id, payment_id, kind, amount, created_at)
       values ($1, gen_random_uuid(), $2, 'capture', 100, now() - $3 * interval '1 day')`,
      [merchantId, id, days],
    );
  }
  await forgetReports({
    pool,
    now: () => Temporal.Now.instant(),
    stopping: new AbortController().signal,
  });
  const { rows: left } = await pool.query<{ reference: string; orders: number }>(
    `select reference, (select count(*)::int from simulator_hold_order as given where given.payment_id = simulator_operation.operation_id) as orders
     from simulator_operation order by 1`,
  );
  assert.deepEqual(
    left.map(({ reference, orders }) => `${reference} ${orders}`),
    ['open 1', 'saved 1', 'young 1'],
  );
  assert.equal(await count('from simulator_hold_order'), 3);
});
