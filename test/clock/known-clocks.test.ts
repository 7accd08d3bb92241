/** Which merchants have clocks, as a process knows it while the list is being read. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { TestClocks } from '../../subgraphs/platform/clock/test-clocks.ts';
import type { Runner } from '../../subgraphs/platform/database/statement.ts';
import { openBus } from '../../subgraphs/platform/queue/bus.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { eventually } from '../support/eventually.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

/** The pool, whose answers with the list come when they are let through. */
const openSlow = () => {
  const held: (() => void)[] = [];
  const query = async (asked: pg.QueryConfig) => {
    const answer = await migrated.database.pool.query(asked);
    if (asked.name === 'test_clock.owners')
      await new Promise<void>((resolve) => void held.push(resolve));
    return answer;
  };
  const runner: unknown = { query };
  const isRead = (): Promise<true> => eventually(() => held.length > 0, 'a list that is read');
  const letThrough = async (): Promise<void> => {
    await isRead();
    held.shift()?.();
  };
  return { runner: runner as Runner, isRead, letThrough };
};

test('a clock is obeyed from its announcement on, however slowly the list of clocks is read', async (context) => {
  const { pool, url } = migrated.database;
  const { merchantId, shopId, mode } = await migrated.merchant();
  const bus = await openBus({
    redisUrl: null,
    databaseUrl: url,
    log: openLog({ logLevel: 'silent' }, 'test'),
  });
  const { runner, isRead, letThrough } = openSlow();
  const real = Temporal.Instant.from('2026-11-21T10:00:00Z');
  const clocks = new TestClocks({ pool: runner, bus, now: () => real });
  context.after(async () => {
    clocks.close();
    await bus.close();
  });
  const ask = async (): Promise<string> =>
    (await clocks.timeOf({ kind: 'shop', merchantId, shopId, mode })).toString();
  const none = ask();
  await letThrough();
  assert.equal(await none, real.toString(), 'there is no clock yet');

  // One list is on its way when the clock is made: it no longer counts.
  clocks.announce().catch(() => {});
  const old = ask();
  await isRead();
  await pool.query(
    `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, created_at) values ($1, $2, '2027-01-31T09:00:00Z', now(), true, now())`,
    [merchantId, shopId],
  );
  await clocks.announce();
  const [first, second] = [ask(), ask()];
  await letThrough();
  await letThrough();
  const shown = '2027-01-31T09:00:00Z';
  assert.deepEqual(await Promise.all([first, second]), [shown, shown]);
  await old;

  // A storm of changes makes no call wait for more than one read that began after it.
  clocks.announce().catch(() => {});
  const waiting = ask();
  for (let change = 0; change < 50; change += 1) clocks.announce().catch(() => {});
  await letThrough();
  assert.equal(await waiting, shown);
});
