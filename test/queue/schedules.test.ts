/** A schedule whose next turn was lost, as in a race within BullMQ, gets another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrateQueues } from '../../subgraphs/platform/queue/queue-stores.ts';
import { openQueues } from '../../subgraphs/platform/queue/queues.ts';
import { openPool, startTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { recorded } from './recorded-job.ts';
import { openTestLog } from './stores.ts';

test('a schedule without a next turn is put back, and one that has it is left alone', async (t) => {
  const database = await startTestDatabase();
  await migrateQueues(database.url);
  const { job, runs } = recorded('tick', undefined, { queue: 'schedules', every_ms: 600_000 });
  const work = async () => {
    const options = { databaseUrl: database.url, redisUrl: null, log: openTestLog().log };
    const queues = await openQueues({ ...options, jobs: [job] });
    await queues.work([job]);
    return queues;
  };
  const pool = openPool(database.url, 1);
  const turns = async (): Promise<readonly { readonly id: string; readonly made: string }[]> =>
    (
      await pool.query(
        `select id, seq::text as made from bullmq.job where scheduler_id = 'tick' and state = 'delayed'`,
      )
    ).rows;
  const opened = [await work()];
  t.after(async () => {
    await Promise.all(opened.map((queues) => queues.close()));
    await pool.end();
    await database.stop();
  });
  await eventually(async () => runs.length === 1 && (await turns()).length === 1, 'a next turn');
  const first = await turns();
  opened.push(await work());
  assert.deepEqual(await turns(), first);

  await pool.query('delete from bullmq.job');
  await pool.query('update bullmq.scheduler set next_run_ms = next_run_ms - 600000');
  await eventually(async () => (await turns()).length === 1, 'another next turn');
});
