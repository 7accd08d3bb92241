/**
 * PostgreSQL's failover by Patroni, as docs/operations.md describes it: the samples of HAProxy, PgBouncer,
 * Patroni and etcd, and payments by REST all the while. The primary is killed with kill -9, and
 * then the other one with the Patroni beside it. Nothing that was answered may be lost, and how
 * long merchants felt it is printed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkBooks } from '../support/check-books.ts';
import { registryOf } from '../crash/books.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openTimedReceiver, startBuyers, type Buyers } from './buyers.ts';
import { startCalling, type SteadyCaller } from './felt-loss.ts';
import { startFleetOn, type Fleet } from './fleet.ts';
import { noFleet } from './outside.ts';
import { noPatroni, startPatroniPair, type PatroniPair } from './patroni-pair.ts';
import { openPool } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

describe('a fleet whose PostgreSQL Patroni watches over', { skip: noPatroni || noFleet }, () => {
  let fleet: Fleet<PatroniPair>;
  let merchant: Merchant;
  let receiver: Awaited<ReturnType<typeof openTimedReceiver>>;
  let load: Buyers;
  let caller: SteadyCaller;
  before(async () => {
    fleet = await startFleetOn(startPatroniPair, 'small');
    receiver = await openTimedReceiver();
    merchant = await makeMerchant(fleet);
    await merchant.endpoint(receiver.url);
    load = startBuyers(merchant, 2);
    caller = startCalling(await makeMerchant(fleet));
    await untilPaid(performance.now());
  });
  after(async () => {
    await load?.stop().catch(() => {});
    await caller?.stop();
    await receiver?.close();
    await fleet?.stop();
  });

  /** Waits until a payment that was begun after this moment is paid and its webhook received. */
  const untilPaid = (from_ms: number): Promise<unknown> =>
    eventually(
      () => load.bought.some((p) => p.begun_ms >= from_ms && receiver.arrivals.has(p.id)),
      'a new payment',
    );

  /** Has the primary lost, and prints what merchants felt of it until the other one works. */
  const losePrimary = async (what: string, lose: () => Promise<void>): Promise<void> => {
    const primary = await fleet.postgres.primary();
    const from_ms = performance.now();
    await lose();
    const promoted_ms = performance.now() - from_ms;
    await untilPaid(performance.now());
    const felt = await caller.felt(from_ms, performance.now());
    process.stdout.write(
      `    ${what}: the other one was the primary after ${(promoted_ms / 1_000).toFixed(1)} s; felt by merchants: ${felt.errors} of ${felt.calls} calls failed, p99 ${felt.p99_ms.toFixed(0)} ms, for ${(felt.felt_ms / 1_000).toFixed(1)} s\n`,
    );
    assert.notEqual(await fleet.postgres.primary(), primary);
    assert.ok(felt.calls > 0, JSON.stringify(felt));
  };

  test('kill -9 of the primary: Patroni promotes the standby', () =>
    losePrimary('kill -9 of the primary', fleet.postgres.failOver));

  test('the one that was lost comes back as the standby by itself, and takes over in its turn when the machine of the primary is lost', async () => {
    await fleet.postgres.rejoin();
    await losePrimary('loss of its machine', fleet.postgres.loseMachine);
    await fleet.postgres.rejoin();
  });

  test('then no payment that was answered is lost, none is doubled, and the books balance', async () => {
    await Promise.all([load.stop(), caller.stop()]);
    assert.deepEqual(load.tally.wrong, []);
    const ids = new Set(load.bought.map(({ id }) => id));
    const endOf = new Map(
      load.bought.map(({ id, isRefunded }) => [id, isRefunded ? 'refunded' : 'succeeded']),
    );
    const look = async (): Promise<any[]> => registryOf(merchant, '/payments');
    const unended = async (): Promise<any[]> =>
      (await look()).filter(({ id, status }) => status !== endOf.get(id));
    await eventually(async () => (await unended()).length === 0, 'every end').catch(() => {});
    assert.deepEqual(await unended(), []);
    const payments = await look();
    assert.deepEqual(new Set(payments.map(({ id }) => id)), ids, 'each order has its payment');
    assert.equal(payments.length, ids.size);
    const paid = payments.filter(({ status }) => status === 'succeeded').length;
    assert.equal((await merchant.call('GET', '/balance')).body.balance, 1_000 * paid);
    const pool = openPool(fleet.databaseUrl, 1);
    const isRight = async (): Promise<boolean> => (await checkBooks({ pool })).length === 0;
    await eventually(isRight, 'right books').finally(() => pool.end());
    process.stdout.write(`    ${payments.length} payments, ${load.tally.calls} calls\n`);
  });
});
