import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Relay } from '../../subgraphs/kernel/events/relay.ts';
import { type Attempt, attemptsOf, deliveriesOf } from './record.ts';
import { eventually, type Received, startReceiver } from './receiver.ts';
import {
  Clock,
  openHarness,
  type Harness,
  startTestRelay,
  startWorker,
  writeEvent,
} from './harness.ts';

const deadline_ms = 3_000;
const clock = new Clock();
let harness: Harness;
let worker: Awaited<ReturnType<typeof startWorker>>;
let relay: Relay;

before(async () => {
  harness = await openHarness();
  worker = await startWorker(harness, clock, { deadline_ms, leaseMargin_ms: 5_000 });
  relay = startTestRelay(harness, worker.wake);
});
after(async () => {
  await relay.stop();
  await worker.close();
  await harness.close();
});

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

const untilAttempted = (eventId: string, attempts: number): Promise<void> =>
  eventually(
    async () => (await attemptsOf(harness, eventId)).length >= attempts,
    () => `no attempt ${attempts}`,
  );

const signatureOf = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(
    String(headers['x-psp-signature'])
      .split(',')
      .map((part) => part.split('=')),
  );

/**
 * Holds that a delivery waits from its attempt for what is documented, with a tenth of jitter, and
 * for what the attempt itself took, which was sent after `from`; gives how long it waits.
 */
const assertWaits = (
  wait_s: number | null | undefined,
  delay_s: number,
  from: Temporal.Instant,
): number => {
  const since_s = clock.now().since(from).total('seconds');
  const found_s = wait_s ?? assert.fail('it does not wait');
  assert.ok(found_s >= delay_s && found_s <= delay_s * 1.1 + since_s, `${found_s} s of ${delay_s}`);
  return found_s;
};

describe('a delivery', () => {
  test('carries the frozen body and a signature that the receiver can check', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end('thanks'));
    const shop = await harness.addShop();
    const { secret } = await harness.addEndpoint(shop, `${receiver.url}/hook?a=1`);
    const { eventId, body } = await writeEvent(harness.pool, shop);
    await receiver.until(1);
    const [request] = receiver.received;
    assert.ok(request);
    assert.equal(request.path, '/hook?a=1');
    assert.equal(request.body, body);
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['user-agent'], 'psp-webhook/1.0');
    assert.equal(request.headers['x-psp-event-id'], `evt_${eventId}`);
    const { t, v1, v2 } = signatureOf(request);
    assert.equal(request.headers['x-psp-timestamp'], t);
    assert.ok(
      Math.abs(Number(t) * 1_000 - request.at) < 3_000,
      'the timestamp is that of the attempt',
    );
    assert.equal(v1, hmac(secret, body));
    assert.equal(v2, hmac(secret, `${t}.${body}`));
    await untilAttempted(eventId, 1);
    assert.deepEqual(
      (await deliveriesOf(harness, eventId)).map(({ status, leased }) => ({ status, leased })),
      [{ status: 'delivered', leased: false }],
    );
    assert.equal((await attemptsOf(harness, eventId))[0]?.response_head, 'thanks');
  });

  test('of an endpoint marked legacy has the legacy signature alone', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const shop = await harness.addShop();
    const { secret } = await harness.addEndpoint(shop, receiver.url, [], 'legacy');
    const { body } = await writeEvent(harness.pool, shop);
    await receiver.until(1);
    assert.equal(receiver.received[0]?.headers['x-psp-signature'], `sha256=${hmac(secret, body)}`);
    assert.equal(receiver.received[0]?.headers['x-psp-timestamp'], undefined);
  });

  test('that was answered 500 is repeated after ten seconds with the same id and bytes and a fresh signature', async (context) => {
    const receiver = await startReceiver(context, (response, earlier) =>
      response.writeHead(earlier === 0 ? 500 : 204).end(earlier === 0 ? 'no\0pe' : undefined),
    );
    const shop = await harness.addShop();
    const { secret } = await harness.addEndpoint(shop, receiver.url);
    const writtenAt = clock.now();
    const { eventId, body } = await writeEvent(harness.pool, shop);
    await untilAttempted(eventId, 1);
    const [failed] = await deliveriesOf(harness, eventId);
    assert.equal(failed?.status, 'pending');
    assertWaits(failed?.wait_s, 10, writtenAt);
    assert.equal((await attemptsOf(harness, eventId))[0]?.response_head, 'nope');
    await sleep(1_500);
    assert.equal(receiver.received.length, 1, 'not before its time');
    clock.advance({ seconds: 12 });
    await receiver.until(2);
    const [first, second] = receiver.received;
    assert.ok(first && second);
    assert.deepEqual([first.body, second.body], [body, body]);
    assert.equal(second.headers['x-psp-event-id'], first.headers['x-psp-event-id']);
    const { t, v2 } = signatureOf(second);
    assert.ok(Number(t) > Number(signatureOf(first)['t']), 'a later timestamp');
    assert.equal(v2, hmac(secret, `${t}.${body}`));
    await untilAttempted(eventId, 2);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'delivered');
  });

  test('is tried nine times over three and a half days, at the documented delays, and then stops', async (context) => {
    const receiver = await startReceiver(context, (response) => response.writeHead(503).end());
    const shop = await harness.addShop();
    const { id: lane } = await harness.addEndpoint(shop, receiver.url);
    let wokenAt = clock.now();
    const { eventId, body } = await writeEvent(harness.pool, shop);
    const delays_s = [10, 60, 300, 1_800, 7_200, 21_600, 86_400, 172_800];
    for (const [index, delay_s] of delays_s.entries()) {
      await untilAttempted(eventId, index + 1);
      const [delivery] = await deliveriesOf(harness, eventId);
      const wait_s = assertWaits(delivery?.wait_s, delay_s, wokenAt);
      clock.advance({ seconds: Math.ceil(wait_s) });
      wokenAt = clock.now();
      await worker.wake([lane]);
    }
    await untilAttempted(eventId, 9);
    assert.deepEqual(
      (await deliveriesOf(harness, eventId)).map(({ status, wait_s, leased }) => ({
        status,
        wait_s,
        leased,
      })),
      [{ status: 'failed', wait_s: null, leased: false }],
    );
    assert.deepEqual(
      receiver.received.map((request) => request.body),
      Array.from({ length: 9 }, () => body),
    );
  });

  test('does not follow a redirect', async (context) => {
    const elsewhere = await startReceiver(context, (response) => response.end());
    const receiver = await startReceiver(context, (response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const shop = await harness.addShop();
    await harness.addEndpoint(shop, receiver.url);
    const { eventId } = await writeEvent(harness.pool, shop);
    await untilAttempted(eventId, 1);
    assert.equal((await attemptsOf(harness, eventId))[0]?.status, 307);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'pending');
    assert.equal(elsewhere.received.length, 0);
  });

  test('stops when its endpoint is deleted', async (context) => {
    const receiver = await startReceiver(context, (response) => response.writeHead(503).end());
    const shop = await harness.addShop();
    const { id } = await harness.addEndpoint(shop, receiver.url);
    const { eventId } = await writeEvent(harness.pool, shop);
    await untilAttempted(eventId, 1);
    await harness.pool.query('update webhook_endpoint set active = false where id = $1', [id]);
    clock.advance({ seconds: 12 });
    await untilAttempted(eventId, 2);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'failed');
    assert.equal(receiver.received.length, 1);
  });
});

