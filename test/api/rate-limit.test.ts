import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { openBucketsInMemory } from '../../gateway/callers/buckets-in-memory.ts';
import { openBucketsInRedis } from '../../gateway/callers/buckets-in-redis.ts';
import { metrics, openLog, type Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { endsBefore } from '../support/ends-before.ts';
import { noRedis, startRedis } from '../support/redis.ts';

const log = openLog({ logLevel: 'silent' }, 'test');

describe('a token bucket in memory', () => {
  const limit = { perSecond: 50, burst: 100 };
  const open = () => {
    const clock = { us: 1_000_000 };
    const buckets = openBucketsInMemory(() => clock.us);
    const take = async (name = 'a', of = limit) =>
      (await buckets.take(name, of)) ?? assert.fail('memory is always there');
    return { clock, take };
  };

  test('grants its burst at once, one more after each 20 ms, and says what is left', async () => {
    const { clock, take } = open();
    assert.deepEqual(await take(), { granted: true, remaining: 99, reset_s: 1, retryAfter_s: 0 });
    for (let taken = 1; taken < 100; taken += 1) assert((await take()).granted);
    assert.deepEqual(await take(), { granted: false, remaining: 0, reset_s: 2, retryAfter_s: 1 });
    clock.us += 19_999;
    assert.equal((await take()).granted, false);
    clock.us += 1;
    assert.deepEqual(await take(), { granted: true, remaining: 0, reset_s: 2, retryAfter_s: 0 });
    assert.equal((await take()).granted, false);
  });

  test('never holds more than its burst, however long nobody took', async () => {
    const { clock, take } = open();
    clock.us += 3_600_000_000;
    let granted = 0;
    for (let asked = 0; asked < 150; asked += 1) granted += (await take()).granted ? 1 : 0;
    assert.equal(granted, 100);
  });

  test('is one of its own for each name', async () => {
    const { take } = open();
    const small = { perSecond: 1, burst: 1 };
    assert((await take('a', small)).granted);
    assert.equal((await take('a', small)).granted, false);
    assert((await take('b', small)).granted);
  });

  test('whose limit is raised is not held back by what was owed under the old one', async () => {
    const { clock, take } = open();
    const slow = { perSecond: 1, burst: 100 };
    for (let taken = 0; taken < 100; taken += 1) await take('a', slow);
    assert.equal((await take('a', limit)).granted, false);
    clock.us += 20_000;
    assert((await take('a', limit)).granted);
  });

  test('tells a slow caller the seconds to the next token', async () => {
    const { take } = open();
    const slow = { perSecond: 1, burst: 3 };
    for (let taken = 0; taken < 3; taken += 1) await take('a', slow);
    assert.deepEqual(await take('a', slow), {
      granted: false,
      remaining: 0,
      reset_s: 3,
      retryAfter_s: 1,
    });
  });
});

const missed = async (): Promise<number> => {
  const { values } = (await metrics.getSingleMetric('rate_limiter_unavailable_total')?.get()) ?? {
    values: [],
  };
  return values[0]?.value ?? 0;
};

/** A logger that keeps its lines. */
const listening = (): { readonly log: Logger; readonly answered: string[] } => {
  const answered: string[] = [];
  const keep = (_fields: object, message: string): void => void answered.push(message);
  return {
    log: Object.assign(openLog({ logLevel: 'silent' }, 'test'), { error: keep, info: keep }),
    answered,
  };
};

const until = async (what: () => Promise<boolean>): Promise<void> => {
  for (let looks = 0; looks < 600; looks += 1) {
    if (await what()) return;
    await sleep(50);
  }
  assert.fail('it did not come to that within 30 s');
};

describe('a token bucket in Redis', { skip: noRedis }, () => {
  /** Long enough for a machine that is busy with other tests. */
  const patient_ms = 10_000;

  test('is one for all processes, and exact when they ask at the same time', async (t) => {
    const redis = await startRedis();
    const processes = await Promise.all(
      [1, 2].map(() => openBucketsInRedis({ url: redis.url, wait_ms: patient_ms, log })),
    );
    t.after(async () => {
      for (const buckets of processes) buckets.close();
      await redis.stop();
    });
    const limit = { perSecond: 1, burst: 100 };
    const began = performance.now();
    const answers = await Promise.all(
      Array.from(
        { length: 300 },
        async (_, index) => processes[index % 2]?.take('m', limit) ?? assert.fail(),
      ),
    );
    const gained = Math.ceil((performance.now() - began) / 1_000);
    const granted = answers.filter((taken) => taken?.granted).length;
    assert(granted >= 100 && granted <= 100 + gained, `${granted} were granted`);
    const left = answers.flatMap((taken) => (taken?.granted ? [taken.remaining] : []));
    assert.equal(Math.min(...left), 0);
    assert(answers.every((taken) => taken && (taken.granted || taken.retryAfter_s === 1)));
  });

  test('lets everything through while Redis is down, counts that, logs once, and limits again when it is back', async (t) => {
    const first = await startRedis();
    const { log: received, answered } = listening();
    const buckets = await openBucketsInRedis({ url: first.url, wait_ms: 2_000, log: received });
    const limit = { perSecond: 0.01, burst: 2 };
    assert.equal((await buckets.take('m', limit))?.granted, true);
    await first.stop();
    const before = await missed();
    for (let asked = 0; asked < 20; asked += 1) assert.equal(await buckets.take('m', limit), null);
    assert.equal((await missed()) - before, 20);
    const second = await startRedis(first.port);
    t.after(async () => {
      buckets.close();
      await second.stop();
    });
    await until(async () => (await buckets.take('other', limit)) !== null);
    for (let asked = 0; asked < 2; asked += 1)
      assert.equal((await buckets.take('m', limit))?.granted, true);
    assert.equal((await buckets.take('m', limit))?.granted, false);
    await until(async () => (await buckets.take('other', limit)) !== null && answered.length === 2);
    assert.match(answered[0] ?? '', /is lost/);
    assert.match(answered[1] ?? '', /is back/);
  });

  test('is not waited for when Redis is slow: after the first calls, not at all', async (t) => {
    const redis = await startRedis();
    const buckets = await openBucketsInRedis({ url: redis.url, wait_ms: 200, log });
    t.after(async () => {
      buckets.close();
      await redis.stop();
    });
    const limit = { perSecond: 1, burst: 100 };
    await until(async () => (await buckets.take('m', limit)) !== null);
    const client = new Redis(redis.url);
    await client.client('PAUSE', 3_000, 'ALL');
    client.disconnect();
    const answers = Promise.all(Array.from({ length: 50 }, async () => buckets.take('m', limit)));
    assert(await endsBefore(1_000, answers), 'they waited longer than they may');
    assert((await answers).every((taken) => taken === null));
    assert(
      await endsBefore(160, Promise.resolve(buckets.take('m', limit))),
      'the next one waited too',
    );
    await until(async () => (await buckets.take('m', limit)) !== null);
  });
});
