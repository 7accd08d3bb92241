/** Deliveries that the relay hands over to its own process, with leases that are their claims. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { findDueLanes } from '../../subgraphs/merchants/webhooks/claim-deliveries.ts';
import { readHanded } from '../../subgraphs/merchants/webhooks/make-deliveries.ts';
import type { StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import {
  describeDeliveries,
  openHarness,
  startTestRelay,
  startWorker,
  writeEvent,
  type Harness,
  type Shop,
} from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const nowhere = 'http://127.0.0.1:9/';

/** Relays what is in the outbox in one batch: what is handed over, and the lanes that are woken. */
const relayOnce = async (events: number, room = 100, full: readonly string[] = []) => {
  const [published, woken]: [StreamedEvent[], string[]] = [[], []];
  const taken: unknown[] = [];
  const relay = startTestRelay(harness, async (lanes) => void woken.push(...lanes), published, {
    ask: () => ({ room, lease_ms: 60_000, now: Temporal.Now.instant(), full }),
    take: (rows) => void taken.push(...rows),
  });
  await eventually(
    () => published.length === events,
    () => `${published.length} of ${events} relayed`,
  );
  await relay.stop();
  return { handed: readHanded(taken), woken };
};

/** Writes so many events of the shop at one moment. */
const writeTogether = async (shop: Shop, events: number): Promise<readonly string[]> => {
  const client = await harness.pool.connect();
  await client.query('begin');
  const written: string[] = [];
  for (let index = 0; index < events; index += 1)
    written.push((await writeEvent(client, shop)).eventId);
  await client.query('commit');
  client.release();
  return written;
};

const isDue = async (lane: string): Promise<boolean> =>
  (await findDueLanes({ pool: harness.pool, now: () => Temporal.Now.instant() })).includes(lane);

test('a delivery is handed over with what is sent, and nobody else may claim it', async () => {
  const shop = await harness.addShop();
  const { id: lane } = await harness.addEndpoint(shop, nowhere);
  const { eventId, body } = await writeEvent(harness.pool, shop);
  const { handed, woken } = await relayOnce(1);
  const [delivery] = handed;
  assert.ok(delivery && handed.length === 1);
  assert.deepEqual([delivery.lane, delivery.eventId, delivery.url], [lane, eventId, nowhere]);
  assert.deepEqual([delivery.message?.body, delivery.message?.signature], [body, 'v2']);
  assert.deepEqual(woken, []);
  assert.equal(await isDue(lane), false);
});

test('a payment’s own address is handed over, signed as the shop’s oldest endpoint is', async () => {
  const shop = await harness.addShop();
  await harness.addEndpoint(shop, nowhere, [], 'legacy');
  await writeEvent(harness.pool, shop, { url: 'https://own.example/hook' });
  const { handed } = await relayOnce(1);
  assert.deepEqual(
    handed.map(({ lane, url, message }) => [lane, url, message?.signature]),
    [[`https://own.example#${shop.merchantId}/test`, 'https://own.example/hook', 'legacy']],
  );
});

test('a lane is handed ten at most, the oldest, and what is left wakes it', async () => {
  const shop = await harness.addShop();
  const { id: lane } = await harness.addEndpoint(shop, nowhere);
  const written = await writeTogether(shop, 25);
  const { handed, woken } = await relayOnce(25);
  assert.deepEqual(
    handed.map(({ eventId }) => eventId),
    written.slice(0, 10),
  );
  assert.deepEqual(woken, [lane]);
  await writeEvent(harness.pool, shop);
  assert.equal((await relayOnce(1)).handed.length, 0, 'the lane is full, and older ones are due');
});

test('a process takes over as much as it has room for', async () => {
  const shops = await Promise.all(Array.from({ length: 3 }, () => harness.addShop()));
  for (const shop of shops) await harness.addEndpoint(shop, nowhere);
  for (const shop of shops) await writeEvent(harness.pool, shop);
  const { handed, woken } = await relayOnce(3, 2);
  assert.deepEqual([handed.length, woken.length], [2, 1]);
});

test('merchants are handed over by turns, none more than twenty, and none that has enough', async () => {
  const [many, few] = [await harness.addShop(), await harness.addShop()];
  const client = await harness.pool.connect();
  await client.query('begin');
  for (let index = 0; index < 30; index += 1)
    await writeEvent(client, many, { url: `https://o${index}.example/hook` });
  for (let index = 0; index < 3; index += 1)
    await writeEvent(client, few, { url: `https://o${index}.example/hook` });
  await client.query('commit');
  client.release();
  const { handed } = await relayOnce(33, 22);
  const ofEach = ({ merchantId }: { merchantId: string }): number =>
    handed.filter((one) => one.merchantId === merchantId).length;
  assert.deepEqual([ofEach(many), ofEach(few)], [19, 3]);
  await writeEvent(harness.pool, many, { url: 'https://last.example/hook' });
  const later = await relayOnce(1, 100, [many.merchantId]);
  assert.deepEqual(
    [later.handed.length, later.woken],
    [0, [`https://last.example#${many.merchantId}/test`]],
  );
});

