/** A schedule whose next turn was lost, as in a race within BullMQ, is put back by the next look. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from 'bullmq';
import { openPostgresBackend } from '../../subgraphs/kernel/queue/backend-postgres.ts';
import { watchOutage } from '../../subgraphs/kernel/queue/outage.ts';
import { migrateQueues } from '../../subgraphs/kernel/queue/queues.ts';
import { keepSchedules } from '../../subgraphs/kernel/queue/schedules.ts';
import { openPool, startTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { recorded } from './recorded-job.ts';
import { openTestLog } from './stores.ts';

test('a schedule without a next turn is put back, and one that has it is left alone', async (t) => {
  const database = await startTestDatabase();
  await migrateQueues(database.url);
  const backend = await openPostgresBackend(
    database.url,
    watchOutage('queue store', openTestLog().log),
  );
  const open = (name: string) => new Queue(name, { connection: {} }, backend.factory);
  const queues = { webhooks: open('webhooks'), bank: open('bank'), schedules: open('schedules') };
  const pool = openPool(database.url, 1);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { job } = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
  const schedules = keepSchedules(queues, [job]);
  t.after(async () => {
    schedules.close();
    await Promise.all(Object.values(queues).map((queue) => queue.close()));
    await Promise.all([backend.close(), pool.end()]);
    await database.stop();
  });
  const turns = async (): Promise<readonly { readonly id: string; readonly made: string }[]> =>
    (await pool.query(`select id, seq::text as made from bullmq.job where scheduler_id = 'tick'`))
      .rows;
  await schedules.renew();
  const first = await turns();
  assert.equal(first.length, 1);
  await schedules.renew();
  assert.deepEqual(await turns(), first);

  await pool.query('delete from bullmq.job');
  await pool.query('update bullmq.scheduler set next_run_ms = next_run_ms - 60000');
  // One look; the renewal of each minute does not come.
  t.mock.timers.tick(2_000);
  await eventually(async () => (await turns()).length === 1, 'a next turn');
});
