/**
 * Invariant 1: work continues when a process ends, is killed, or loses its queues. The same on both
 * stores.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test, type TestContext } from 'node:test';
import {
  openQueues,
  type Queues,
  type QueuesOptions,
} from '../../subgraphs/platform/queue/queues.ts';
import { done, type Job, type JobOutcome } from '../../subgraphs/platform/queue/run-job.ts';
import { Redis } from 'ioredis';
import { startTestDatabase } from '../support/database.ts';
import { eventually, patience_ms } from '../support/eventually.ts';
import { recorded } from './recorded-job.ts';
import { endsBefore } from '../support/ends-before.ts';
import { noRedis, startRedis } from '../support/redis.ts';
import { assertOutages, openTestLog, mortalStoreKinds, storeKinds, type Stores } from './stores.ts';

for (const kind of storeKinds) {
  describe(`work on ${kind.name}`, { skip: kind.skip, concurrency: 4 }, () => {
    let stores: Stores;
    before(async () => {
      stores = await kind.open();
    });
    after(() => stores.stop());

    /** Queues on `urls`, or on an empty store; closed after the test. */
    const open = async (
      t: TestContext,
      jobs: readonly Job[],
      options: Partial<QueuesOptions> = {},
    ): Promise<Queues> => {
      const urls = options.databaseUrl === undefined ? await stores.fresh() : {};
      const queues = await openQueues({
        databaseUrl: '',
        redisUrl: null,
        log: openTestLog().log,
        jobs,
        ...urls,
        ...options,
      });
      t.after(() => queues.close());
      return queues;
    };

    test('close waits for the job that runs and takes no new one', async (t) => {
      const end = Promise.withResolvers<JobOutcome>();
      const { job, runs } = recorded('long', () => end.promise);
      const urls = await stores.fresh();
      const { log, answered } = openTestLog();
      const drain_ms = patience_ms;
      const queues = await open(t, [job], { ...urls, log, drain_ms, concurrency: { bank: 1 } });
      await queues.work([job]);
      await queues.add('long', { n: '1' });
      await eventually(() => runs.length === 1, 'it runs');
      await queues.add('long', { n: '2' });
      let isClosed = false;
      const closing = queues.close().then(() => (isClosed = true));
      const next = await open(t, [job], urls);
      assert.equal((await next.depths()).bank, 1);
      assert.equal(isClosed, false);
      end.resolve(done);
      await closing;
      assert.equal(runs.length, 1);
      assert.deepEqual(answered(), []);
      assert.equal((await next.depths()).bank, 1);
    });

    test('close gives up waiting at its deadline, and another process takes the job over', async (t) => {
      const stuck = recorded('stuck', () => new Promise(() => {}));
      const urls = await stores.fresh();
      const { log, answered } = openTestLog();
      const queues = await open(t, [stuck.job], { ...urls, log, lock_ms: 1_000, drain_ms: 300 });
      await queues.work([stuck.job]);
      await queues.add('stuck', {});
      await eventually(() => stuck.runs.length === 1, 'it runs');
      assert.ok(
        await endsBefore(patience_ms, queues.close()),
        'it waits for a job that never ends',
      );
      assert.deepEqual(answered(), [
        'jobs are still running at the end of the drain; other processes will take over',
      ]);
      const other = recorded('stuck');
      const next = await open(t, [other.job], { ...urls, lock_ms: 1_000 });
      await next.work([other.job]);
      await eventually(() => other.runs.length === 1, 'the other ran it');
    });

    test('a process that closes its queues ends by itself, and has nothing to say', async (t) => {
      const urls = await stores.fresh();
      const child = fork(
        new URL('./worker-process.ts', import.meta.url),
        [urls.databaseUrl, urls.redisUrl ?? '-'],
        { silent: true },
      );
      t.after(() => child.kill('SIGKILL'));
      let answered = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (text: Buffer) => (answered += text.toString()));
      await once(child, 'message');
      child.disconnect();
      const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(patience_ms) });
      assert.deepEqual({ code, answered }, { code: 0, answered: '' });
    });

    test('a job survives kill -9 of the process that runs it', async (t) => {
      const { job, runs } = recorded('survive');
      const urls = await stores.fresh();
      const queues = await open(t, [job], { ...urls, lock_ms: 1_000 });
      const child = fork(new URL('./worker-process.ts', import.meta.url), [
        urls.databaseUrl,
        urls.redisUrl ?? '-',
      ]);
      t.after(() => child.kill('SIGKILL'));
      await once(child, 'message');
      await queues.add('survive', { payment: 'p1' });
      const [payload] = await once(child, 'message');
      assert.deepEqual(payload, { payment: 'p1' });
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await queues.work([job]);
      await eventually(() => runs.length === 1, 'this process ran it');
      assert.deepEqual(runs[0]?.payload, { payment: 'p1' });
    });
  });
}

