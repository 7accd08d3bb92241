/** The audit log by the month: each entry in the month of its writing; nothing can be changed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { makePartitions } from '../../subgraphs/platform/database/maintain-tables.ts';
import { migrate, openDatabase, type Database } from '../../subgraphs/platform/database/orm.ts';
import { entities } from '../../subgraphs/entities.ts';
import { listAuditEntries } from '../../subgraphs/merchants/audit.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';

let target: TestDatabase;
let database: Database;
const merchantId = randomUUID();
const now = Temporal.Now.instant();

/** Writes an entry at each of these moments. */
const write = (...moments: readonly Temporal.Instant[]): Promise<unknown> =>
  database.pool.query(
    `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, request_id, written_at)
     select $1, gen_random_uuid(), '2026-01-07', 'a', 'r', 'x.y', 'x', 's', 'r', moment from unnest($2::timestamptz[]) as moment`,
    [merchantId, moments.map(String)],
  );
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
  await migrate(database);
});
after(async () => {
  await database.close();
  await target.stop();
});

/** The name of the partition of a moment, as `places` gives it. */
const placeOf = (moment: Temporal.Instant): string =>
  moment.toString().slice(0, 7).replace('-', '_');
const days = (count: number): Temporal.Instant => now.add({ hours: 24 * count });

describe('the audit log by the month', () => {
  test('has a partition for this month and each of the next two, made once', async () => {
    const made = await rows<{ name: string }>(
      `select relname as name from pg_class where relname ~ '^audit_entry_[0-9]{4}_[0-9]{2}$' order by 1`,
    );
    assert.equal(made.length, 3);
    assert.equal(made[0]?.name, `audit_entry_${placeOf(now)}`);
    assert.equal(await makePartitions(database.pool, now), 0);
  });

  test('holds an entry in the month of its writing, whatever its own time, or in the default partition', async () => {
    await write(now, now, days(200));
    assert.deepEqual(await places(), { default: 1, [placeOf(now)]: 2 });
  });

  test('leaves a month that has entries in the default partition there', async () => {
    await makePartitions(database.pool, days(200));
    assert.equal((await places())['default'], 1);
    assert.equal(await makePartitions(database.pool, days(200)), 0);
  });

  test('cannot be changed, shortened or emptied, neither as a whole nor by a partition', async () => {
    const tables = (
      await rows<{ name: string }>(
        `select relid::regclass::text as name from pg_partition_tree('audit_entry')`,
      )
    ).map(({ name }) => name);
    assert.ok(tables.length >= 5, `saw only ${tables.length}`);
    for (const table of tables)
      for (const statement of [
        `update ${table} set actor = 'nobody'`,
        `delete from ${table}`,
        `truncate ${table}`,
      ])
        await assert.rejects(database.pool.query(statement), /append-only/, statement);
  });

  test('is read in pages, each entry once, whatever its partition', async () => {
    await write(...Array.from({ length: 9 }, () => now), days(31));
    const seen: string[] = [];
    for (let cursor: string | null = null, pages = 0; pages < 20; pages += 1) {
      const page = await listAuditEntries(database.fork(), {
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
    assert.equal(seen.length, 13);
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
      if ((await rows('select 1 from audit_entry limit 1000')).length < 1_000) {
        await database.pool.query(
          `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, request_id, written_at)
           select case when n % 3 = 0 then $1 else gen_random_uuid() end, gen_random_uuid(), moment, 'a', 'r', 'x.y', 'x', 's' || n, 'r' || n, moment
           from generate_series(1, 20000) as n, lateral (select now() + n % 120 * interval '1 day' as moment) as m`,
          [merchantId],
        );
        await database.pool.query('vacuum analyze audit_entry');
      }
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
