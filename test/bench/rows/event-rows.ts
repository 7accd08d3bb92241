/**
 * Webhooks on both queues: how soon one comes, how many a second, and whether a large backlog is
 * drained at a flat rate.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import { openBus } from '../../../subgraphs/kernel/queue/bus.ts';
import { deriveSecrets } from '../../../subgraphs/kernel/service/config/config.ts';
import { findOutsidePrograms } from '../../support/outside-programs.ts';
import { noRedis, startRedis } from '../../support/redis.ts';
import { spawnProcess, stopProcess, untilReady } from '../../support/service.ts';
import { log, openHarness, type Shop, type Harness, writeEvent } from '../../webhooks/harness.ts';
import { cpuOfProcess, type CpuClock } from '../cpu.ts';
import { noteStages, readStages, type Moments, type Stages } from '../event-stages.ts';
import type { Bench } from '../plan.ts';
import { saying } from '../progress.ts';
import type { Row } from '../report.ts';
import { currentKey } from '../../../subgraphs/kernel/service/access/keys.ts';

const body = JSON.stringify({
  id: 'evt_bench',
  event: 'payment.succeeded',
  data: { description: 'x'.repeat(900) },
});

type Arrivals = readonly (readonly [eventId: string, at_ms: number])[];

/** Endpoints that share the load, each with at most ten deliveries in flight. */
const endpoints = 20;
const perSecond = 100;

/** The value that this share of the values does not exceed. */
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

const startReceiver = async (stack: AsyncDisposableStack) => {
  const child = fork(join(import.meta.dirname, '../servers/receiver.ts'));
  stack.defer(() => void child.kill());
  const [url] = (await once(child, 'message')) as [string];
  const until = async (count: number): Promise<Arrivals> => {
    const received = once(child, 'message');
    child.send(count);
    const [arrivals] = (await received) as [Arrivals];
    return arrivals;
  };
  return { url, until };
};

/**
 * Writes so many events of the shops in one statement: what business transactions would have
 * written one by one.
 */
const writeMany = async (
  { pool }: Harness,
  shops: readonly Shop[],
  count: number,
): Promise<void> => {
  const ids = shops.map(({ shopId }) => shopId);
  await pool.query(
    `insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, webhook_event, webhook_body, created_at)
     select shop.merchant_id, gen_random_uuid(), shop.id, 'test', gen_random_uuid(), 'payment.status_changed', '{}', 'payment.succeeded', $2, now()
     from generate_series(1, $3) as n join shop on shop.id = ($1::uuid[])[1 + n % $4]`,
    [ids, body, count, ids.length],
  );
};

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** How soon half of the events have come. */
const half_ms = { Redis: 8, PostgreSQL: 20 } as const;

/** When each of a steady rate of events was committed, and when it arrived. */
const timeEvents = async (
  { pool }: Harness,
  shops: readonly Shop[],
  receiver: Receiver,
  wake: () => void,
  seconds: number,
): Promise<{ readonly committed: Moments; readonly arrived: Moments }> => {
  const committed = new Map<string, number>();
  const began_ms = performance.now();
  for (let index = 0; index < seconds * perSecond; index += 1) {
    const shop = shops[index % shops.length];
    if (!shop) throw new Error('there are no shops');
    const { eventId } = await writeEvent(pool, shop);
    committed.set(`evt_${eventId}`, performance.timeOrigin + performance.now());
    wake();
    await sleep(Math.max(0, began_ms + ((index + 1) * 1_000) / perSecond - performance.now()));
  }
  return { committed, arrived: new Map(await receiver.until(committed.size)) };
};

const inWords = ({ woken, numbered, leased, begun, posted }: Stages): string => {
  const stages = { wake: woken, numbering: numbered, claim: leased, handover: begun, post: posted };
  return Object.entries(stages)
    .map(([stage, ms]) => `${stage} ${ms.toFixed(1)}`)
    .join(', ');
};

