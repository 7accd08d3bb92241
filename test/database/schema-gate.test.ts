import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isMigrated, migrate } from '../../subgraphs/platform/database/orm.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

/** Tables that handwritten statements alone read and write. */
const withoutEntity = [
  'balance',
  'balance_delta',
  'bank_health',
  'counted_fact',
  'hourly_total',
  'ledger_hour',
  'page_opening',
];

test('after all migrations the ORM sees no difference between its entities and the columns of the tables', async () => {
  const difference = await migrated.database.orm.schema.getUpdateSchemaSQL({ wrap: false });
  // Only the migrations have the indexes and constraints.
  const ofMigrations = /^(drop index|alter table "\w+" drop constraint) "\w+";$/;
  const statements = difference.split('\n').filter((line) => line.trim() !== '');
  assert.deepEqual(statements.filter((statement) => !ofMigrations.test(statement)).toSorted(), [
    'drop function if exists "balance_delta_bound_fn"();',
    ...withoutEntity.map((table) => `drop table if exists "${table}" cascade;`),
    'drop trigger if exists "bound" on "balance_delta";',
  ]);
});

test('migrating again applies nothing, also from two processes at once', async () => {
  const [first, second] = await Promise.all([
    migrate(migrated.database),
    migrate(migrated.database),
  ]);
  assert.deepEqual([...first, ...second], []);
  assert.equal(await isMigrated(migrated.database), true);
});

test('every key of a table that has a merchant starts with the merchant or belongs to a small look-up table', async () => {
  const { rows } = await migrated.database.pool.query<{
    table_name: string;
    key: string;
    columns: string[];
  }>(`
    select t.relname as table_name, i.relname as key, array_agg(a.attname::text order by k.position) as columns
    from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = t.relnamespace
      cross join lateral unnest(x.indkey) with ordinality as k(attnum, position) join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum
    where n.nspname = 'public' and x.indisunique and exists (select 1 from pg_attribute m where m.attrelid = t.oid and m.attname = 'merchant_id')
    group by 1, 2`);
  const lookUps = ['api_key', 'block_entry', 'console_link', 'console_session', 'rate'];
  const wrong = rows.filter(
    ({ table_name, columns }) => columns[0] !== 'merchant_id' && !lookUps.includes(table_name),
  );
  assert.ok(rows.length > 10, `saw only ${rows.length} keys`);
  assert.deepEqual(wrong, []);
});