describe('where an event goes', () => {
  test('an empty filter takes every event, a filter only its own, and another shop nothing', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const shop = await harness.addShop();
    const sibling = await harness.addShop(shop.merchantId);
    await harness.addEndpoint(shop, `${receiver.url}/all`);
    await harness.addEndpoint(shop, `${receiver.url}/failed`, [
      'payment.failed',
      'payment.expired',
    ]);
    await harness.addEndpoint(sibling, `${receiver.url}/sibling`);
    await writeEvent(harness.pool, shop, { event: 'payment.succeeded' });
    await writeEvent(harness.pool, shop, { event: 'payment.failed' });
    await receiver.until(3);
    await sleep(300);
    const came = receiver.received.map(
      ({ path, body }) => `${path} ${/"event":"([^"]+)"/.exec(body)?.[1]}`,
    );
    assert.deepEqual(came.toSorted(), [
      '/all payment.failed',
      '/all payment.succeeded',
      '/failed payment.failed',
    ]);
  });

  test("a payment's own address replaces the endpoints and is signed with the oldest active endpoint's secret", async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const shop = await harness.addShop();
    const deleted = await harness.addEndpoint(shop, `${receiver.url}/deleted`);
    await harness.pool.query('update webhook_endpoint set active = false where id = $1', [
      deleted.id,
    ]);
    const oldest = await harness.addEndpoint(shop, `${receiver.url}/oldest`, ['payout.failed']);
    await sleep(5);
    await harness.addEndpoint(shop, `${receiver.url}/newer`);
    const { body } = await writeEvent(harness.pool, shop, { url: `${receiver.url}/own` });
    await receiver.until(1);
    await sleep(300);
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/own'],
    );
    const { t, v2 } = receiver.received[0] ? signatureOf(receiver.received[0]) : {};
    assert.equal(v2, hmac(oldest.secret, `${t}.${body}`));
  });

  test("a payment's own address of a shop without endpoints is signed with the shop's secret", async (context) => {
    const receiver = await startReceiver(context, (response) => response.end());
    const shop = await harness.addShop();
    const { body } = await writeEvent(harness.pool, shop, { url: `${receiver.url}/own` });
    await receiver.until(1);
    const { t, v2 } = receiver.received[0] ? signatureOf(receiver.received[0]) : {};
    assert.equal(v2, hmac(shop.secret, `${t}.${body}`));
  });
});

