import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { StreamedEvent } from '../../subgraphs/rules/event.ts';
import { claimDeliveries } from '../../subgraphs/merchants/webhooks/deliveries.ts';
import {
  attemptDelivery,
  type DeliveryDeps,
} from '../../subgraphs/merchants/webhooks/deliver-webhook.ts';
import { openTargets } from '../../subgraphs/merchants/webhooks/webhook-target.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import {
  log,
  openHarness,
  type Harness,
  startTestRelay,
  startWorker,
  writeEvent,
} from './harness.ts';

let harness: Harness;
before(async () => {
  harness = await openHarness();
});
after(() => harness.close());

/** Numbers what is in the outbox and makes its deliveries, without a wake-up. */
const relayQuietly = async (events: number): Promise<void> => {
  const published: StreamedEvent[] = [];
  const relay = startTestRelay(harness, async () => {}, published);
  await eventually(
    () => published.length >= events,
    () => `${published.length} of ${events} relayed`,
  );
  await relay.stop();
};

const delivered = async (): Promise<number> => {
  const { rows } = await harness.pool.query<{ count: number }>(
    `select count(*)::int as count from webhook_delivery where status = 'delivered'`,
  );
  return rows[0]?.count ?? 0;
};

/** Ends the leases of a lane, which last longer than a test. */
const endLeases = (lane: string): Promise<unknown> =>
  harness.pool.query(
    `update webhook_delivery set lease_until = now() - interval '1 ms' where lane = $1`,
    [lane],
  );

test('two relays and two workers at once deliver every event once, and publish in the order of the numbers', async (context) => {
  const receiver = await startReceiver(context, (response) => response.end());
  const shops = [await harness.addShop(), await harness.addShop(), await harness.addShop()];
  for (const shop of shops) await harness.addEndpoint(shop, receiver.url);
  const workers = [await startWorker(harness), await startWorker(harness)];
  const published: StreamedEvent[] = [];
  const relays = workers.map(({ wake }) => startTestRelay(harness, wake, published));
  const written: string[] = [];
  const writeMany = async (shop: (typeof shops)[number]): Promise<void> => {
    for (let index = 0; index < 60; index += 1)
      written.push(`evt_${(await writeEvent(harness.pool, shop)).eventId}`);
  };
  const writing = Promise.all(shops.map(writeMany));
  // The holder leaves in the middle; the other takes over.
  await receiver.until(20);
  await relays[0]?.stop();
  await writing;
  await receiver.until(written.length);
  await eventually(
    async () => (await delivered()) === written.length,
    () => 'not all are stored as delivered',
  );
  await Promise.all([
    ...relays.map((relay) => relay.stop()),
    ...workers.map((worker) => worker.close()),
  ]);
  assert.deepEqual(
    receiver.received.map(({ headers }) => String(headers['x-psp-event-id'])).toSorted(),
    written.toSorted(),
  );
  assert.equal(published.length, written.length);
  const numbers = published.map(({ sequence }) => Number(sequence));
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(numbers).size, numbers.length);
});

test('a worker that is killed in the middle of an attempt loses nothing: another sends the same id and bytes when the lease is over', async (context) => {
  const receiver = await startReceiver(
    context,
    (response, earlier) => earlier > 0 && response.end(),
  );
  const shop = await harness.addShop();
  const { id: lane } = await harness.addEndpoint(shop, receiver.url);
  const { eventId, body } = await writeEvent(harness.pool, shop);
  await relayQuietly(1);
  const program = fileURLToPath(new URL('doomed-worker.ts', import.meta.url));
  const doomed = spawn(
    process.execPath,
    [program, harness.database.url, harness.vaultKey.toString('base64'), shop.merchantId, lane],
    { stdio: 'inherit' },
  );
  const ended = once(doomed, 'exit');
  await receiver.until(1);
  doomed.kill('SIGKILL');
  await ended;
  const worker = await startWorker(harness);
  // What else is due in the lane is sent, and this not while the lease runs.
  const { eventId: later } = await writeEvent(harness.pool, shop);
  await relayQuietly(1);
  await eventually(
    async () => (await statusOf(later)) === 'delivered 1',
    () => 'the later event is not delivered',
  );
  assert.equal(receiver.received.length, 2);
  await endLeases(lane);
  await receiver.until(3);
  const sent = receiver.received[2];
  assert.deepEqual([sent?.headers['x-psp-event-id'], sent?.body], [`evt_${eventId}`, body]);
  await eventually(
    async () => (await statusOf(eventId)) === 'delivered 1',
    () => 'not stored',
  );
  await worker.close();
});

const statusOf = async (eventId: string): Promise<string | undefined> => {
  const { rows } = await harness.pool.query<{ state: string }>(
    `select status || ' ' || attempts as state from webhook_delivery where event_id = $1`,
    [eventId],
  );
  return rows[0]?.state;
};

test('when every wake-up is lost the sweep finds what is due', async (context) => {
  const receiver = await startReceiver(context, (response) => response.end());
  const shop = await harness.addShop();
  await harness.addEndpoint(shop, receiver.url);
  const relay = startTestRelay(harness, () => {});
  const worker = await startWorker(harness);
  await writeEvent(harness.pool, shop);
  await writeEvent(harness.pool, shop);
  await receiver.until(2);
  await relay.stop();
  await worker.close();
});

describe('a claim', () => {
  const parts = (): DeliveryDeps => ({
    pool: harness.pool,
    targets: openTargets({ privateTargets: () => true }),
    vaultKey: harness.vaultKey,
    log,
    now: () => Temporal.Now.instant(),
    limits: { deadline_ms: 20_000, leaseMargin_ms: 60_000 },
  });

  test('never gives a lane more than ten at once, however many ask at the same moment', async () => {
    const shop = await harness.addShop();
    const { id: lane } = await harness.addEndpoint(shop, 'http://127.0.0.1:9/');
    for (let index = 0; index < 25; index += 1) await writeEvent(harness.pool, shop);
    await relayQuietly(25);
    const claims = async (): Promise<string[]> => {
      const claimed = await Promise.all(
        [4, 10, 7, 10].map((room) =>
          claimDeliveries(parts(), [{ merchantId: shop.merchantId, lane, room }]),
        ),
      );
      return claimed.flat().map(({ id }) => id);
    };
    const first = await claims();
    assert.equal(first.length, 10);
    assert.equal(new Set(first).size, 10);
    assert.equal((await claims()).length, 0);
    await endLeases(lane);
    assert.equal((await claims()).length, 10, 'ten again, when the leases are over');
  });

  test('whose lease is over cannot store its result over the next one', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const shop = await harness.addShop();
    const { id: lane } = await harness.addEndpoint(shop, receiver.url);
    const { eventId } = await writeEvent(harness.pool, shop);
    await relayQuietly(1);
    const [late] = await claimDeliveries(parts(), [{ merchantId: shop.merchantId, lane, room: 1 }]);
    await endLeases(lane);
    const [next] = await claimDeliveries(parts(), [{ merchantId: shop.merchantId, lane, room: 1 }]);
    assert.ok(late && next && late.id === next.id);
    await attemptDelivery(parts(), late);
    assert.equal(await statusOf(eventId), 'pending 0');
    await attemptDelivery(parts(), next);
    assert.equal(await statusOf(eventId), 'delivered 1');
  });
});
