/** Merchants whose receivers hang do not delay others, at an address of their own or a shared one. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import {
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

/** A receiver at every address of loopback, which never answers what is sent to `/hang`. */
const startHanging = async (context: TestContext) => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.headers.host}${request.url}`);
    request.resume();
    if (request.url !== '/hang') response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const { port } = address;
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    urlOf: (nth: number, path: string): string =>
      `http://127.${1 + (nth >> 8)}.${nth & 255}.1:${port}${path}`,
    count: (path: string): number => received.filter((one) => one.endsWith(path)).length,
  };
};

/** Writes an event for each address at one moment. */
const writeAll = async (shop: Shop, urls: readonly string[]): Promise<void> => {
  const client = await harness.pool.connect();
  await client.query('begin');
  for (const url of urls) await writeEvent(client, shop, { url });
  await client.query('commit');
  client.release();
};

/** Longer than any test: what hangs, hangs to the end of the test. */
const limits = { deadline_ms: 900_000, leaseMargin_ms: 900_000 };

const startDelivering = async (context: TestContext): Promise<void> => {
  const worker = await startWorker(harness, undefined, limits);
  const relay = startTestRelay(harness, worker.wake);
  context.after(async () => {
    await relay.stop();
    await worker.close();
    // Attempts that end with their receiver are stored meanwhile, in any order of their rows.
    await harness.pool.query(
      "begin; lock table webhook_delivery in exclusive mode; update webhook_delivery set status = 'failed', lease_until = null; commit",
    );
  });
};

/** Sends a webhook of a merchant who did nothing: it comes, although what hangs keeps hanging. */
const deliverMeanwhile = async (
  { urlOf, count }: Awaited<ReturnType<typeof startHanging>>,
  path: string,
): Promise<void> => {
  await writeEvent(harness.pool, await harness.addShop(), { url: urlOf(0, path) });
  await eventually(
    () => count(path) === 1,
    () => 'the webhook did not come',
  );
};

describe('a merchant whose receivers hang', () => {
  test('does not delay the other at an origin that both use', async (context) => {
    const receiver = await startHanging(context);
    await startDelivering(context);
    const urls = Array.from({ length: 40 }, () => receiver.urlOf(0, '/hang'));
    await writeAll(await harness.addShop(), urls);
    await eventually(
      () => receiver.count('/hang') === 10,
      () => `${receiver.count('/hang')} of 10 hang`,
    );
    await deliverMeanwhile(receiver, '/own');
  });

  test('does not delay the other with hundreds of origins', async (context) => {
    const receiver = await startHanging(context);
    await startDelivering(context);
    const shop = await harness.addShop();
    await writeAll(
      shop,
      Array.from({ length: 330 }, (_, nth) => receiver.urlOf(nth, '/hang')),
    );
    await eventually(
      () => receiver.count('/hang') >= 20,
      () => `${receiver.count('/hang')} hang`,
    );
    for (const path of ['/one', '/two', '/three']) await deliverMeanwhile(receiver, path);
    assert.ok(receiver.count('/hang') <= 60, `${receiver.count('/hang')} of one merchant hang`);
  });

  test('has its own lanes worked one behind the other, none forgotten', async (context) => {
    const receiver = await startHanging(context);
    await startDelivering(context);
    const urls = Array.from({ length: 120 }, (_, nth) => receiver.urlOf(nth, '/fast'));
    await writeAll(await harness.addShop(), [...urls, ...urls]);
    await eventually(
      () => receiver.count('/fast') === 240,
      () => `${receiver.count('/fast')} of 240 came`,
    );
  });
});
