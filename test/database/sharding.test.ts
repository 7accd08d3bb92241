/**
 * What Citus asks of a schema that it can sharded over machines by `merchant_id` (docs/operations.md), on
 * the migrated schema and on real lives of money. Citus itself is run by `npm run test:citus`; each
 * statement is read by merchant-rule.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { openHarness, sbp, start, type Harness } from '../payouts/harness.ts';
import { live } from '../payments/life.ts';
import { copied, distributed } from './distribution.ts';

/** Tables that are not spread: small, or the platform's own. Each has its reason. */
const shared: Readonly<Record<string, string>> = {
  api_key: 'found by its digest before the merchant is known',
  console_session: 'found by its digest; people of the platform have no merchant',
  console_link: 'ten minutes each',
  rate: 'the rates of the platform have no merchant; read with every capture, so a copy is on each machine',
  block_entry: 'kept in memory; those of the platform have no merchant',
  forbidden_word: 'kept in memory',
  exchange_rate: 'kept in memory',
  policy_version: 'one row',
  kept_key: 'three rows for each secret key',
  sbp_bank: 'some hundreds of banks',
  books_check: 'one small row for each merchant, taken in the order in which they are due',
  totals_walk: 'two rows at most',
  bank_health: "the platform's counts of calls to banks; removed after two days",
  consumer_offset: 'one row for each consumer',
  reconciliation_run:
    "an acquirer's registry is the platform's: it holds operations of many merchants",
  reconciliation_part: "the platform's, with its run",
  reconciliation_line: "the platform's, with its run; removed when it has its age",
  mikro_orm_migrations: 'one row for each migration',
};

/** The column that names the merchant. */
const shardKey = (table: string): string => (table === 'merchant' ? 'id' : 'merchant_id');

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

const query = async <Row extends object>(text: string): Promise<Row[]> =>
  (await harness.pool.query<Row>(text)).rows;

const spreadTables = async (): Promise<string[]> => {
  const rows = await query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1",
  );
  return rows.map(({ name }) => name).filter((name) => !Object.hasOwn(shared, name));
};

describe('every table that grows with the merchants', () => {
  test('names its merchant, never null, in a column of one type', async () => {
    const tables = await spreadTables();
    assert.ok(tables.length > 20, `saw only ${tables.length} tables`);
    const columns = await query<{ name: string }>(
      "select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public' and udt_name = 'uuid' and is_nullable = 'NO'",
    );
    const named = new Set(columns.map(({ name }) => name));
    assert.deepEqual(
      tables.filter((table) => !named.has(`${table}.${shardKey(table)}`)),
      [],
    );
  });

  test('has the merchant in its primary key, in every unique key and in every foreign key', async () => {
    const keys = await query<{ table: string; key: string; columns: string[] }>(`
      select t.relname as table, i.relname as key, array_agg(a.attname::text) as columns from pg_index x join pg_class t on t.oid = x.indrelid
        join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = t.relnamespace
        join pg_attribute a on a.attrelid = t.oid and a.attnum = any (x.indkey)
      where n.nspname = 'public' and x.indisunique group by 1, 2
      union all
      select t.relname, c.conname, array_agg(a.attname::text) from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
        join pg_attribute a on a.attrelid = t.oid and a.attnum = any (c.conkey)
      where n.nspname = 'public' and c.contype = 'f' group by 1, 2`);
    const tables = await spreadTables();
    const spread = keys.filter(({ table }) => tables.includes(table));
    assert.deepEqual(
      tables.filter((table) => !spread.some((key) => key.table === table)),
      [],
      'a table without a key',
    );
    assert.deepEqual(
      spread.filter(({ table, columns }) => !columns.includes(shardKey(table))),
      [],
    );
  });

  test('is distributed by distribute.sql, and nothing else is', async () => {
    const tables = await spreadTables();
    assert.deepEqual(
      [...distributed].toSorted(([one], [other]) => (one < other ? -1 : 1)),
      tables.map((table) => [table, shardKey(table)]),
    );
    assert.deepEqual(
      [...copied].filter((table) => !Object.hasOwn(shared, table)),
      [],
    );
  });

  test('is not among the shared ones, which are all there', async () => {
    const rows = await query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const names = rows.map(({ name }) => name);
    assert.deepEqual(
      Object.keys(shared).filter((table) => !names.includes(table)),
      [],
    );
  });
});

/** Notes for every row that is written in which transaction it was, and whose it is. */
const watchWrites = async (): Promise<void> => {
  await harness.pool.query(
    'create unlogged table written (transaction xid8, "table" text, merchant_id uuid)',
  );
  await harness.pool.query(`create function note_written() returns trigger as $$ begin
      insert into written select pg_current_xact_id(), tg_argv[1], (to_jsonb(coalesce(new, old)) ->> tg_argv[0])::uuid; return null; end; $$ language plpgsql`);
  for (const table of await spreadTables()) {
    if (table === 'written') continue;
    await harness.pool.query(
      `create trigger note_written after insert or update or delete on ${table} for each row execute function note_written('${shardKey(table)}', '${table}')`,
    );
  }
};

/**
 * Transactions that wrote books or claimed a key, by how many merchants' rows they wrote. Taking
 * what is due from a list of all moves nothing.
 */
const moneyTransactions = (): Promise<{ merchants: number; count: number }[]> =>
  query(`select merchants, count(*)::int as count from (
      select transaction, count(distinct merchant_id)::int as merchants from written group by 1
      having bool_or("table" in ('posting', 'balance', 'balance_delta', 'idempotency_key'))
    ) as one group by 1 order by 1`);

test("a transaction that moves money writes rows of one merchant alone, however many merchants' money moves at the same moment", async () => {
  await watchWrites();
  const life = `
    create   P1 10_000 any   -> pending
    choose   P1 sbp          -> pending
    session  P1              -> processing
    bank     P1 approve      -> succeeded fee 0
    refund   P1 4_000
    create   P2 5_000 sbp    -> pending
    cancel   P2              -> cancelled
    create   P3 5_000 cards  -> pending
    session  P3              -> processing
    bank     P3 decline`;
  const keys = await Promise.all([
    harness.funded(100_000n),
    harness.funded(100_000n),
    harness.funded(100_000n),
  ]);
  await Promise.all(keys.map((key) => live(harness.migrated, key, life)));
  await Promise.all(
    keys.map((key, index) =>
      harness.create(key, { amount: 1_000n, ...sbp }, { key: `k-${index}` }),
    ),
  );
  await harness.send(start.add({ seconds: 60 }));
  const seen = await moneyTransactions();
  assert.deepEqual(
    seen.map(({ merchants }) => merchants),
    [1],
  );
  assert.ok((seen[0]?.count ?? 0) >= 3 * 5, `saw only ${seen[0]?.count} transactions`);
  const touched = await query<{ table: string }>('select distinct "table" from written order by 1');
  const books = [
    'payment',
    'refund',
    'payout',
    'posting',
    'balance_delta',
    'event',
    'idempotency_key',
  ];
  assert.deepEqual(
    books.filter((table) => !touched.some((one) => one.table === table)),
    [],
    'what the lives should have written',
  );

  await foldBalances(harness.pool);
  assert.deepEqual(
    (await moneyTransactions()).map(({ merchants }) => merchants),
    [1],
  );

  // The watch is not blind.
  await harness.pool.query('update balance set amount = amount');
  assert.deepEqual(
    (await moneyTransactions()).map(({ merchants }) => merchants),
    [1, 3],
  );
});
