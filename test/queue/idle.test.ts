/**
 * What a service that has nothing to do asks of PostgreSQL, over all its connections: one process
 * whose queues are on PostgreSQL, too. Counts, so that the machine's speed does not matter.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Service, startService } from '../support/service.ts';
import { openStatementProxy, type StatementProxy } from '../support/statement-proxy.ts';

const statements_max_perSecond = 20;
/** What a start, or the making of a thousand clocks, leaves to do. */
const settle_ms = 15_000;
const counted_s = 10;

describe('a service that has nothing to do', { concurrency: false }, () => {
  let database: TestDatabase;
  let proxy: StatementProxy;
  let service: Service;
  before(async () => {
    database = await startTestDatabase({ migrated: true });
    proxy = await openStatementProxy(database.url);
    service = await startService('one', {
      DATABASE_URL: proxy.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
    });
  });
  after(async () => {
    await service?.stop();
    proxy?.close();
    await database?.stop();
  });

  const countWindow = async (): Promise<ReadonlyMap<string, number>> => {
    const earlier = new Map(proxy.counts);
    await delay(counted_s * 1_000);
    return new Map(
      [...proxy.counts].map(([name, count]) => [name, count - (earlier.get(name) ?? 0)] as const),
    );
  };
  const sumOf = (counts: ReadonlyMap<string, number>): number =>
    counts.values().reduce((sum, count) => sum + count, 0);

  /** Of two windows the quieter: the jobs of each minute are in one of them at most. */
  const countIdle = async (): Promise<void> => {
    await delay(settle_ms);
    const windows = [await countWindow(), await countWindow()];
    const [quieter = new Map<string, number>()] = windows.toSorted((x, y) => sumOf(x) - sumOf(y));
    const listed = [...quieter]
      .filter(([, count]) => count > 0)
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => `${count} ${name}`)
      .join('\n');
    const perSecond = sumOf(quieter) / counted_s;
    assert.ok(perSecond > 0, 'the statements are counted');
    assert.ok(perSecond <= statements_max_perSecond, `${perSecond} a second:\n${listed}`);
  };

  test('sends PostgreSQL at most 20 statements a second', countIdle);

  test('sends no more while a thousand test clocks run', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, target_at, created_at)
       select gen_random_uuid(), gen_random_uuid(), '2027-03-01T12:00:00Z', now(), false, null, now()
       from generate_series(1, 1000)`,
    );
    await client.end();
    await countIdle();
  });
});
