/** One poisoned row does not stop the others: the relay, the claims of lanes, the results of attempts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { StreamedEvent } from '../../subgraphs/rules/event.ts';
import { retryDeadLetters, poison, deadLettersOf } from '../support/poison.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import {
  openHarness,
  startTestRelay,
  startWorker,
  writeEvent,
  type Shop,
  type Harness,
} from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

/** A merchant whose rows are poisoned, and three others. */
const addShops = async (): Promise<readonly [Shop, readonly Shop[]]> => {
  const [bad, ...others] = await Promise.all(Array.from({ length: 4 }, () => harness.addShop()));
  return [bad ?? assert.fail(), others];
};

const left = async (where: string): Promise<number> =>
  (await harness.pool.query(`select 1 from ${where}`)).rows.length;

test('an event whose deliveries cannot be made is set aside by the relay; all others get their numbers, and it gets a later one when it can', async (context) => {
  const [bad, others] = await addShops();
  for (const shop of [bad, ...others]) await harness.addEndpoint(shop, 'https://shop.example/hook');
  const cure = await poison(harness.pool, 'webhook_delivery', 'insert', bad.merchantId);
  const poisoned = await writeEvent(harness.pool, bad);
  for (const shop of [...others, ...others]) await writeEvent(harness.pool, shop);
  const published: StreamedEvent[] = [];
  const relay = startTestRelay(harness, async () => {}, published);
  context.after(() => relay.stop());
  await eventually(
    () => published.length === 6,
    () => `${published.length} of 6 published`,
  );
  assert.ok(published.every(({ merchantId }) => merchantId !== bad.merchantId));
  assert.deepEqual(await deadLettersOf(harness.pool, bad.merchantId), {
    subjects: [`relay ${poisoned.eventId}`],
    alerts: ['relay'],
  });
  await cure();
  await retryDeadLetters(harness.pool);
  await eventually(
    () => published.length === 7,
    () => `${published.length} of 7 published`,
  );
  const numbers = published.map(({ sequence }) => Number(sequence));
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  );
  assert.equal(published.at(-1)?.merchantId, bad.merchantId);
  await relay.stop();
});

test('a delivery that cannot be claimed is set aside, and those of other merchants to the same and other addresses are sent', async (context) => {
  const receiver = await startReceiver(context, (response) => response.end());
  const [bad, others] = await addShops();
  for (const shop of [bad, ...others])
    await writeEvent(harness.pool, shop, { url: `${receiver.url}/own` });
  const second = await startReceiver(context, (response) => response.end());
  for (const shop of others) await writeEvent(harness.pool, shop, { url: `${second.url}/own` });
  const relay = startTestRelay(harness, async () => {});
  await eventually(
    async () => (await left('event where sequence is null')) === 0,
    () => 'events are left',
  );
  await relay.stop();
  const cure = await poison(harness.pool, 'webhook_delivery', 'update', bad.merchantId);
  const worker = await startWorker(harness);
  await receiver.until(others.length);
  await second.until(others.length);
  await eventually(
    async () =>
      (await deadLettersOf(harness.pool, bad.merchantId)).alerts.includes('deliver-webhooks'),
    () => 'it was not set aside',
  );
  assert.equal(receiver.received.length, others.length);
  await cure();
  await retryDeadLetters(harness.pool);
  await receiver.until(others.length + 1);
  await worker.close();
});

test('a result that cannot be stored sends no other webhook again, and its own waits for a while', async (context) => {
  const receiver = await startReceiver(context, (response) => response.end());
  const [bad, others] = await addShops();
  for (const shop of [bad, ...others]) await harness.addEndpoint(shop, receiver.url);
  for (const shop of [bad, ...others]) await writeEvent(harness.pool, shop);
  const cure = await poison(harness.pool, 'webhook_attempt', 'insert', bad.merchantId);
  // Nothing of these tables has the merchant but the row itself.
  const relay = startTestRelay(harness, async () => {});
  const worker = await startWorker(harness);
  await receiver.until(4);
  const ids = others.map(({ merchantId }) => `'${merchantId}'`).join(', ');
  await eventually(
    async () =>
      (await left(`webhook_delivery where merchant_id in (${ids}) and status = 'delivered'`)) ===
      others.length,
    () => 'deliveries of others are not stored',
  );
  await eventually(
    async () =>
      (await deadLettersOf(harness.pool, bad.merchantId)).alerts.includes('deliver-webhooks'),
    () => 'it was not set aside',
  );
  assert.equal(await left(`webhook_delivery where merchant_id in (${ids}) and attempts > 1`), 0);
  await relay.stop();
  await worker.close();
  await cure();
});
