/**
 * Receivers that hang, of shops with test clocks: each holds up its own shop's clock alone, and its
 * retry is counted from the attempt's end.
 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clockJobs, keepClockJob } from '../../subgraphs/platform/clock/keep-clocks.ts';
import { openQueues } from '../../subgraphs/platform/queue/queues.ts';
import { done, type Job, joinSweeps } from '../../subgraphs/platform/queue/run-job.ts';
import { webhookClockParticipant } from '../../subgraphs/merchants/webhooks/clock-participant.ts';
import { Deliverer } from '../../subgraphs/merchants/webhooks/deliverer.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import {
  log,
  openHarness,
  startTestRelay,
  writeEvent,
  type Shop,
  type Harness,
} from '../webhooks/harness.ts';

/** More than the queue of the schedules has places, or the pool connections for. */
const hangingShops = 20;
/** Longer than any test runs: what hangs, hangs until the test lets go of it. */
const limits = { deadline_ms: 900_000, leaseMargin_ms: 900_000 };
const noon = Temporal.Instant.from('2027-03-01T12:00:00Z');

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

interface Clock {
  readonly frozen: boolean;
  readonly target?: Temporal.Instant;
}

/** A shop whose clock shows noon and which has an event for an address. */
const addShop = async (url: string, { frozen, target }: Clock): Promise<Shop> => {
  const shop = await harness.addShop();
  await harness.addEndpoint(shop, url);
  await writeEvent(harness.pool, shop);
  await harness.pool.query('update event set created_at = $2 where merchant_id = $1', [
    shop.merchantId,
    noon.toString(),
  ]);
  await harness.pool.query(
    'insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, target_at, created_at) values ($1, $2, $3, now(), $4, $5, now())',
    [shop.merchantId, shop.shopId, noon.toString(), frozen, target?.toString() ?? null],
  );
  return shop;
};

const relay = async (deliverer: Deliverer): Promise<void> => {
  const relaying = startTestRelay(harness, (lanes) => deliverer.wake(lanes));
  const isDone = async (): Promise<boolean> =>
    (await harness.pool.query('select 1 from event where sequence is null')).rows.length === 0;
  await eventually(isDone, () => 'events are left');
  await relaying.stop();
};

const now = (): Temporal.Instant => Temporal.Now.instant();

const startDelivering = (): Deliverer => {
  const { pool, vaultKey, open } = harness;
  const deliverer = new Deliverer({
    pool,
    vaultKey,
    privateTargets: () => true,
    log,
    now,
    limits,
  });
  open.push(async () => void deliverer.close());
  return deliverer;
};

const openClockJobs = (
  wake: (shops: readonly Shop[]) => Promise<void>,
  deliverer: Deliverer,
): readonly Job[] => {
  const { pool, database } = harness;
  const participant = webhookClockParticipant({
    database,
    now,
    wake: (lanes) => deliverer.wake(lanes),
  });
  const named = (shops: readonly { merchantId: string; shopId: string }[]) =>
    wake(shops.map((shop) => ({ ...shop, secret: '' })));
  return clockJobs({
    pool,
    sessions: database.sessions,
    now,
    participants: [participant],
    wake: named,
    stopping: new AbortController().signal,
  });
};

