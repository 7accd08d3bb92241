/** The event log both ways: each event once, whatever its page and its filters. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'graphql';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plantMany, type Planted } from './planted-rows.ts';

const events = 30;

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let plot: Planted;
before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  plot = await plantMany(pool, 'log', events, 0);
  await pool.query('update event set sequence = position');
  await pool.query(
    `update event set webhook_event = 'payment.failed' where merchant_id = $1 and sequence % 3 = 0`,
    [plot.id('merchant')],
  );
});
after(() => harness?.close());

const document =
  parse(`query ($m: ID!, $s: ID!, $first: Int, $after: String, $events: [WebhookEvent!], $newestFirst: Boolean!) {
  eventLog(merchantId: $m, shopId: $s, mode: test, first: $first, after: $after, events: $events, newestFirst: $newestFirst) {
    items { id event } hasMore lastId } }`);

/** Every page, one way or the other. */
const read = async (newestFirst: boolean, wanted: readonly string[] | null = null) => {
  const principal: Principal = {
    kind: 'operator',
    subject: 'o',
    role: 'viewer',
    merchantId: plot.id('merchant'),
  };
  const found: { readonly id: string; readonly event: string }[] = [];
  for (let after: string | null = null, more = true; more;) {
    const variables = { m: plot.id('merchant'), s: plot.id('shop'), first: 7, after };
    const { data, errors }: any = await harness.supergraph.execute(
      { document, variables: { ...variables, events: wanted, newestFirst } },
      { principal, requestId: 'r', isInLane: true },
    );
    assert.equal(errors, undefined);
    found.push(...data.eventLog.items);
    more = data.eventLog.hasMore;
    after = data.eventLog.lastId;
  }
  return found;
};

test('newest first is oldest first turned round, each event once', async () => {
  const oldest = await read(false);
  const newest = await read(true);
  assert.equal(new Set(oldest.map(({ id }) => id)).size, events);
  assert.deepEqual(newest.toReversed(), oldest);
});

test('of one kind the pages are narrowed, both ways', async () => {
  const oldest = await read(false, ['payment_failed']);
  assert.ok(oldest.length > 7 && oldest.length < events, `${oldest.length} events`);
  assert.ok(oldest.every(({ event }) => event === 'payment_failed'));
  assert.deepEqual((await read(true, ['payment_failed'])).toReversed(), oldest);
});
