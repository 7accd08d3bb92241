/** Invariant 1: jobs wake workers and are run at least once; what a run answers decides what becomes of it. The same on both stores. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test, type TestContext } from 'node:test';
import { openQueues, type Queues, type QueuesOptions } from '../../subgraphs/kernel/queue/queues.ts';
import { done, giveUp, retryIn, type Job, type JobOutcome, type QueueName } from '../../subgraphs/kernel/queue/run-job.ts';
import { openTestLog, storeKinds, type Stores, until } from './stores.ts';

interface Run {
  readonly at: number;
  readonly payload: unknown;
}

/** A job that records its runs and answers what `answer` says of the run's number, from 1. */
const recorded = (
  name: string,
  answer: (run: number) => JobOutcome | Promise<JobOutcome> = () => done,
  options: { readonly queue?: QueueName; readonly every_ms?: number } = {},
): { readonly job: Job; readonly runs: Run[] } => {
  const runs: Run[] = [];
  const run = async (payload: unknown): Promise<JobOutcome> => {
    runs.push({ at: Date.now(), payload });
    return answer(runs.length);
  };
  return { job: { name, queue: options.queue ?? 'bank', ...(options.every_ms ? { every_ms: options.every_ms } : {}), parse: (payload) => payload, run }, runs };
};