test('twenty shops whose receivers hang, under clocks that run and that advance, hold up no other clock and no sweep', async (context) => {
  const held: ServerResponse[] = [];
  const deliverer = startDelivering();
  const silence = await startReceiver(context, (response) => void held.push(response));
  const receiver = await startReceiver(context, (response) => response.end());
  const target = noon.add({ hours: 2 });
  for (let index = 0; index < hangingShops; index += 1)
    await addShop(silence.url, index % 2 === 0 ? { frozen: false } : { frozen: true, target });
  await relay(deliverer);
  const queues = await openQueues({
    redisUrl: null,
    databaseUrl: harness.database.url,
    log,
    jobs: [{ name: keepClockJob, queue: 'schedules' }],
  });
  const beats = { count: 0 };
  const beat: Job = {
    name: 'beat',
    queue: 'schedules',
    every_ms: 1_000,
    run: async () => {
      beats.count += 1;
      return done;
    },
  };
  const wake = (shops: readonly Shop[]) =>
    queues.addMany(
      keepClockJob,
      shops.map(({ merchantId, shopId }) => ({ merchantId, shopId })),
    );
  const jobs = [...openClockJobs(wake, deliverer), beat];
  await queues.work(joinSweeps({ pool: harness.pool, now, log, queues }, jobs));
  try {
    await eventually(
      () => held.length === hangingShops,
      () => `${held.length} receivers hang`,
    );
    const other = await addShop(receiver.url, { frozen: true, target });
    const beatsBefore = beats.count;
    await relay(deliverer);
    const arrived = async (): Promise<boolean> =>
      (
        await harness.pool.query(
          'select 1 from test_clock where merchant_id = $1 and target_at is null',
          [other.merchantId],
        )
      ).rows.length === 1;
    await eventually(arrived, () => 'the other clock is on its way');
    assert.equal(receiver.received.length, 1);
    await eventually(
      () => beats.count >= beatsBefore + 3,
      () => `${beats.count - beatsBefore} beats of the sweep`,
    );
    assert.deepEqual(
      [held.filter(({ destroyed }) => destroyed).length, silence.received.length],
      [0, hangingShops],
    );
    for (const response of held) response.end();
    const rest = async (): Promise<number> =>
      (await harness.pool.query(`select 1 from test_clock where frozen and target_at is not null`))
        .rows.length;
    await eventually(
      async () => (await rest()) === 0,
      () => 'the clocks that waited are on their way',
    );
    assert.equal(silence.received.length, hangingShops, 'each was sent once');
  } finally {
    await queues.close();
  }
});

test('the retry of a running clock is counted from what it shows when the attempt ends, and comes by the clock', async (context) => {
  const deliverer = startDelivering();
  const silence = await startReceiver(context, () => {});
  const receiver = await startReceiver(context, (response) => response.end());
  const shop = await addShop(silence.url, { frozen: false });
  await relay(deliverer);
  await silence.until(1);
  await sleep(2_500);
  silence.close();
  const find = async () => {
    const { rows } = await harness.pool.query<{ waits_ms: number; lasted_ms: number }>(
      `select extract(epoch from delivery.next_attempt_at - attempt.at)::float8 * 1000 as waits_ms, attempt.duration_ms as lasted_ms
       from webhook_delivery as delivery join webhook_attempt as attempt on attempt.delivery_id = delivery.id
       where delivery.merchant_id = $1 and delivery.due_at is null`,
      [shop.merchantId],
    );
    return rows[0];
  };
  await eventually(
    async () => (await find()) !== undefined,
    () => 'no attempt was stored',
  );
  const { waits_ms, lasted_ms } = (await find()) ?? assert.fail();
  assert.ok(
    lasted_ms >= 2_400 && waits_ms >= lasted_ms + 10_000,
    `tried again ${waits_ms} ms after the beginning of an attempt of ${lasted_ms} ms`,
  );
  const key = { merchantId: shop.merchantId, shopId: shop.shopId };
  const keep =
    openClockJobs(async () => {}, deliverer).find(({ name }) => name === keepClockJob) ??
    assert.fail();
  await harness.pool.query('update webhook_endpoint set url = $2 where merchant_id = $1', [
    shop.merchantId,
    receiver.url,
  ]);
  await keep.run(key);
  assert.equal(receiver.received.length, 0, 'the clock has not reached it');
  await harness.pool.query(
    `update test_clock set clock_at = clock_at + interval '1 minute' where merchant_id = $1`,
    [shop.merchantId],
  );
  await keep.run(key);
  await receiver.until(1);
});