/** The rows of a steady rate of events: how soon they come, and where the time goes. */
const latencyRows = async (
  queue: Queue,
  delivery: Awaited<ReturnType<typeof openDelivery>>,
  { plan, progress }: Bench,
): Promise<readonly Row[]> => {
  const { harness, receiver, shops, wake } = delivery;
  progress(`webhooks on ${queue}: ${perSecond} events a second`);
  await noteStages(harness.pool);
  const { committed, arrived } = await saying(
    timeEvents(harness, shops, receiver, wake, plan.eventSeconds),
    () => progress(`webhooks on ${queue}: events and their webhooks`),
  );
  const taken = [...arrived].map(([id, at_ms]) => at_ms - (committed.get(id) ?? Number.NaN));
  // The last result is stored a moment after the last arrival.
  await sleep(1_000);
  const stages = await readStages(harness.pool, committed, arrived);
  const ms = (share: number): string => `${quantile(taken, share).toFixed(1)} ms`;
  const aim_ms = half_ms[queue];
  const row = rowsOf(queue);
  return [
    row(
      `commit to receiver at ${perSecond}/s: how soon half have come`,
      `${aim_ms} ms`,
      aim_ms / quantile(taken, 0.5),
      1,
      `half within ${ms(0.5)}, 99 % within ${ms(0.99)}`,
    ),
    row(
      'commit to receiver by stages, in ms',
      '-',
      null,
      null,
      stages ? inWords(stages) : 'unknown',
    ),
  ];
};

/** How many came a second, over all and over the last fifth against the first. */
const rateOf = (
  arrivals: Arrivals,
): { readonly perSecond: number; readonly lastToFirst: number } => {
  const at = arrivals.map(([, at_ms]) => at_ms).toSorted((a, b) => a - b);
  const fifth = Math.floor(at.length / 5);
  const span = (from: number, to: number): number =>
    (at[to] ?? Number.NaN) - (at[from] ?? Number.NaN);
  return {
    perSecond: (at.length * 1_000) / span(0, at.length - 1),
    lastToFirst: span(0, fifth) / span(at.length - 1 - fifth, at.length - 1),
  };
};

/**
 * What the bare loop does a second, and the CPU time that each post costs it, its start included.
 */
const postBare = async (
  url: string,
  count: number,
): Promise<{ readonly perSecond: number; readonly each_us: number }> => {
  const env = {
    ...process.env,
    URL: url,
    BODY: body,
    COUNT: String(count),
    AT_ONCE: String(endpoints * 10),
  };
  const [[took_ms, cpu_us]] = (await once(
    fork(join(import.meta.dirname, '../servers/bare-posts.ts'), { env }),
    'message',
  )) as [[number, number]];
  return { perSecond: (count * 1_000) / took_ms, each_us: cpu_us / count };
};

/** Says how many deliveries are still to be made or to succeed. */
const sayLeft = async ({ pool }: Harness, say: (left: string) => void): Promise<void> => {
  const { rows } = await pool.query<{ count: number }>(
    `select (select count(*) from event where sequence is null)::int + (select count(*) from webhook_delivery where status = 'pending')::int as count`,
  );
  say((rows[0]?.count ?? 0).toLocaleString('en'));
};

type Queue = 'PostgreSQL' | 'Redis';

/**
 * A database with shops and endpoints, the receiver behind them, and a way to start the service's
 * worker on it.
 */
