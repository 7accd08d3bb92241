/**
 * A deadlock in a statement of BullMQ's own, made with a real one: the statement is sent again, and
 * nobody says that the store is lost.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { migrateQueues, openQueues } from '../../subgraphs/kernel/queue/queues.ts';
import { startTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { recorded } from './recorded-job.ts';
import { openTestLog } from './stores.ts';

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
  const finds = async (text: string): Promise<boolean> =>
    (await looking.query(text)).rows.length > 0;
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
  await eventually(() => finds(waitsForLock), 'a wait for the lock');
  await other.query(takeItsLock);
  assert.equal(await queues.ready(), true);
  await other.query('commit');
  await adding;
  assert.equal((await queues.depths()).bank, 1);
  await queues.work([job]);
  await eventually(() => runs.length === 1, 'it runs');
  assert.deepEqual(answered(), []);
  // PostgreSQL counts with some delay.
  const counted =
    'select 1 from pg_stat_database where datname = current_database() and deadlocks > 0';
  await eventually(() => finds(counted), 'a deadlock that was counted');
});