for (const kind of storeKinds) {
  describe(`queues on ${kind.name}`, { skip: kind.skip }, () => {
    let stores: Stores;
    before(async () => {
      stores = await kind.open();
    });
    after(() => stores.stop());

    /** Queues on `urls`, or on an empty store; closed after the test. */
    const open = async (t: TestContext, jobs: readonly Job[], options: Partial<QueuesOptions> = {}): Promise<Queues> => {
      const urls = options.databaseUrl === undefined ? await stores.fresh() : {};
      const queues = await openQueues({ databaseUrl: '', redisUrl: null, log: openTestLog().log, jobs, ...urls, ...options });
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
      assert.ok(first && second && third && second - first >= 390 && third - second >= 390, 'too early');
      assert.deepEqual(runs[2]?.payload, { payment: 'p1' });
    });

    test('a job that throws is run again, after a longer time each time', async (t) => {
      const { job, runs } = recorded('throws', (run) => (run < 3 ? Promise.reject(new Error('no')) : done));
      const queues = await open(t, [job]);
      await queues.work([job]);
      await queues.add('throws', {});
      await until('it ran three times', () => runs.length === 3);
      const [first, second, third] = runs.map(({ at }) => at);
      assert.ok(first && second && third && second - first >= 490 && third - second >= 990, `ran at ${runs.map(({ at }) => at - (first ?? 0)).join(', ')} ms`);
    });

    test('a job that gives up, or whose payload cannot be read, is not run again and leaves nothing behind', async (t) => {
      const hopeless = recorded('hopeless', () => giveUp('the merchant is gone'));
      const strict = recorded('strict');
      const unreadable: Job = {
        ...strict.job,
        parse: () => {
          throw new Error('not a payload');
        },
      };
      const { log, said } = openTestLog();
      const queues = await open(t, [hopeless.job, unreadable], { log });
      await queues.work([hopeless.job, unreadable]);
      await queues.add('hopeless', {});
      await queues.add('strict', {});
      await until('both were given up', () => said().filter((line) => line === 'a job was given up').length === 2);
      await delay(1_500);
      assert.equal(hopeless.runs.length, 1);
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
      const { job, runs } = recorded('lane', async () => {
        assert.equal(++running, 1);
        await delay(500);
        running -= 1;
        return done;
      });
      const queues = await open(t, [job]);
      await queues.work([job]);
      await queues.addMany('lane', [{ lane: 'l1' }]);
      await until('it runs', () => runs.length === 1);
      for (let wakes = 0; wakes < 3; wakes += 1) await queues.addMany('lane', [{ lane: 'l1' }]);
      await delay(2_000);
      assert.equal(runs.length, 2);
    });

    test('a schedule has each of its turns once, though two workers start it at the same time', async (t) => {
      const { job, runs } = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
      const urls = await stores.fresh();
      const both = await Promise.all([open(t, [job], urls), open(t, [job], urls)]);
      await Promise.all(both.map((queues) => queues.work([job])));
      await delay(4_000);
      // The first turn comes at once, then one every half second: two workers that had a schedule each would run twice as many.
      assert.ok(runs.length >= 6 && runs.length <= 9, `${runs.length} turns in 4 s`);
      const gaps = runs.slice(1).map(({ at }, turn) => at - (runs[turn]?.at ?? 0));
      assert.ok(
        gaps.slice(1).every((gap) => gap > 150 && gap < 850),
        `gaps of ${gaps.join(', ')} ms`,
      );
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
      await delay(4_000);
      assert.equal(most, 1);
      assert.ok(runs.length >= 3 && runs.length <= 4, `${runs.length} runs in 4 s`);
    });

    test('close waits for the job that runs and takes no new one', async (t) => {
      let finished = false;
      const { job, runs } = recorded('long', async () => {
        await delay(1_200);
        finished = true;
        return done;
      });
      const urls = await stores.fresh();
      const { log, said } = openTestLog();
      const queues = await open(t, [job], { ...urls, log, concurrency: { bank: 1 } });
      await queues.work([job]);
      await queues.add('long', { n: '1' });
      await until('it runs', () => runs.length === 1);
      await queues.add('long', { n: '2' });
      await queues.close();
      assert.equal(finished, true);
      await delay(300);
      assert.equal(runs.length, 1);
      assert.deepEqual(said(), []);
      const next = await open(t, [job], urls);
      assert.equal((await next.depths()).bank, 1);
    });

    test('close gives up waiting at its deadline, and another process takes the job over', async (t) => {
      const stuck = recorded('stuck', () => new Promise(() => {}));
      const urls = await stores.fresh();
      const { log, said } = openTestLog();
      const queues = await open(t, [stuck.job], { ...urls, log, lock_ms: 1_000, drain_ms: 300 });
      await queues.work([stuck.job]);
      await queues.add('stuck', {});
      await until('it runs', () => stuck.runs.length === 1);
      const began = Date.now();
      await queues.close();
      assert.ok(Date.now() - began < 3_500, `closing took ${Date.now() - began} ms`);
      assert.deepEqual(said(), []);
      const other = recorded('stuck');
      const next = await open(t, [other.job], { ...urls, lock_ms: 1_000 });
      await next.work([other.job]);
      await until('the other ran it', () => other.runs.length === 1);
    });

    test('a job survives kill -9 of the process that runs it', async (t) => {
      const { job, runs } = recorded('survive');
      const urls = await stores.fresh();
      const queues = await open(t, [job], { ...urls, lock_ms: 1_000 });
      const child = fork(new URL('./worker-process.ts', import.meta.url), [urls.databaseUrl, urls.redisUrl ?? '-']);
      t.after(() => child.kill('SIGKILL'));
      await queues.add('survive', { payment: 'p1' });
      const [payload] = await once(child, 'message');
      assert.deepEqual(payload, { payment: 'p1' });
      child.kill('SIGKILL');
      await once(child, 'exit');
      await queues.work([job]);
      await until('this process ran it', () => runs.length === 1);
      assert.deepEqual(runs[0]?.payload, { payment: 'p1' });
    });
  });

  test(`queues on ${kind.name} go on by themselves after their server was killed, and say so once`, { skip: kind.skip }, async (t) => {
    const store = await kind.openMortal();
    const { log, said } = openTestLog();
    const wake = recorded('wake');
    const tick = recorded('tick', undefined, { queue: 'schedules', every_ms: 500 });
    const busy = recorded('busy', () => delay(2_500, done));
    const jobs = [wake.job, tick.job, busy.job];
    const queues = await openQueues({ ...store, log, jobs });
    t.after(() => queues.close().finally(() => store.stop()));
    await queues.work(jobs);
    await queues.add('wake', {});
    await queues.add('busy', {});
    await until('all work', () => wake.runs.length === 1 && busy.runs.length === 1 && tick.runs.length >= 2);
    assert.equal(await queues.ready(), true);
    await store.kill();
    await until('it is away', async () => !(await queues.ready()));
    // Dropped, not refused: what it would have waked for is in PostgreSQL, and a sweep finds it.
    await queues.add('wake', {});
    await delay(2_000);
    await store.revive();
    await until('it is back', () => queues.ready());
    const ticks = tick.runs.length;
    await until('schedules go on', () => tick.runs.length >= ticks + 3, 40_000);
    const woken = wake.runs.length;
    await queues.add('wake', {});
    await until('jobs go on', () => wake.runs.length > woken);
    // The runs that Redis forgot in the middle cannot be marked.
    const others = said().filter((line) => line !== 'the end of a run could not be marked; the job may run again');
    assert.deepEqual(others, ['the queue store is lost; trying until it is back', 'the queue store is back']);
  });
}
