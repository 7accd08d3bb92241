/**
 * The service as a fleet (test/cluster/fleet.ts) under load: rolling restarts, kill -9 of everything, the loss of Redis, and PostgreSQL's failover to its
 * standby. Nothing may be lost and nothing doubled, and how long it takes to be back is printed. `npm run test:cluster` has every role in a process of its own
 * and loses each; in `npm test -- test/cluster` the roles share processes, and one of each kind is lost.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { checkBooks } from '../../subgraphs/kernel/ledger/books/check-books.ts';
import { registryOf } from '../crash/books.ts';
import { payByCard } from '../support/buyer.ts';
import { eventually, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { startFleet, type Fleet, type Place } from './fleet.ts';
import { noFleet } from './outside.ts';
import { followStream, openTimedReceiver, startShoppers, type Shoppers } from './shoppers.ts';

const layout = process.env['FLEET'] === 'whole' ? 'whole' : 'small';
const shoppers = 3;
const recoveryPatience_ms = 180_000;

describe('a fleet: two of each role behind HAProxy, PostgreSQL with a standby behind PgBouncer, a Redis Cluster of three', { skip: noFleet }, () => {
  let fleet: Fleet;
  let merchant: Merchant;
  let receiver: Awaited<ReturnType<typeof openTimedReceiver>>;
  let stream: ReturnType<typeof followStream>;
  let load: Shoppers;

  before(async () => {
    fleet = await startFleet(layout);
    merchant = await makeMerchant(fleet);
  });
  after(async () => {
    await load?.stop().catch(() => {});
    await stream?.stop();
    await receiver?.close();
    await fleet?.stop();
  });

  /** Has something happen, and prints how long it takes until a payment that was begun after it is paid and told of (a second of that is the bank's). */
  const recover = async (what: string, happen: () => Promise<void>): Promise<void> => {
    const from_ms = performance.now();
    const happening = happen();
    const told = (): number | undefined =>
      load.bought.flatMap(({ id, begun_ms }) => (begun_ms >= from_ms ? (receiver.arrivals.get(id) ?? []) : [])).toSorted((a, b) => a - b)[0];
    const at_ms = await eventually(told, `a webhook after ${what}`, recoveryPatience_ms);
    await happening;
    process.stdout.write(`    ${what}: ${((at_ms - from_ms) / 1_000).toFixed(1)} s until a new payment was paid and told of\n`);
  };

  test('a payment is paid, told of, refunded and paid out', async () => {
    const told = await openReceiver();
    await merchant.endpoint(told.url);
    const created = await merchant.call('POST', '/payments', { amount: 10_000, method: 'cards' }, { 'idempotency-key': 'first' });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await payByCard(created.body.payment_url);
    const { id } = created.body.payment;
    await told.until(({ body }) => body.event === 'payment.succeeded' && body.data.id === id);
    const refund = await merchant.call('POST', `/payments/${id}/refund`, { amount: 4_000 });
    assert.equal(refund.status, 201, JSON.stringify(refund.body));
    const recipient = { method: 'payouts_sbp', phone: '+79161234567', bank_id: '100000000111', full_name: 'Ivan Petrov' };
    const payout = await merchant.call('POST', '/payouts', { amount: 1_000, ...recipient });
    assert.equal(payout.status, 201, JSON.stringify(payout.body));
    await told.until(({ body }) => body.event.startsWith('payout.') && body.data.id === payout.body.payout.id);
    assert.equal((await merchant.call('GET', '/balance')).body.balance, 5_000);
    await told.close();
  });

  test('a rolling restart of every process under load loses no request', async () => {
    receiver = await openTimedReceiver();
    merchant = await makeMerchant(fleet);
    await merchant.endpoint(receiver.url);
    stream = followStream(merchant, fleet.rest);
    load = startShoppers(merchant, shoppers);
    for (const turn of [1, 2]) {
      const places = fleet.places.filter(({ number }) => number === turn);
      await recover(`restart of processes ${turn} of each role`, async () => void (await Promise.all(places.map((place) => fleet.replace(place, 'SIGTERM')))));
      await eventually(() => fleet.isSeen(turn), 'HAProxy to see them', 60_000);
    }
    const { calls, unavailable, broken, wrong } = load.tally;
    process.stdout.write(`    ${calls} calls, ${unavailable} to be made again\n`);
    assert.deepEqual({ wrong, broken }, { wrong: [], broken: 0 });
  });

  test('kill -9 of each kind of process, a node of Redis, all of Redis, and PgBouncer', async () => {
    for (const place of fleet.places.filter(({ number }) => number === 2)) {
      await recover(`kill -9 of ${nameOf(place)}`, () => fleet.replace(place, 'SIGKILL'));
    }
    const { redis } = fleet;
    const node = await redis.queueNode();
    const lose = (nodes: readonly number[]) => async (): Promise<void> => {
      await Promise.all(nodes.map(redis.kill));
      await Promise.all(nodes.map(redis.revive));
    };
    await recover('kill -9 of the Redis node with the queues', lose([node]));
    if (layout === 'whole') await recover('kill -9 of all Redis nodes', lose([0, 1, 2]));
    await recover('kill -9 of PgBouncer', () => fleet.pgbouncer.replace());
  });

  test('kill -9 of the primary PostgreSQL, and its standby takes over', async () => {
    await recover('failover of PostgreSQL', () => fleet.failOver());
  });

  test('then nothing is lost and nothing is doubled', async () => {
    await load.stop();
    assert.deepEqual(load.tally.wrong, []);
    const payments = await Promise.all(load.bought.map(async ({ id }) => (await merchant.call('GET', `/payments/${id}`)).body));
    const lost = payments.filter(({ status }) => status === 'failed');
    // The card of a buyer whose process died on the way to the bank is nowhere: nothing was paid, and he pays again.
    assert.deepEqual(new Set(lost.map(({ metadata }) => metadata.bank_failure_code)), new Set(lost.length > 0 ? ['simulator:unseen'] : []));
    const expected = load.bought.map(({ isRefunded }, index) => (payments[index].status === 'failed' ? 'failed' : isRefunded ? 'refunded' : 'succeeded'));
    assert.deepEqual(
      payments.map(({ status }) => status),
      expected,
    );
    assert.equal((await registryOf(merchant, '/payments')).length, load.bought.length, 'one payment for each order');
    const { body: balance } = await merchant.call('GET', '/balance');
    assert.equal(balance.balance, 1_000 * expected.filter((status) => status === 'succeeded').length);

    const kindsOf = (status: string): string[] => (status === 'refunded' ? ['payment.refunded', 'payment.succeeded'] : [`payment.${status}`]);
    const toldOf = (id: string): string[] => {
      const events = receiver.received.flatMap(({ body }): string[] => (body.data.id === id ? [body.event] : []));
      return [...new Set(events)].toSorted();
    };
    const wanted = payments.map(({ status }) => kindsOf(status));
    await eventually(() => payments.every(({ id }, index) => toldOf(id).length === wanted[index]?.length), 'every webhook', 120_000);
    assert.deepEqual(
      payments.map(({ id }) => toldOf(id)),
      wanted,
    );
    assert.equal(new Set(receiver.received.map(({ body }) => body.id)).size, wanted.flat().length, 'one event for each fact');
    const streamed = (id: string, status: string): boolean => stream.events().some(({ data }) => data.payload.id === id && data.payload.status === status);
    await eventually(() => payments.every(({ id, status }) => streamed(id, status)), 'every event on the stream', 60_000);

    const pool = new pg.Pool({ connectionString: fleet.databaseUrl, max: 1 });
    await eventually(async () => (await checkBooks({ pool })).length === 0, 'right books', 60_000).finally(() => pool.end());
    process.stdout.write(
      `    ${payments.length} payments, ${lost.length} of which lost their card on the way; ${JSON.stringify({ ...load.tally, wrong: 0 })}\n`,
    );
  });
});

const nameOf = ({ roles, number }: Place): string => `${roles.replaceAll('subgraph ', '')} (${number})`;
