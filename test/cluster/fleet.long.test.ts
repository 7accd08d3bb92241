/**
 * The service as a fleet (test/cluster/fleet.ts) under load: rolling restarts, kill -9 of
 * everything, the loss of Redis, and PostgreSQL's failover to its standby. Nothing may be lost and
 * nothing doubled, and how long it takes to be back is printed, and what merchants felt of it.
 * Every role has a process of its own, and each is lost. `npm test` has the same roles in
 * test/scenarios, and loses them, Redis and PostgreSQL in test/crash.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkBooks } from '../support/check-books.ts';
import { registryOf } from '../crash/books.ts';
import { onePayment } from '../scenarios/one-payment.ts';
import { refunds } from '../scenarios/refunds.ts';
import { tokens } from '../scenarios/tokens.ts';
import { payByCard } from '../support/buyer.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { startCalling, type Felt, type SteadyCaller } from './felt-loss.ts';
import { noFleet } from './outside.ts';
import {
  followStream,
  openTimedReceiver,
  startBuyers,
  type Bought,
  type Buyers,
} from './buyers.ts';
import { openPool } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const buyers = 3;

/** What merchants may feel of a loss: no call that fails, or as many as there are. */
type Cost = 'no error' | 'errors';

describe(
  'a fleet: two of each role behind HAProxy, PostgreSQL with a standby behind PgBouncer, a Redis Cluster of three',
  { skip: noFleet },
  () => {
    let fleet: Fleet;
    let merchant: Merchant;
    let receiver: Awaited<ReturnType<typeof openTimedReceiver>>;
    let stream: ReturnType<typeof followStream>;
    let load: Buyers;
    let caller: SteadyCaller;

    before(async () => void (fleet = await startFleet('whole')));
    after(async () => {
      await load?.stop().catch(() => {});
      await caller?.stop();
      await stream?.stop();
      await receiver?.close();
      await fleet?.stop();
    });

    /**
     * Has something happen, and prints how long it takes until a payment that was begun after it is
     * paid and its webhook received (a second of that is the bank's).
     */
    const recover = async (
      what: string,
      happen: () => Promise<void>,
      cost: Cost = 'errors',
    ): Promise<void> => {
      const from_ms = performance.now();
      const happening = happen();
      const received = (): number | undefined =>
        load.bought
          .flatMap(({ id, begun_ms }) =>
            begun_ms >= from_ms ? (receiver.arrivals.get(id) ?? []) : [],
          )
          .toSorted((a, b) => a - b)[0];
      const [at_ms] = await Promise.all([
        eventually(received, `a webhook after ${what}`),
        happening,
      ]);
      process.stdout.write(
        `    ${what}: ${((at_ms - from_ms) / 1_000).toFixed(1)} s until a new payment was paid and published\n`,
      );
      await fleet.untilWhole();
      hold(what, await caller.felt(from_ms, performance.now()), cost);
    };

    /** Prints what merchants felt, and holds what it may cost them. */
    const hold = (what: string, felt: Felt, cost: Cost): void => {
      process.stdout.write(
        `      felt by merchants: ${felt.errors} of ${felt.calls} calls failed, ${felt.errorsPerSecond_max} in the worst second, p99 ${felt.p99_ms.toFixed(0)} ms, for ${(felt.felt_ms / 1_000).toFixed(1)} s\n`,
      );
      const text = `${what}: ${JSON.stringify(felt)}`;
      assert.ok(felt.calls > 0, text);
      if (cost === 'no error') assert.equal(felt.errors, 0, text);
    };

    describe('the scenarios of merchants', { concurrency: 3 }, () => {
      onePayment(() => fleet);
      test('a payout is paid from what a payment brought, and published', async () => {
        const received = await openTimedReceiver();
        const paid = await makeMerchant(fleet);
        await paid.endpoint(received.url);
        const created = await paid.call('POST', '/payments', { amount: 10_000, method: 'cards' });
        await payByCard(created.body.payment_url);
        await received.until(({ body }) => body.data.id === created.body.payment.id);
        const recipient = {
          method: 'payouts_sbp',
          phone: '+79161234567',
          bank_id: '100000000111',
          full_name: 'Ivan Petrov',
        };
        const payout = await paid.call('POST', '/payouts', { amount: 1_000, ...recipient });
        assert.equal(payout.status, 201, JSON.stringify(payout.body));
        await received.until(
          ({ body }) => body.event.startsWith('payout.') && body.data.id === payout.body.payout.id,
        );
        assert.equal((await paid.call('GET', '/balance')).body.balance, 9_000);
        await received.close();
      });
      refunds(() => fleet);
      tokens(() => fleet);
    });

    test('a rolling restart of every process under load loses no request', async () => {
      receiver = await openTimedReceiver();
      merchant = await makeMerchant(fleet);
      await merchant.endpoint(receiver.url);
      stream = followStream(merchant, fleet.rest);
      load = startBuyers(merchant, buyers);
      caller = startCalling(await makeMerchant(fleet));
      for (const turn of [1, 2]) {
        const places = fleet.places.filter(({ number }) => number === turn);
        await recover(
          `restart of processes ${turn} of each role`,
          async () =>
            void (await Promise.all(places.map((place) => fleet.replace(place, 'SIGTERM')))),
          'no error',
        );
      }
      const { calls, unavailable, broken, wrong } = load.tally;
      process.stdout.write(`    ${calls} calls, ${unavailable} to be made again\n`);
      assert.deepEqual({ wrong, broken }, { wrong: [], broken: 0 });
    });

    test('kill -9 of each kind of process, of the nodes of Redis, of PgBouncer and of HAProxy', async () => {
      for (const place of fleet.places.filter(({ number }) => number === 2))
        await recover(
          `kill -9 of ${place.roles}`,
          () => fleet.replace(place, 'SIGKILL'),
          'no error',
        );
      const { redis, pgbouncer, haproxy } = fleet;
      const lose = (nodes: readonly number[]) => async (): Promise<void> => {
        await Promise.all(nodes.map(redis.kill));
        await Promise.all(nodes.map(redis.revive));
      };
      await recover('kill -9 of the Redis node with the queues', lose([await redis.queueNode()]));
      await recover('kill -9 of all Redis nodes', lose([0, 1, 2]));
      await recover('kill -9 of PgBouncer', () => pgbouncer.replace());
      await recover('kill -9 of HAProxy', () => haproxy.replace());
    });

    test('kill -9 of the primary PostgreSQL, and its standby takes over', async () => {
      const { failOver, rejoin } = fleet.postgres;
      await recover('failover of PostgreSQL', failOver);
      await recover('return of the lost PostgreSQL as the standby', rejoin);
      await recover('failover of PostgreSQL to the one that was lost before', failOver);
    });

    test('then nothing is lost and nothing is doubled', async () => {
      await Promise.all([load.stop(), caller.stop()]);
      assert.deepEqual(load.tally.wrong, []);
      const look = async (): Promise<any[]> => {
        const found = new Map(
          (await registryOf(merchant, '/payments')).map((payment) => [payment.id, payment]),
        );
        assert.equal(found.size, load.bought.length, 'one payment for each order');
        return load.bought.map(({ id }) => found.get(id));
      };
      const endOf = ({ isRefunded }: Bought): string => (isRefunded ? 'refunded' : 'succeeded');
      const unended = async (): Promise<any[]> => {
        payments = await look();
        return payments.filter(
          (payment, index) => payment.status !== endOf(load.bought[index] ?? assert.fail()),
        );
      };
      let payments: any[] = [];
      // A refund that its bank was not reached with at once is asked about later.
      await eventually(async () => (await unended()).length === 0, 'the end of every refund').catch(
        () => {},
      );
      assert.deepEqual(await unended(), []);
      const { body: balance } = await merchant.call('GET', '/balance');
      assert.equal(
        balance.balance,
        1_000 * payments.filter(({ status }) => status === 'succeeded').length,
      );

      const kindsOf = (status: string): string[] =>
        status === 'refunded' ? ['payment.refunded', 'payment.succeeded'] : [`payment.${status}`];
      const receivedOf = (id: string): string[] => {
        const events = receiver.received.flatMap(({ body }): string[] =>
          body.data.id === id ? [body.event] : [],
        );
        return [...new Set(events)].toSorted();
      };
      const wanted = payments.map(({ status }) => kindsOf(status));
      await eventually(
        () => payments.every(({ id }, index) => receivedOf(id).length === wanted[index]?.length),
        'every webhook',
      );
      assert.deepEqual(
        payments.map(({ id }) => receivedOf(id)),
        wanted,
      );
      assert.equal(
        new Set(receiver.received.map(({ body }) => body.id)).size,
        wanted.flat().length,
        'one event for each fact',
      );
      const streamed = (id: string, status: string): boolean =>
        stream
          .events()
          .some(({ data }) => data.payload.id === id && data.payload.status === status);
      await eventually(
        () => payments.every(({ id, status }) => streamed(id, status)),
        'every event on the stream',
      );

      const pool = openPool(fleet.databaseUrl, 1);
      await eventually(
        async () => (await checkBooks({ pool })).length === 0,
        'right books',
      ).finally(() => pool.end());
      process.stdout.write(
        `    ${payments.length} payments; ${JSON.stringify({ ...load.tally, wrong: 0 })}\n`,
      );
    });
  },
);
