/**
 * A deadlock in a statement of BullMQ's own, made with a real one: the statement is sent again, and
 * nobody says that the store is lost.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { migrateQueues, openQueues } from '../../subgraphs/kernel/queue/queues.ts';
import { startTestDatabase } from '../support/database.ts';
import { recorded } from './recorded-job.ts';
import { openTestLog, until } from './stores.ts';

const waitsForLock =
  "select 1 from pg_stat_activity where application_name = 'payments queue' and wait_event_type = 'Lock' and datname = current_database()";

/**
 * Takes the advisory lock that the queue's own session has: a deadlock with a session that waits
 * for one of ours.
 */
const takeItsLock = `select pg_advisory_xact_lock((classid::int8 << 32) | objid::int8) from pg_locks
  where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`;

test('a job that is added in a deadlock is added, the store is ready, and the log is silent', async (t) => {
  const database = await startTestDatabase();
  const [other, looking] = [
    new pg.Client({ connectionString: database.url }),
    new pg.Client({ connectionString: database.url }),
  ];
  await migrateQueues(database.url);
  const { job, runs } = recorded('wanted');
  const { log, answered } = openTestLog();
  const queues = await openQueues({ databaseUrl: database.url, redisUrl: null, log, jobs: [job] });
  t.after(async () => {
    await Promise.all([other.end(), looking.end(), queues.close()]);
    await database.stop();
  });
  await Promise.all([other.connect(), looking.connect()]);
  // The queue's session looks for deadlocks after a second; this one would after a minute, so that
  // the other is the one that PostgreSQL rolls back.
  await other.query("set deadlock_timeout = '60s'");
  await other.query('begin');
  await other.query('lock table bullmq.job in exclusive mode');
  const adding = queues.addMany('wanted', [{ id: '1' }]);
  let waits = false;
  while (!waits) waits = ((await looking.query(waitsForLock)).rowCount ?? 0) > 0;
  await other.query(takeItsLock);
  assert.equal(await queues.ready(), true);
  await other.query('commit');
  await adding;
  assert.equal((await queues.depths()).bank, 1);
  await queues.work([job]);
  await until('it runs', () => runs.length === 1);
  assert.deepEqual(answered(), []);
  // PostgreSQL counts with some delay.
  const counted =
    'select 1 from pg_stat_database where datname = current_database() and deadlocks > 0';
  let deadlocked = false;
  while (!deadlocked) deadlocked = ((await looking.query(counted)).rowCount ?? 0) > 0;
});