describe('a slow receiver', () => {
  test('with four hundred deliveries before it delays nobody else: they come as if it were not there', async (context) => {
    const slow = await startReceiver(
      context,
      (response) => void setTimeout(() => response.end(), 1_000).unref(),
    );
    const healthy = await startReceiver(context, (response) => response.end());
    const [its, other] = [await harness.addShop(), await harness.addShop()];
    await harness.addEndpoint(its, slow.url);
    await harness.addEndpoint(other, healthy.url);
    await Promise.all(Array.from({ length: 400 }, () => writeEvent(harness.pool, its)));
    await slow.until(10);
    const committed: number[] = [];
    for (let index = 1; index <= 20; index += 1) {
      await writeEvent(harness.pool, other);
      committed.push(Date.now());
      await healthy.until(index);
    }
    const taken_ms = committed
      .map((at, index) => (healthy.received[index]?.at ?? 0) - at)
      .toSorted((a, b) => a - b);
    context.diagnostic(
      `commit to healthy receiver: half within ${taken_ms[10]} ms, all within ${taken_ms.at(-1)} ms`,
    );
    // Ten at a time and a second for each: what came to the healthy one did not wait for the end of
    // that.
    assert.ok(slow.received.length < 400, 'the slow one has more before it');
    assert.equal(slow.atOnce_max, 10);
    await harness.pool.query('update webhook_endpoint set active = false where shop_id = $1', [
      its.shopId,
    ]);
  });
});

describe('a bad receiver', () => {
  test('that hangs, breaks off or never ends its answer delays nobody else', async (context) => {
    const hanging = await startReceiver(context, () => {});
    const breaking = await startReceiver(context, (response) => response.destroy());
    const endless = await startReceiver(context, (response) => {
      const flow = setInterval(() => response.write('x'.repeat(8_192)), 5);
      response.on('close', () => clearInterval(flow));
    });
    const stalling = await startReceiver(context, (response) =>
      response.writeHead(500).write('half'),
    );
    const healthy = await startReceiver(context, (response) => response.end());
    const bad = [hanging, breaking, endless, stalling];
    const written = new Map<string, string>();
    for (const receiver of bad) {
      const shop = await harness.addShop();
      await harness.addEndpoint(shop, receiver.url);
      for (let index = 0; index < 25; index += 1)
        written.set(receiver.url, (await writeEvent(harness.pool, shop)).eventId);
    }
    await Promise.all(bad.map((receiver) => receiver.until(1)));
    const shop = await harness.addShop();
    await harness.addEndpoint(shop, healthy.url);
    const { eventId } = await writeEvent(harness.pool, shop);
    await healthy.until(1);
    assert.ok(hanging.received.length < 25, 'those that hang have more before them');
    await untilAttempted(eventId, 1);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'delivered');

    const lastOf = async (receiver: { readonly url: string }): Promise<Attempt | undefined> => {
      const id = written.get(receiver.url) ?? '';
      await untilAttempted(id, 1);
      return (await attemptsOf(harness, id))[0];
    };
    assert.deepEqual(pick(await lastOf(hanging)), {
      status: null,
      error: `no complete answer within ${deadline_ms} ms`,
    });
    assert.equal((await lastOf(breaking))?.status, null);
    // Its status came in time; the body is read to its limit and dropped.
    const cut = await lastOf(endless);
    assert.deepEqual(pick(cut), { status: 200, error: null });
    assert.equal(cut?.response_head, 'x'.repeat(1_024));
    assert.deepEqual(pick(await lastOf(stalling)), {
      status: 500,
      error: `no complete answer within ${deadline_ms} ms`,
    });
    assert.equal(hanging.atOnce_max, 10, 'ten at once and no more');
  });

  test('that nobody listens at is tried again', async () => {
    const shop = await harness.addShop();
    // A port that was let go of is soon somebody else's.
    await harness.addEndpoint(shop, 'http://127.0.0.1:1/');
    const { eventId } = await writeEvent(harness.pool, shop);
    await untilAttempted(eventId, 1);
    assert.match((await attemptsOf(harness, eventId))[0]?.error ?? '', /ECONNREFUSED/);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'pending');
  });
});

const pick = (attempt: Attempt | undefined) =>
  attempt && { status: attempt.status, error: attempt.error };
