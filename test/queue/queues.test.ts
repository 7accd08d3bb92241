/**
 * Invariant 1: jobs wake workers and are run at least once; what a run answers decides what becomes
 * of it. The same on both stores.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { object, string } from 'valibot';
import {
  openQueues,
  type Queues,
  type QueuesOptions,
} from '../../subgraphs/platform/queue/queues.ts';
import {
  done,
  giveUp,
  type Job,
  jobWithPayload,
  retryIn,
} from '../../subgraphs/platform/queue/run-job.ts';
import { jobRuns } from '../../subgraphs/platform/tracing/telemetry.ts';
import { eventually } from '../support/eventually.ts';
import { recorded } from './recorded-job.ts';
import { openTestLog, storeKinds, type Stores } from './stores.ts';

for (const kind of storeKinds) {
  describe(`queues on ${kind.name}`, { skip: kind.skip, concurrency: 4 }, () => {
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

    test('a job that is done is run once, with the payload that was added', async (t) => {
      const { job, runs } = recorded('once');
      const queues = await open(t, [job]);
      await queues.work([job]);
      for (const payment of ['p1', 'p2']) {
        await queues.add('once', { payment });
        await eventually(
          () => runs.some((run) => isDeepStrictEqual(run.payload, { payment })),
          payment,
        );
      }
      assert.deepEqual(
        runs.map(({ payload }) => payload),
        [{ payment: 'p1' }, { payment: 'p2' }],
      );
    });

    test('a job added with a delay is not run before it', async (t) => {
      const { job, runs } = recorded('later');
      const queues = await open(t, [job]);
      await queues.work([job]);
      const added = Date.now();
      await queues.add('later', {}, { delay_ms: 800 });
      await eventually(() => runs.length > 0, 'it ran');
      assert.ok((runs[0]?.at ?? 0) - added >= 790, 'too early');
    });

    test('a job that answers retry is run again after the time that it asked for', async (t) => {
      const { job, runs } = recorded('again', (run) => (run < 3 ? retryIn(400) : done));
      const queues = await open(t, [job]);
      await queues.work([job]);
      await queues.add('again', { payment: 'p1' });
      await eventually(() => runs.length === 3, 'it ran three times');
      const [first, second, third] = runs.map(({ at }) => at);
      assert.ok(
        first && second && third && second - first >= 390 && third - second >= 390,
        'too early',
      );
      assert.deepEqual(runs[2]?.payload, { payment: 'p1' });
    });

    test('a job that throws is run again, after a longer time each time', async (t) => {
      const { job, runs } = recorded('throws', (run) =>
        run < 3 ? Promise.reject(new Error('no')) : done,
      );
      const queues = await open(t, [job]);
      await queues.work([job]);
      await queues.add('throws', {});
      await eventually(() => runs.length === 3, 'it ran three times');
      const [first, second, third] = runs.map(({ at }) => at);
      assert.ok(
        first && second && third && second - first >= 490 && third - second >= 990,
        `ran at ${runs.map(({ at }) => at - (first ?? 0)).join(', ')} ms`,
      );
    });

    test('a job that gives up, or whose payload cannot be read, is not run again and leaves nothing behind', async (t) => {
      const hopeless = recorded('hopeless', () => giveUp('the merchant is gone'));
      const strict = recorded('strict');
      const unreadable = jobWithPayload({
        ...strict.job,
        payload: object({ paymentId: string() }),
      });
      // What is to be run again after a throw is, the second time, in more than a second.
      const thrown = recorded('thrown', (run) =>
        run < 3 ? Promise.reject(new Error('no')) : done,
      );
      const jobs = [hopeless.job, unreadable, thrown.job];
      const { log, answered } = openTestLog();
      const queues = await open(t, jobs, { log });
      await queues.work(jobs);
      await queues.add('hopeless', {});
      await queues.add('strict', {});
      await eventually(
        () =>
          answered().filter((line) => line === 'job abandoned after its last attempt').length === 2,
        'both were given up',
      );
      await queues.add('thrown', {});
      await eventually(() => thrown.runs.length === 3, 'another job ran again twice');
      assert.equal(hopeless.runs.length, 1);
      const counted = (await jobRuns.get()).values.filter(
        ({ labels }) => labels.job === 'hopeless' || labels.job === 'strict',
      );
      assert.ok(
        counted.length === 2 && counted.every(({ labels }) => labels.outcome === 'give_up'),
      );
      assert.equal(strict.runs.length, 0);
    });

    test('a process that works no jobs can add them, and an unknown job is a mistake', async (t) => {
      const { job, runs } = recorded('elsewhere');
      const urls = await stores.fresh();
      const adding = await open(t, [job], urls);
      await adding.add('elsewhere', { n: '1' });
      assert.deepEqual(await adding.depths(), { bank: 1, schedules: 0 });
      await assert.rejects(adding.add('nobody', {}), /no job is called nobody/);
      const working = await open(t, [job], urls);
      await working.work([job]);
      await eventually(() => runs.length === 1, 'it ran');
    });

    test('a batch is worked whole, and adding it again while it waits adds nothing', async (t) => {
      const { job, runs } = recorded('many', undefined, { queue: 'bank' });
      const queues = await open(t, [job]);
      const payloads = Array.from({ length: 1_500 }, (_, n) => ({ delivery: `d${n}` }));
      await queues.addMany('many', payloads);
      await queues.addMany('many', payloads);
      await queues.addMany('many', payloads.slice(0, 3));
      assert.equal((await queues.depths()).bank, 1_500);
      await queues.work([job]);
      await eventually(() => runs.length >= 1_500, 'all ran');
      await queues.addMany('many', payloads.slice(0, 1));
      await eventually(() => runs.length > 1_500, 'a finished one can be added again');
      const counts = Map.groupBy(runs, ({ payload }) => JSON.stringify(payload));
      assert.equal(counts.size, 1_500);
      assert.equal(counts.get(JSON.stringify(payloads[0]))?.length, 2);
      assert.equal(runs.length, 1_501);
    });

    test('wakes that come while their job runs make it run once more, not beside itself', async (t) => {
      const woken = Promise.withResolvers<void>();
      const { job, runs } = recorded('lane', () => woken.promise.then(() => done));
      const queues = await open(t, [job]);
      await queues.work([job]);
      const runsOf = (lane: string): number =>
        runs.filter((run) => isDeepStrictEqual(run.payload, { lane })).length;
      /** What was added before it has begun when it does. */
      const addLast = async (lane: string): Promise<void> => {
        await queues.addMany('lane', [{ lane }]);
        await eventually(() => runsOf(lane) === 1, lane);
      };
      await addLast('l1');
      for (let wakes = 0; wakes < 3; wakes += 1) await queues.addMany('lane', [{ lane: 'l1' }]);
      await addLast('l2');
      assert.equal(runsOf('l1'), 1);
      woken.resolve();
      await eventually(() => runsOf('l1') === 2, 'it runs again');
      for (const lane of ['l3', 'l4']) await addLast(lane);
      assert.equal(runsOf('l1'), 2);
    });

    test('a schedule has each of its turns once, though two workers start it at the same time', async (t) => {
      const { job, runs } = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
      const urls = await stores.fresh();
      const both = await Promise.all([open(t, [job], urls), open(t, [job], urls)]);
      const began = performance.now();
      await Promise.all(both.map((queues) => queues.work([job])));
      await eventually(() => runs.length >= 6, 'six turns');
      // The first turn comes at once, then one every half second: two workers that had a schedule
      // each would run twice as many. A slow machine runs fewer.
      const due = Math.ceil((performance.now() - began) / 500) + 2;
      assert.ok(runs.length <= due, `${runs.length} turns where ${due} were due`);
      assert.ok(runs.every(({ payload }) => payload === null));
    });

    test('a turn that outlasts its interval is not run beside itself, and a retry beyond the next turn is left to it', async (t) => {
      let running = 0;
      let most = 0;
      const { job, runs } = recorded(
        'slow',
        async () => {
          most = Math.max(most, ++running);
          await delay(1_050);
          running -= 1;
          return retryIn(1_000);
        },
        { queue: 'schedules', every_ms: 300 },
      );
      const queues = await open(t, [job]);
      await queues.work([job]);
      await eventually(() => runs.length >= 3, 'three runs');
      assert.equal(most, 1);
    });
  });
}
