import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { openBucketsInMemory } from '../../gateway/callers/admit-caller.ts';
import { openBucketsInRedis } from '../../gateway/callers/redis-buckets.ts';
import { metrics, openLog, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { eventually, patience_ms } from '../support/eventually.ts';
import { noRedis, startRedis } from '../support/redis.ts';

const log = openLog({ logLevel: 'silent' }, 'test');

describe('a token bucket in memory', () => {
  const limit = { perSecond: 50, burst: 100 };
  const open = () => {
    const clock = { us: 1_000_000 };
    const buckets = openBucketsInMemory(() => clock.us);
    const take = async (name = 'a', of = limit) => buckets.take(name, of);
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

  test('never holds more than its burst, however long it is idle', async () => {
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

/** A way to Redis that can keep its answers back. `asked` is all that was sent to it. */
const openHoldingWay = async (t: TestContext, port: number) => {
  const held: (() => void)[] = [];
  const way = { url: '', asked: '', isHolding: false, release: () => {} };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const)
      socket.on('error', () => {}).once('close', () => other.destroy());
    near.on('data', (part) => {
      way.asked += part.toString();
      far.write(part);
    });
    far.on('data', (part) => {
      if (way.isHolding) held.push(() => near.write(part));
      else near.write(part);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  way.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  way.release = () => {
    way.isHolding = false;
    for (const pass of held.splice(0)) pass();
  };
  return way;
};

describe('a token bucket in Redis', { skip: noRedis }, () => {
  test('is one for all processes, and exact when they ask at the same time', async (t) => {
    const redis = await startRedis();
    const processes = await Promise.all(
      [1, 2].map(() => openBucketsInRedis({ url: redis.url, wait_ms: patience_ms, log })),
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
    const buckets = await openBucketsInRedis({
      url: first.url,
      wait_ms: patience_ms,
      log: received,
    });
    const limit = { perSecond: 0.000_1, burst: 2 };
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
    await eventually(() => buckets.take('other', limit), 'an answer');
    for (let asked = 0; asked < 2; asked += 1)
      assert.equal((await buckets.take('m', limit))?.granted, true);
    assert.equal((await buckets.take('m', limit))?.granted, false);
    await eventually(
      async () => (await buckets.take('other', limit)) !== null && answered.length === 2,
      'the line that Redis is back',
    );
    assert.match(answered[0] ?? '', /is lost/);
    assert.match(answered[1] ?? '', /is back/);
  });

  test('is not waited for when Redis is slow: after the first calls, not at all', async (t) => {
    const redis = await startRedis();
    const way = await openHoldingWay(t, redis.port);
    const buckets = await openBucketsInRedis({ url: way.url, wait_ms: 200, log });
    t.after(async () => {
      buckets.close();
      await redis.stop();
    });
    const limit = { perSecond: 1, burst: 100 };
    await eventually(() => buckets.take('m', limit), 'an answer');
    way.isHolding = true;
    const takeMany = () =>
      Promise.all(Array.from({ length: 50 }, async () => buckets.take('m', limit)));
    const asked = () => way.asked.split('rate:m').length;
    assert.deepEqual(new Set(await takeMany()), new Set([null]));
    const before = asked();
    assert.deepEqual(new Set(await takeMany()), new Set([null]));
    // Redis is asked now and then whether it is back.
    assert(asked() - before < 5, `${asked() - before} of 50 calls waited`);
    way.release();
    await eventually(() => buckets.take('m', limit), 'an answer after the pause');
  });
});