// Each waits for its server most of the time.
describe('queues whose server was killed', { concurrency: 4 }, () => {
  for (const kind of mortalStoreKinds) {
    test(
      `queues on ${kind.name} go on by themselves after their server was killed, and say so once`,
      { skip: kind.skip },
      async (t) => {
        const store = await kind.open();
        const { log, answered } = openTestLog();
        const wake = recorded('wake');
        const tick = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
        const busyEnd = Promise.withResolvers<JobOutcome>();
        const busy = recorded('busy', () => busyEnd.promise);
        const jobs = [wake.job, tick.job, busy.job];
        const queues = await openQueues({ ...store, log, jobs });
        t.after(() => queues.close().finally(() => store.stop()));
        await queues.work(jobs);
        await queues.add('wake', {});
        await queues.add('busy', {});
        await eventually(
          () => wake.runs.length === 1 && busy.runs.length === 1 && tick.runs.length >= 2,
          'all work',
        );
        assert.equal(await queues.ready(), true);
        await store.kill();
        await eventually(async () => !(await queues.ready()), 'it is away');
        // Dropped, not refused: what it would have waked for is in PostgreSQL, and a sweep finds
        // it.
        await queues.add('wake', {});
        await eventually(() => answered().length > 0, 'the log says that it is lost');
        busyEnd.resolve(done);
        await store.revive();
        await eventually(() => queues.ready(), 'it is back');
        const ticks = tick.runs.length;
        await eventually(() => tick.runs.length >= ticks + 3, 'schedules go on');
        const woken = wake.runs.length;
        await queues.add('wake', {});
        await eventually(() => wake.runs.length > woken, 'jobs go on');
        // The runs that Redis forgot in the middle cannot be marked, which may be said at the end.
        const others = () =>
          answered().filter(
            (line) => line !== 'the end of a run was not stored; the job may run again',
          );
        await eventually(() => others().at(-1) === 'the queue store is back', 'the log says so');
        assertOutages(others(), 'queue store');
      },
    );
  }

  test(
    'schedules that Redis has lost before anybody missed it go on within seconds',
    { skip: noRedis },
    async (t) => {
      const server = await startRedis();
      const tick = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
      const queues = await openQueues({
        databaseUrl: '',
        redisUrl: server.url,
        log: openTestLog().log,
        jobs: [tick.job],
      });
      t.after(() => queues.close().finally(() => server.stop()));
      await queues.work([tick.job]);
      await eventually(() => tick.runs.length > 1, 'it is run');
      const client = new Redis(server.url);
      await client.flushall();
      client.disconnect();
      const ticks = tick.runs.length;
      await eventually(() => tick.runs.length > ticks + 2, 'it is run again');
    },
  );
});

test('queues on a database that was not migrated do not open', async (t) => {
  const database = await startTestDatabase();
  t.after(() => database.stop());
  await assert.rejects(
    openQueues({ databaseUrl: database.url, redisUrl: null, log: openTestLog().log, jobs: [] }),
    /not initialized/,
  );
});
