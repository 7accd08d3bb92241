/** How a clock advances, with participants whose work can be timed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  clockJobs,
  keepClockJob,
  type ClockParticipant,
} from '../../subgraphs/platform/clock/keep-clocks.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

test('what comes out of the way between a look and the next is done at its own moment, not at the end of the advance', async () => {
  const { pool } = migrated.database;
  const { merchantId, shopId } = await migrated.merchant();
  const noon = Temporal.Instant.from('2027-03-01T12:00:00Z');
  const evening = noon.add({ hours: 8 });
  await pool.query(
    'insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, target_at, created_at) values ($1, $2, $3, now(), true, $4, now())',
    [merchantId, shopId, noon.toString(), evening.toString()],
  );
  // Something is under way until the participant has been asked for work once: then it is there,
  // and due at once.
  let state: 'under way' | 'due' | 'done' = 'under way';
  const doneAt: string[] = [];
  const participant: ClockParticipant = {
    due: [],
    next: async () => null,
    isUnderWay: async () => state === 'under way',
    work: async (_, now) => {
      if (state === 'under way') {
        state = 'due';
        return 0;
      }
      if (state === 'done') return 0;
      state = 'done';
      doneAt.push(now.toString());
      return 1;
    },
  };
  const stopping = new AbortController().signal;
  const jobs = clockJobs({
    pool,
    sessions: pool,
    now: () => Temporal.Now.instant(),
    participants: [participant],
    wake: async () => {},
    stopping,
  });
  const job = jobs.find(({ name }) => name === keepClockJob) ?? assert.fail();
  assert.deepEqual(await job.run({ merchantId, shopId }), { outcome: 'done' });
  assert.deepEqual(doneAt, [noon.toString()]);
  const { rows } = await pool.query(
    'select clock_at, target_at from test_clock where shop_id = $1',
    [shopId],
  );
  assert.deepEqual(
    [new Date(rows[0].clock_at).toISOString(), rows[0].target_at],
    ['2027-03-01T20:00:00.000Z', null],
  );
});
