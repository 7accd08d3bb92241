/**
 * The whole graph over HTTP in a process of its own, with a merchant who has much of everything. It
 * says how long its event loop was held: the test runner, which follows every promise, would be
 * measured with it in its own process.
 */
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import type pg from 'pg';
import { openAuthenticator } from '../../gateway/callers/authenticate.ts';
import type { BearerReader } from '../../gateway/callers/caller.ts';
import { openAddressOf, openOrigins } from '../../subgraphs/platform/access/caller-address.ts';
import { openLiveEvents, storedEvents } from '../../gateway/live/events.ts';
import { openLiveSubscriptions } from '../../gateway/live/subscriptions.ts';
import { limitBy, openBucketsInMemory } from '../../gateway/callers/admit-caller.ts';
import { registerGateway } from '../../gateway/graphql/server.ts';
import { scopes, type Principal } from '../../subgraphs/platform/access/principal.ts';
import { plant } from './planted-rows.ts';
import { log, openGraphHarness } from './harness.ts';

const longText = 'x'.repeat(4_000);

/** Copies the merchant's row of a table so many times. */
const copy = (
  pool: pg.Pool,
  merchantId: string,
  table: string,
  count: number,
  changes: string,
): Promise<unknown> =>
  pool.query(
    `insert into ${table} select changed.* from ${table} as original, generate_series(1, $2) as copy(number),
       lateral jsonb_populate_record(original, jsonb_build_object('id', md5('${table}' || copy.number)::uuid, ${changes})) as changed
     where original.merchant_id = $1`,
    [merchantId, count],
  );

const plantMuch = async (pool: pg.Pool) => {
  const plot = await plant(pool, 'large', { merchant: randomUUID(), shop: randomUUID() });
  const merchantId = plot.id('merchant');
  await pool.query('delete from test_clock');
  await copy(pool, merchantId, 'refund', 49, `'amount', 1`);
  await copy(
    pool,
    merchantId,
    'payment',
    199,
    `'public_id', 'P-9' || copy.number, 'description', '${longText}', 'metadata', jsonb_build_object('a', repeat('y', 500))`,
  );
  await copy(pool, merchantId, 'shop', 499, `'name', 'Shop ' || copy.number`);
  return { merchantId, shopId: plot.id('shop'), paymentId: plot.id('payment') };
};

const harness = await openGraphHarness();
const { bus, supergraph } = harness;
const much = await plantMuch(harness.database.pool);
const { merchantId, shopId } = much;
const principals: Readonly<Record<string, Principal>> = {
  key: { kind: 'key', keyId: randomUUID(), merchantId, shopId, mode: 'test', scopes },
  operator: { kind: 'operator', subject: 'p', role: 'admin', merchantId },
};
const readBearer: BearerReader = (bearer) => {
  const principal = principals[bearer];
  return principal ? Promise.resolve({ principal }) : null;
};
const addressOf = openAddressOf([]);
const authenticator = openAuthenticator({
  supergraph,
  bus,
  vaultKey: Buffer.alloc(32),
  addressOf,
  log,
  operatorToken: null,
  otherReaders: [readBearer],
});
const limiter = limitBy(openBucketsInMemory(), addressOf);
const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log });
const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log });
const app = fastify();
await registerGateway(app, {
  supergraph,
  authenticator,
  limiter,
  liveSubscriptions,
  origins: openOrigins(null, []),
  introspection: true,
  graphiql: false,
  log,
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });

/**
 * The most that one turn of the loop took, in milliseconds of this thread's own processor time:
 * what other programs of the machine do is not in it.
 */
let held_ms = 0;
let before = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before);
  held_ms = Math.max(held_ms, (user + system) / 1_000);
  before = process.threadCpuUsage();
}, 1);
process.on('message', (message) => {
  if (message === 'reset') held_ms = 0;
  process.send?.({ held_ms, rss_bytes: process.memoryUsage().rss });
});
process.once('disconnect', () => {
  void harness.close().finally(() => process.exit(0));
});
process.send?.({ url, ...much });
