/**
 * Invariant 1: jobs wake workers and are run at least once; what a run answers decides what becomes
 * of it. The same on both stores.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test, type TestContext } from 'node:test';
import { object, string } from 'valibot';
import {
  openQueues,
  type Queues,
  type QueuesOptions,
} from '../../subgraphs/kernel/queue/queues.ts';
import {
  done,
  giveUp,
  type Job,
  jobWithPayload,
  retryIn,
} from '../../subgraphs/kernel/queue/run-job.ts';
import { jobRuns } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { recorded } from './recorded-job.ts';
import { openTestLog, storeKinds, type Stores, until } from './stores.ts';

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
      await queues.add('once', { payment: 'p1' });
      await until('it ran', () => runs.length > 0);
      await delay(500);
      assert.deepEqual(
        runs.map(({ payload }) => payload),
        [{ payment: 'p1' }],
      );
    });

    test('a job added with a delay is not run before it', async (t) => {
      const { job, runs } = recorded('later');
      const queues = await open(t, [job]);
      await queues.work([job]);
      const added = Date.now();
      await queues.add('later', {}, { delay_ms: 800 });
      await until('it ran', () => runs.length > 0);
      assert.ok((runs[0]?.at ?? 0) - added >= 790, 'too early');
    });

    test('a job that answers retry is run again after the time that it asked for', async (t) => {
      const { job, runs } = recorded('again', (run) => (run < 3 ? retryIn(400) : done));
      const queues = await open(t, [job]);
      await queues.work([job]);
      await queues.add('again', { payment: 'p1' });
      await until('it ran three times', () => runs.length === 3);
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
      await until('it ran three times', () => runs.length === 3);
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
      const { log, answered } = openTestLog();
      const queues = await open(t, [hopeless.job, unreadable], { log });
      await queues.work([hopeless.job, unreadable]);
      await queues.add('hopeless', {});
      await queues.add('strict', {});
      await until(
        'both were given up',
        () => answered().filter((line) => line === 'a job was given up').length === 2,
      );
      await delay(1_500);
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
      assert.deepEqual(await adding.depths(), { webhooks: 0, bank: 1, schedules: 0 });
      await assert.rejects(adding.add('nobody', {}), /no job is called nobody/);
      const working = await open(t, [job], urls);
      await working.work([job]);
      await until('it ran', () => runs.length === 1);
    });

    test('a batch is worked whole, and adding it again while it waits adds nothing', async (t) => {
      const { job, runs } = recorded('many', undefined, { queue: 'webhooks' });
      const queues = await open(t, [job]);
      const payloads = Array.from({ length: 1_500 }, (_, n) => ({ delivery: `d${n}` }));
      await queues.addMany('many', payloads);
      await queues.addMany('many', payloads);
      await queues.addMany('many', payloads.slice(0, 3));
      assert.equal((await queues.depths()).webhooks, 1_500);
      await queues.work([job]);
      await until('all ran', () => runs.length >= 1_500, 60_000);
      await delay(300);
      assert.equal(new Set(runs.map(({ payload }) => JSON.stringify(payload))).size, 1_500);
      assert.equal(runs.length, 1_500);
      await queues.addMany('many', payloads.slice(0, 1));
      await until('a finished one can be added again', () => runs.length === 1_501);
    });

    test('wakes that come while their job runs make it run once more, not beside itself', async (t) => {
      let running = 0;
      const woken = Promise.withResolvers<void>();
      const { job, runs } = recorded('lane', async () => {
        assert.equal(++running, 1);
        await woken.promise;
        running -= 1;
        return done;
      });
      const queues = await open(t, [job]);
      await queues.work([job]);
      await queues.addMany('lane', [{ lane: 'l1' }]);
      await until('it runs', () => runs.length === 1);
      for (let wakes = 0; wakes < 3; wakes += 1) await queues.addMany('lane', [{ lane: 'l1' }]);
      // Long enough for a second run beside the first.
      await delay(1_500);
      woken.resolve();
      await until('it runs again', () => runs.length === 2);
      await delay(2_000);
      assert.equal(runs.length, 2);
    });

    test('a schedule has each of its turns once, though two workers start it at the same time', async (t) => {
      const { job, runs } = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
      const urls = await stores.fresh();
      const both = await Promise.all([open(t, [job], urls), open(t, [job], urls)]);
      await Promise.all(both.map((queues) => queues.work([job])));
      const began = performance.now();
      await until('six turns', () => runs.length >= 6);
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
      await until('three runs', () => runs.length >= 3);
      assert.equal(most, 1);
    });
  });
}