test('nothing is handed over in a lane where somebody claims, or where something older is due', async () => {
  const shop = await harness.addShop();
  const { id: lane } = await harness.addEndpoint(shop, nowhere);
  const claiming = await harness.pool.connect();
  await claiming.query('begin');
  const key = `webhook-lane/${lane}`;
  await claiming.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
  await writeEvent(harness.pool, shop);
  const beside = await relayOnce(1);
  await claiming.query('rollback');
  claiming.release();
  await writeEvent(harness.pool, shop);
  const behind = await relayOnce(1);
  for (const { handed, woken } of [beside, behind])
    assert.deepEqual([handed.length, woken], [0, [lane]]);
});

test('deliveries of a shop with a test clock, or of a merchant who is set aside, are left to their claims', async () => {
  const [clocked, aside] = [await harness.addShop(), await harness.addShop()];
  for (const shop of [clocked, aside]) await harness.addEndpoint(shop, nowhere);
  await harness.pool.query(
    `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, target_at, created_at)
     values ($1, $2, '2027-03-01T12:00:00Z', now(), true, null, now())`,
    [clocked.merchantId, clocked.shopId],
  );
  await harness.pool.query(
    `insert into set_aside (merchant_id, task, subject_id, tries, due_at)
     values ($1, 'deliver-webhooks', '*', 1, now() + interval '1 hour')`,
    [aside.merchantId],
  );
  for (const shop of [clocked, aside]) await writeEvent(harness.pool, shop);
  assert.equal((await relayOnce(2)).handed.length, 0);
  await harness.pool.query('delete from test_clock');
  await harness.pool.query('delete from set_aside');
});

test('beside a second worker that claims, each is sent once, and a lane has ten in flight at most', async (context) => {
  // What the tests above left to be sent to nowhere is no work of these workers.
  await harness.pool.query("update webhook_delivery set status = 'failed', lease_until = null");
  let [now, most] = [0, 0];
  const receiver = await startReceiver(context, (response) => {
    most = Math.max(most, (now += 1));
    setTimeout(() => {
      now -= 1;
      response.end();
    }, 5);
  });
  const shop = await harness.addShop();
  await harness.addEndpoint(shop, receiver.url);
  const [own, other] = [await startWorker(harness), await startWorker(harness)];
  const relay = startTestRelay(harness, other.wake, [], own.handover);
  const written: string[] = [];
  for (let burst = 0; burst < 12; burst += 1)
    written.push(...(await writeTogether(shop, burst % 3 === 0 ? 20 : 1)));
  await receiver.until(written.length);
  await eventually(
    async () =>
      (
        await harness.pool.query(
          `select 1 from webhook_delivery where merchant_id = $1 and status = 'pending'`,
          [shop.merchantId],
        )
      ).rows.length === 0,
    () => 'some are not stored',
  );
  await relay.stop();
  await Promise.all([own.close(), other.close()]);
  assert.deepEqual(
    receiver.received.map(({ headers }) => String(headers['x-psp-event-id'])).toSorted(),
    written.map((eventId) => `evt_${eventId}`).toSorted(),
  );
  assert.ok(most >= 1 && most <= 10, `${most} at once`);
});

test('what was handed over to a process that is killed before it sends is sent when the lease is over', async (context) => {
  const receiver = await startReceiver(context, (response) => response.end());
  const shop = await harness.addShop();
  await harness.addEndpoint(shop, receiver.url);
  const lease_ms = 1_500;
  const doomed = fork(new URL('doomed-handover.ts', import.meta.url), [
    harness.database.url,
    String(lease_ms),
  ]);
  context.after(() => doomed.kill('SIGKILL'));
  const ended = once(doomed, 'exit');
  await once(doomed, 'message');
  const { eventId, body } = await writeEvent(harness.pool, shop);
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL');
  const { rows } = await harness.pool.query<{ end_ms: number | null }>(
    'select floor(extract(epoch from lease_until) * 1000)::float as end_ms from webhook_delivery where event_id = $1',
    [eventId],
  );
  const leaseEnd_ms = rows[0]?.end_ms;
  assert.ok(leaseEnd_ms, 'it was committed with its lease');
  const worker = await startWorker(harness);
  await receiver.until(1).catch(async (error: unknown) => {
    throw new Error(await describeDeliveries(harness, eventId), { cause: error });
  });
  const [sent] = receiver.received;
  assert.ok(sent && sent.at >= leaseEnd_ms, 'not while the lease ran');
  assert.deepEqual([sent.headers['x-psp-event-id'], sent.body], [`evt_${eventId}`, body]);
  await worker.close();
});
