/**
 * Where webhooks fail, counted by shop and address. Whatever one merchant has failing, the others
 * stand beside it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { parse } from 'graphql';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

const many = 3_000;
const origins = 400;
const merchants = 520;

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let loud: Planted;
let quiet: Planted;
const started = Temporal.Now.instant();
const minutesAgo = (minutes: number): string => started.subtract({ minutes }).toString();

/** Copies a merchant's failed delivery: so many, a second apart and ending `minutes` ago. */
const copy = (of: Planted, count: number, minutes: number, changes: string): Promise<unknown> =>
  harness.database.pool.query(
    `insert into webhook_delivery select changed.* from webhook_delivery as original, generate_series(1, $2::int) as copy(number),
       lateral jsonb_populate_record(original, jsonb_build_object('id', md5($3 || copy.number)::uuid, 'event_id', md5($3 || copy.number)::uuid,
         'created_at', $3::text::timestamptz - copy.number * interval '10 milliseconds') || ${changes}) as changed
     where original.merchant_id = $1 and original.id = $4`,
    [of.id('merchant'), count, minutesAgo(minutes), of.id('webhook_delivery')],
  );

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const owner = () => ({ merchant: randomUUID(), shop: randomUUID() });
  loud = await plant(pool, 'loud', owner());
  quiet = await plant(pool, 'quiet', owner());
  // As deliveries to an endpoint have it.
  await pool.query('update webhook_delivery set lane = endpoint_id::text');
  await copy(loud, many, 20, `'{}'::jsonb`);
  await copy(
    loud,
    origins,
    10,
    `jsonb_build_object('lane', 'https://o' || copy.number, 'endpoint_id', null)`,
  );
  await copy(quiet, 1, 15, `'{"status": "delivered"}'::jsonb`);
});
after(() => harness?.close());

const operator = (merchantId: string | null = null): Principal => ({
  kind: 'operator',
  subject: 'o',
  role: 'viewer',
  merchantId,
});

const document =
  parse(`query ($merchantId: ID, $mode: Mode! = test, $shopId: ID, $since: DateTime) {
  webhookFailures(merchantId: $merchantId, mode: $mode, shopId: $shopId, since: $since) {
    hasMore nodes { merchantId shopId endpointId url oldestAt count { count isExact } } } }`);
const ask = async (variables: Record<string, unknown> = {}, principal = operator()) => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables },
    { principal, requestId: 'r', isInLane: true },
  );
  return errors ? errors[0]?.extensions['code'] : JSON.parse(JSON.stringify(data)).webhookFailures;
};
const of = (plot: Planted, found: any): any[] =>
  found.nodes.filter(({ merchantId }: any) => merchantId === plot.id('merchant'));

describe('failed webhooks by address', () => {
  test('of one merchant with thousands do not hide the one of another', async () => {
    const found = await ask();
    const [one, ...others] = of(quiet, found);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [one.shopId, one.endpointId, one.count],
      [quiet.id('shop'), quiet.id('webhook_endpoint'), { count: 1, isExact: true }],
    );
    const loudest = of(loud, found);
    assert.equal(loudest.length, 5, 'five addresses of each merchant are looked at');
    assert.equal(found.hasMore, true);
  });

  test('of one merchant are counted up to a bound, the oldest failure first', async () => {
    const found = await ask({ merchantId: loud.id('merchant') });
    const toEndpoint = of(loud, found).filter(({ endpointId }) => endpointId !== null);
    const [busiest] = toEndpoint;
    assert.deepEqual(busiest.count, { count: 1_000, isExact: false });
    assert.ok(busiest.oldestAt < minutesAgo(20), busiest.oldestAt);
    assert.equal(found.nodes.length, 100);
    assert.equal(found.hasMore, true);
    const moments = found.nodes.map(({ oldestAt }: any) => oldestAt);
    assert.deepEqual(moments, moments.toSorted());
    assert.ok(found.nodes.every((node: any) => node.merchantId === loud.id('merchant')));
  });

  test('are those of one mode', async () => {
    assert.deepEqual(await ask({ mode: 'live' }), { hasMore: false, nodes: [] });
    assert.notEqual((await ask()).nodes.length, 0);
  });

  test('are those since a moment, of a shop, and within the reach of who asks', async () => {
    const since = minutesAgo(12);
    const later = await ask({ merchantId: loud.id('merchant'), since });
    assert.ok(later.nodes.every(({ oldestAt }: any) => oldestAt >= since));
    assert.deepEqual(await ask({ merchantId: quiet.id('merchant'), shopId: loud.id('shop') }), {
      hasMore: false,
      nodes: [],
    });
    const ownShop = await ask({ merchantId: quiet.id('merchant'), shopId: quiet.id('shop') });
    assert.equal(ownShop.nodes.length, 1);
    const own = await ask({}, operator(quiet.id('merchant')));
    assert.equal(own.nodes.length, 1);
    assert.equal(own.nodes[0].merchantId, quiet.id('merchant'));
    assert.equal(
      await ask({ merchantId: loud.id('merchant') }, operator(quiet.id('merchant'))),
      'not_found',
    );
    assert.equal(await ask({ since: minutesAgo(32 * 24 * 60) }), 'bad_request');
    assert.equal(await ask({ merchantId: quiet.id('merchant'), shopId: 'none' }), 'bad_request');
  });

  test('of more merchants than are looked at say that there are more', async () => {
    await harness.database.pool.query(
      `insert into merchant select changed.* from merchant as original, generate_series(1, $2::int) as copy(number),
         lateral jsonb_populate_record(original, jsonb_build_object('id', md5('other' || copy.number)::uuid)) as changed
       where original.id = $1`,
      [quiet.id('merchant'), merchants],
    );
    await harness.database.pool.query(
      `insert into webhook_delivery select changed.* from webhook_delivery as original, generate_series(1, $2::int) as copy(number),
         lateral jsonb_populate_record(original, jsonb_build_object('merchant_id', md5('other' || copy.number)::uuid)) as changed
       where original.merchant_id = $1 and original.id = $3`,
      [quiet.id('merchant'), merchants, quiet.id('webhook_delivery')],
    );
    const found = await ask();
    assert.equal(found.nodes.length, 100);
    assert.equal(found.hasMore, true);
    // It still knows a merchant's own.
    const own = await ask({ merchantId: quiet.id('merchant') });
    assert.deepEqual([own.nodes.length, own.hasMore], [1, false]);
  });
});
