import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import { watchWebhookBacklog } from '../../subgraphs/merchants/webhooks/webhook-backlog.ts';
import { attemptsOf } from './record.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import {
  Clock,
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

/** The two gauges as a scrape shows them. */
const scrape = async (): Promise<{ readonly states: string; readonly oldest_s: number }> => {
  const text = await metrics.metrics();
  const of = (pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
  const states = ['unrelayed', 'untried', 'retrying'].map((state) =>
    of(new RegExp(`webhook_backlog\\{state="${state}"\\} (\\S+)`)),
  );
  return { states: states.join(' '), oldest_s: of(/^webhook_oldest_undelivered_seconds (\S+)/m) };
};

test('the metrics show what is not relayed, not tried and not delivered, and how old the oldest of it is', async (context) => {
  context.after(watchWebhookBacklog(harness.pool));
  assert.deepEqual(await scrape(), { states: '0 0 0', oldest_s: 0 });
  let isHealthy = false;
  const receiver = await startReceiver(context, (response) =>
    response.writeHead(isHealthy ? 200 : 500).end(),
  );
  const shop = await harness.addShop();
  await harness.addEndpoint(shop, receiver.url);
  const written = [await writeEvent(harness.pool, shop), await writeEvent(harness.pool, shop)];
  await harness.pool.query(
    `update event set created_at = created_at - interval '1 hour' where id = $1`,
    [written[0]?.eventId],
  );
  const waiting = await scrape();
  assert.equal(waiting.states, '2 0 0');
  assert.ok(waiting.oldest_s >= 3_600 && waiting.oldest_s < 4_000, `${waiting.oldest_s} s`);

  const relay = startTestRelay(harness, async () => {});
  context.after(() => relay.stop());
  const seen = async (states: string): Promise<void> => {
    await eventually(
      async () => (await scrape()).states === states,
      () => `not ${states}`,
    );
  };
  await seen('0 2 0');
  const clock = new Clock();
  const worker = await startWorker(harness, clock);
  context.after(() => worker.close());
  await seen('0 0 2');
  assert.equal((await attemptsOf(harness, written[0]?.eventId ?? '')).length, 1);
  assert.ok((await scrape()).oldest_s >= 3_600);
  isHealthy = true;
  clock.advance({ seconds: 12 });
  await seen('0 0 0');
  assert.equal((await scrape()).oldest_s, 0);
});