const openDelivery = async (queue: Queue, stack: AsyncDisposableStack) => {
  const secretKey = Buffer.from(randomBytes(32));
  const harness = await openHarness(Buffer.from(currentKey(deriveSecrets(secretKey).vault)));
  stack.defer(() => harness.close());
  const redis = queue === 'Redis' ? await startRedis() : null;
  stack.defer(async () => redis?.stop());
  const receiver = await startReceiver(stack);
  const shops = await Promise.all(Array.from({ length: endpoints }, () => harness.addShop()));
  await Promise.all(shops.map((shop) => harness.addEndpoint(shop, receiver.url)));
  const startWorker = async (): Promise<CpuClock> => {
    const environment = {
      DATABASE_URL: harness.database.url,
      SECRET_KEY: secretKey.toString('base64'),
      WEBHOOK_PRIVATE_TARGETS: 'allow',
      // Nobody is there: these events are of no payments.
      SUBGRAPH_PAYMENTS_URL: 'http://127.0.0.1:9',
      NODE_ENV: 'production',
      ...(redis ? { REDIS_URL: redis.url } : {}),
    };
    const worker = spawnProcess('worker', await freePort(), environment);
    stack.defer(async () => void (await stopProcess(worker)));
    await untilReady(worker);
    return cpuOfProcess(worker.child.pid ?? 0);
  };
  const bus = await openBus({
    redisUrl: redis?.url ?? null,
    databaseUrl: harness.database.url,
    log,
  });
  stack.defer(() => bus.close());
  return { harness, receiver, shops, startWorker, wake: () => void bus.publish('outbox', null) };
};

const rowsOf =
  (queue: Queue) =>
  (
    what: string,
    against: string,
    ratio: number | null,
    least: number | null,
    figures: string,
  ): Row => ({
    what: `${what}, ${queue}`,
    against,
    ratio,
    aim: least === null ? null : { least },
    rounds: 1,
    figures,
  });

/**
 * The rows on one queue: a worker process of the service, a receiver process, and this process,
 * which only writes events.
 */
const webhookRows = async (queue: Queue, bench: Bench): Promise<readonly Row[]> => {
  const { plan, progress } = bench;
  await using stack = new AsyncDisposableStack();
  progress(`webhooks on ${queue}: starting`);
  const delivery = await openDelivery(queue, stack);
  const { harness, receiver, shops, startWorker } = delivery;
  const bareLoop = async () => {
    const posted = await saying(postBare(receiver.url, plan.bareWebhooks), () =>
      progress(`webhooks on ${queue}: the bare loop`),
    );
    await receiver.until(plan.bareWebhooks);
    return posted;
  };
  const before = await bareLoop();

  const { backlog } = plan;
  progress(`webhooks on ${queue}: a backlog of ${backlog}`);
  await writeMany(harness, shops, backlog);
  const cpu = await startWorker();
  const drained = rateOf(
    await saying(receiver.until(backlog), () =>
      sayLeft(harness, (left) => progress(`webhooks on ${queue}: ${left} are left`)),
    ),
  );
  const used_us = cpu();
  // Before and after: whatever else the machine did in between, it did to both.
  const after = await bareLoop();
  const bare = {
    perSecond: (before.perSecond + after.perSecond) / 2,
    each_us: (before.each_us + after.each_us) / 2,
  };

  const row = rowsOf(queue);
  const rate = `${drained.perSecond.toFixed(0)}/s`;
  const cpuOfEach = `CPU each ${used_us === null ? '?' : (used_us / backlog).toFixed(0)} us to ${bare.each_us.toFixed(0)} us`;
  return [
    row(
      'webhooks delivered',
      'bare undici loop, same bodies',
      drained.perSecond / bare.perSecond,
      queue === 'Redis' ? 0.5 : null,
      `${rate} to ${bare.perSecond.toFixed(0)}/s; ${cpuOfEach}`,
    ),
    row(
      `backlog of ${backlog}, last fifth to first`,
      'its own beginning',
      drained.lastToFirst,
      0.8,
      rate,
    ),
    ...(await latencyRows(queue, delivery, bench)),
  ];
};

/** The rows on the PostgreSQL queue. */
export const webhooksOnPostgres = (bench: Bench): Promise<readonly Row[]> =>
  webhookRows('PostgreSQL', bench);

/** The rows on Redis; none without a redis-server, which the progress says. */
export const webhooksOnRedis = async (bench: Bench): Promise<readonly Row[]> => {
  findOutsidePrograms(false);
  if (process.env['REDIS_SERVER']) return webhookRows('Redis', bench);
  bench.progress(`webhooks on Redis are left out: ${String(noRedis)}`);
  return [];
};
