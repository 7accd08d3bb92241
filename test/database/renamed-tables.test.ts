/**
 * The tables of consumers were renamed while the version before was still running: its statements,
 * as it wrote them, go on through views under the old names.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { type Database, migrate, openDatabase } from '../../subgraphs/kernel/database/orm.ts';
import { consumeBatch, readBatch, readRetries } from '../../subgraphs/kernel/events/consume.ts';
import { entities } from '../../subgraphs/entities.ts';
import { startTestDatabase } from '../support/database.ts';

const before = 'Migration20261122061500_kept_keys';

/** The statements of the version before. */
const former = {
  position: 'select sequence from follower_position where follower = $1',
  move: 'update follower_position set sequence = $3 where follower = $1 and sequence = $2 returning 1',
  oldest: 'select min(sequence) from follower_position',
  putAside: `insert into followed_later (merchant_id, follower, sequence, subject_id, tries, due_at) values ($1, $2, $3, $4, 1, now() + interval '1 second')`,
  aside: `select sequence, merchant_id as "merchantId", subject_id as "subjectId" from followed_later where follower = $1 and due_at <= now() order by due_at limit $2`,
  endAside:
    'delete from followed_later where merchant_id = $1 and follower = $2 and sequence = $3 returning 1',
  delayAside: `update followed_later set tries = tries + 1, due_at = now() + least(power(2, least(tries, 12)), 3600) * interval '1 second'
    where merchant_id = $1 and follower = $2 and sequence = $3`,
} as const;

/** A fresh database, open for this version and for a session of the one before. */
const openBoth = async (t: TestContext): Promise<{ database: Database; old: pg.Client }> => {
  const target = await startTestDatabase();
  const database = await openDatabase({ url: target.url, entities, pool: 4 });
  const old = new pg.Client({ connectionString: target.url });
  await old.connect();
  t.after(async () => {
    await old.end();
    await database.close();
    await target.stop();
  });
  return { database, old };
};

test('statements of the version before, prepared before the migration, work after it and share rows with the new ones', async (t) => {
  const { database, old } = await openBoth(t);
  for (const { name } of await database.orm.migrator.getPending())
    if (name <= before) await database.orm.migrator.up({ migrations: [name] });
  const run = (name: keyof typeof former, values: readonly unknown[] = []) =>
    old.query<Record<string, unknown>>({ name, text: former[name], values: [...values] });
  const merchantId = randomUUID();
  const oneRound = async (from: number): Promise<void> => {
    assert.deepEqual((await run('position', ['recurring'])).rows, [{ sequence: String(from) }]);
    assert.equal((await run('move', ['recurring', from, from + 1])).rowCount, 1);
    assert.equal((await run('move', ['recurring', from, from + 1])).rowCount, 0);
    // It keeps what the totals wait for, too.
    const [oldest] = (await run('oldest')).rows;
    assert.ok(Number(oldest?.['min']) <= from + 1);
    await run('putAside', [merchantId, 'recurring', from, merchantId]);
    await run('delayAside', [merchantId, 'recurring', from]);
    assert.deepEqual((await run('aside', ['recurring', 10])).rows, []);
    assert.equal((await run('endAside', [merchantId, 'recurring', from])).rowCount, 1);
  };
  await oneRound(0);

  assert.ok((await migrate(database)).includes('Migration20261122080000_consumer_names'));
  await oneRound(1);

  // One version's move is the other's: each event is consumed once between them.
  const { pool } = database;
  const batch = await readBatch(pool, 'recurring', 10);
  assert.equal(batch.offset, 2n);
  assert.equal((await run('move', ['recurring', 2, 7])).rowCount, 1);
  assert.equal(await consumeBatch(pool, batch, async () => {}), false);
  await run('putAside', [merchantId, 'recurring', 7, merchantId]);
  await pool.query("update consumer_retry set due_at = now() - interval '1 second'");
  assert.deepEqual(await readRetries(pool, 'recurring', 10), [
    { sequence: 7n, merchantId, subjectId: merchantId },
  ]);
  assert.equal((await run('aside', ['recurring', 10])).rowCount, 1);
});

test('a version that moves the offset waits for the other one, which holds the row', async (t) => {
  const { database, old } = await openBoth(t);
  await migrate(database);
  await old.query('begin');
  await old.query(former.move, ['recurring', 0, 5]);
  const { pool } = database;
  let isOver = false;
  const effects: string[] = [];
  const batch = { consumer: 'recurring', offset: 0n, events: [] } as const;
  const consuming = consumeBatch(pool, batch, async () => void effects.push('new')).finally(
    () => (isOver = true),
  );
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await pool.query(waiting)).rowCount === 0) assert.equal(isOver, false);
  await old.query('commit');
  assert.equal(await consuming, false);
  assert.deepEqual(effects, []);
});
