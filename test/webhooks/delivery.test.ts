import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { Relay } from '../../subgraphs/platform/events/relay.ts';
import { type Attempt, attemptsOf, deliveriesOf } from './record.ts';
import { eventually } from '../support/eventually.ts';
import { laterThan, type Received, startReceiver } from './receiver.ts';
import {
  Clock,
  openHarness,
  type Harness,
  type Shop,
  startTestRelay,
  startWorker,
  writeEvent,
} from './harness.ts';

/** Longer than any test: only what a test lets go of ends. */
const limits = { deadline_ms: 900_000, leaseMargin_ms: 900_000 };
const clock = new Clock();
let harness: Harness;
let worker: Awaited<ReturnType<typeof startWorker>>;
let relay: Relay;

before(async () => {
  harness = await openHarness();
  worker = await startWorker(harness, clock, limits);
  relay = startTestRelay(harness, worker.wake);
});
after(async () => {
  await relay.stop();
  await worker.close();
  await harness.close();
});

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

const untilAttempted = (eventId: string, attempts: number, by = harness): Promise<true> =>
  eventually(
    async () => (await attemptsOf(by, eventId)).length >= attempts,
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
    const from_s = Math.floor(Date.now() / 1_000);
    const { eventId, body } = await writeEvent(harness.pool, shop);
    await receiver.until(1);
    const to_s = Date.now() / 1_000;
    const [request] = receiver.received;
    assert.ok(request);
    assert.equal(request.path, '/hook?a=1');
    assert.equal(request.body, body);
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['user-agent'], 'psp-webhook/1.0');
    assert.equal(request.headers['x-psp-event-id'], `evt_${eventId}`);
    const { t, v1, v2 } = signatureOf(request);
    assert.equal(request.headers['x-psp-timestamp'], t);
    assert.ok(Number(t) >= from_s && Number(t) <= to_s, 'the timestamp is that of the attempt');
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
    const { eventId: later } = await writeEvent(harness.pool, shop);
    await untilAttempted(later, 1);
    assert.equal(receiver.received.length, 2, 'what is due in its lane was sent, and not it');
    await laterThan(receiver.received[0]);
    clock.advance({ seconds: 12 });
    await receiver.until(3);
    const [first, , second] = receiver.received;
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
      worker.wake([{ merchantId: shop.merchantId, lane }]);
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
    const written = [
      await writeEvent(harness.pool, shop, { event: 'payment.succeeded' }),
      await writeEvent(harness.pool, shop, { event: 'payment.failed' }),
    ];
    await receiver.until(3);
    const made = await Promise.all(written.map(({ eventId }) => deliveriesOf(harness, eventId)));
    assert.equal(made.flat().length, 3);
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
    await harness.pool.query(
      "update webhook_endpoint set created_at = created_at - interval '1 minute' where id = $1",
      [oldest.id],
    );
    await harness.addEndpoint(shop, `${receiver.url}/newer`);
    const { eventId, body } = await writeEvent(harness.pool, shop, { url: `${receiver.url}/own` });
    await receiver.until(1);
    assert.deepEqual(
      (await deliveriesOf(harness, eventId)).map(({ url }) => url),
      [`${receiver.url}/own`],
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

/** Ends the delivery of what an endpoint still has before it. */
const disable = ({ shopId }: { readonly shopId: string }): Promise<unknown> =>
  harness.pool.query('update webhook_endpoint set active = false where shop_id = $1', [shopId]);

describe('a slow receiver', () => {
  test('with four hundred deliveries before it does not delay others: they come as if it were not there', async (context) => {
    const held: ServerResponse[] = [];
    const slow = await startReceiver(context, (response) => void held.push(response));
    const healthy = await startReceiver(context, (response) => response.end());
    const [its, other] = [await harness.addShop(), await harness.addShop()];
    await harness.addEndpoint(its, slow.url);
    await harness.addEndpoint(other, healthy.url);
    await Promise.all(Array.from({ length: 400 }, () => writeEvent(harness.pool, its)));
    // Each of the healthy one's comes while ten of the slow one's wait for an answer.
    for (let index = 0; index < 20; index += 1) {
      await slow.until(10 + index);
      await writeEvent(harness.pool, other);
      await healthy.until(index + 1);
      held.shift()?.end();
    }
    assert.equal(slow.atOnce_max, 10);
    await disable(its);
  });
});

describe('a bad receiver', () => {
  test('that hangs, breaks off or never ends its answer does not delay others', async (context) => {
    const hanging = await startReceiver(context, () => {});
    const breaking = await startReceiver(context, (response) => response.destroy());
    const endless = await startReceiver(context, flowOn);
    const stalling = await startReceiver(context, (response) =>
      response.writeHead(500).write('half'),
    );
    const healthy = await startReceiver(context, (response) => response.end());
    const shops: Shop[] = [];
    for (const receiver of [hanging, breaking, endless, stalling]) {
      const shop = await harness.addShop();
      shops.push(shop);
      await harness.addEndpoint(shop, receiver.url);
      for (let index = 0; index < 25; index += 1) await writeEvent(harness.pool, shop);
    }
    await Promise.all([hanging.until(10), breaking.until(1), endless.until(1), stalling.until(10)]);
    const shop = await harness.addShop();
    await harness.addEndpoint(shop, healthy.url);
    const { eventId } = await writeEvent(harness.pool, shop);
    await untilAttempted(eventId, 1);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'delivered');
    assert.equal(hanging.received.length, 10, 'ten at once and no more');
    await Promise.all(shops.map(disable));
  });

  test('has an attempt that ends at its deadline, with what was received until then', async (context) => {
    const own = await openHarness();
    context.after(() => own.close());
    const deadline_ms = 5_000;
    const workerWithShortLease = await startWorker(own, clock, {
      deadline_ms,
      leaseMargin_ms: 5_000,
    });
    startTestRelay(own, workerWithShortLease.wake);
    const lastOf = async (answer: (response: ServerResponse) => void): Promise<Attempt> => {
      const receiver = await startReceiver(context, answer);
      const shop = await own.addShop();
      await own.addEndpoint(shop, receiver.url);
      const { eventId } = await writeEvent(own.pool, shop);
      await untilAttempted(eventId, 1, own);
      return (await attemptsOf(own, eventId))[0] ?? assert.fail();
    };
    const [hanging, breaking, endless, stalling] = await Promise.all([
      lastOf(() => {}),
      lastOf((response) => response.destroy()),
      lastOf(flowOn),
      lastOf((response) => response.writeHead(500).write('half')),
    ]);
    const late = `no complete answer within ${deadline_ms} ms`;
    assert.deepEqual(pick(hanging), { status: null, error: late });
    assert.equal(breaking.status, null);
    // Its status came in time; the body is read to its limit and dropped.
    assert.deepEqual(pick(endless), { status: 200, error: null });
    assert.equal(endless.response_head, 'x'.repeat(1_024));
    assert.deepEqual(pick(stalling), { status: 500, error: late });
  });

  test('without a listener is tried again', async () => {
    const shop = await harness.addShop();
    // A released port is soon used again.
    await harness.addEndpoint(shop, 'http://127.0.0.1:1/');
    const { eventId } = await writeEvent(harness.pool, shop);
    await untilAttempted(eventId, 1);
    assert.match((await attemptsOf(harness, eventId))[0]?.error ?? '', /ECONNREFUSED/);
    assert.equal((await deliveriesOf(harness, eventId))[0]?.status, 'pending');
  });
});

/** An answer without an end. */
const flowOn = (response: ServerResponse): void => {
  const flow = setInterval(() => response.write('x'.repeat(8_192)), 5);
  response.on('close', () => clearInterval(flow));
};

const pick = (attempt: Attempt) => ({ status: attempt.status, error: attempt.error });
