/**
 * The audit log by the month: made of the table of before without moving a row, beside a version
 * that writes to it; nothing in any partition can be changed.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { makePartitions } from '../../subgraphs/kernel/database/partitions.ts';
import { migrate, openDatabase, type Database } from '../../subgraphs/kernel/database/orm.ts';
import { entities } from '../../subgraphs/entities.ts';
import { listAuditEntries } from '../../subgraphs/merchants/audit.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';

const firstNew = 'Migration20261124080000';
const months = 'Migration20261124081003_audit_by_month';

let target: TestDatabase;
let database: Database;
let old: pg.Client;
const merchantId = randomUUID();

/** As the version before writes an entry; a test clock may stand anywhere. */
const write = (at: string): Promise<unknown> =>
  old.query({
    name: 'audit.insert',
    text: `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, before, after, request_id)
      values ($1, gen_random_uuid(), $2, 'anna', 'admin', 'shop.rename', 'shop', 's', null, null, 'r')`,
    values: [merchantId, at],
  });
const rows = async <Row extends object>(text: string): Promise<Row[]> =>
  (await database.pool.query<Row>(text)).rows;
const places = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await rows<{ place: string; count: number }>(
        `select tableoid::regclass::text as place, count(*)::int as count from audit_entry group by 1`,
      )
    ).map(({ place, count }) => [place.replace('partitions.audit_entry_', ''), count]),
  );

before(async () => {
  target = await startTestDatabase();
  database = await openDatabase({ url: target.url, entities, pool: 4 });
  old = new pg.Client({ connectionString: target.url });
  await old.connect();
  for (const { name } of await database.orm.migrator.getPending())
    if (name < firstNew) await database.orm.migrator.up({ migrations: [name] });
});
after(async () => {
  await old.end();
  await database.close();
  await target.stop();
});

/** The first month that the table of before does not hold. */
const bound = async (): Promise<Temporal.Instant> => {
  const [row] = await rows<{ until: string }>(
    `select to_char((regexp_match(pg_get_expr(relpartbound, oid), 'TO \\(''([^'']+)'))[1]::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as until
     from pg_class where oid = 'partitions.audit_entry_before'::regclass`,
  );
  return Temporal.Instant.from(row?.until ?? '');
};

describe('the audit log by the month', () => {
  test('is the table of before and what comes, with no row moved and none lost', async () => {
    await write('2026-01-05T00:00:00Z');
    await write('2031-07-05T00:00:00Z');
    const file = `select pg_relation_filenode(oid) as file from pg_class where relname in ('audit_entry', 'audit_entry_before') and relkind = 'r'`;
    const [stored] = await rows(file);
    const began = Temporal.Now.instant();
    for (const { name } of await database.orm.migrator.getPending()) {
      await write('2026-01-06T00:00:00Z');
      await database.orm.migrator.up({ migrations: [name] });
      await write('2031-07-06T00:00:00Z');
      if (name === months) break;
    }
    assert.deepEqual(await rows(file), [stored]);
    assert.deepEqual(await places(), { before: 12 });
    await migrate(database);
    assert.equal((await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).trim(), '');
    const until = await bound();
    const days = until.since(began).total('days');
    assert.ok(days > 31 && days < 93, String(days));
  });

  test('has a partition for each month from then on, made once', async () => {
    const until = await bound();
    assert.ok((await makePartitions(database.pool, until)) >= 3);
    const made = await rows<{ name: string }>(
      `select relname as name from pg_class where relname ~ '^audit_entry_[0-9]{4}_[0-9]{2}$' order by 1`,
    );
    assert.equal(made.length, 3);
    assert.equal(made[0]?.name, `audit_entry_${until.toString().slice(0, 7).replace('-', '_')}`);
    assert.equal(await makePartitions(database.pool, until), 0);
    await database.pool.query(
      `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, request_id, written_at)
       select $1, gen_random_uuid(), '2026-01-07', 'a', 'r', 'x.y', 'x', 's', 'r', moment from unnest($2::timestamptz[]) as moment`,
      [merchantId, [until.toString(), until.add({ hours: 24 * 200 }).toString()]],
    );
    const place = made[0]?.name.replace('audit_entry_', '') ?? '';
    assert.deepEqual(await places(), { before: 12, default: 1, [place]: 1 });
  });

  test('leaves a month that has entries in the default partition there', async () => {
    const late = (await bound()).add({ hours: 24 * 200 });
    await makePartitions(database.pool, late);
    assert.equal((await places())['default'], 1);
    assert.equal(await makePartitions(database.pool, late), 0);
  });

  test('cannot be changed, shortened or emptied, neither as a whole nor by a partition', async () => {
    const tables = (
      await rows<{ name: string }>(
        `select relid::regclass::text as name from pg_partition_tree('audit_entry')`,
      )
    ).map(({ name }) => name);
    assert.ok(tables.length >= 6, `saw only ${tables.length}`);
    for (const table of tables)
      for (const statement of [
        `update ${table} set actor = 'nobody'`,
        `delete from ${table}`,
        `truncate ${table}`,
      ])
        await assert.rejects(database.pool.query(statement), /append-only/, statement);
  });

  test('is read in pages, each entry once, whatever its partition', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = null, pages = 0; pages < 20; pages += 1) {
      const page = await listAuditEntries(database.fork(), database.pool, {
        merchantId,
        first: 3,
        after: cursor,
      });
      assert.ok('nodes' in page);
      seen.push(...page.nodes.map(({ id }) => id));
      cursor = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage) break;
    }
    const all = await rows<{ id: string }>('select id from audit_entry order by at desc, id desc');
    assert.deepEqual(
      seen,
      all.map(({ id }) => id),
    );
    assert.equal(seen.length, 14);
  });

  for (const [what, query] of [
    [
      'pages of a merchant',
      `where merchant_id = '${merchantId}' order by at desc, id desc limit 51`,
    ],
    ['pages of all', 'order by at desc, id desc limit 51'],
    ['a request', `where request_id = 'r9'`],
    [
      'a subject',
      `where merchant_id = '${merchantId}' and subject_id = any ('{s9}') order by at desc, id desc limit 300`,
    ],
  ] as const)
    test(`finds ${what} by an index in each partition`, async () => {
      if ((await rows('select 1 from audit_entry limit 1000')).length < 1_000)
        await database.pool.query(
          `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, request_id, written_at)
           select case when n % 3 = 0 then $1 else gen_random_uuid() end, gen_random_uuid(), moment, 'a', 'r', 'x.y', 'x', 's' || n, 'r' || n, moment
           from generate_series(1, 60000) as n, lateral (select now() + n % 120 * interval '1 day' as moment) as m`,
          [merchantId],
        );
      await database.pool.query('vacuum analyze audit_entry');
      const plan = await rows<{ 'QUERY PLAN': string }>(
        `explain select * from audit_entry ${query}`,
      );
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      const large = Object.entries(await places()).filter(([, count]) => count > 1_000);
      assert.ok(large.length >= 3, `saw only ${large.length} partitions`);
      for (const [place] of large)
        assert.ok(!text.includes(`Seq Scan on audit_entry_${place}`), text);
      assert.match(text, /Index.* audit_entry_/, text);
    });
});
