/**
 * What a service that has nothing to do asks of PostgreSQL, over all its connections: one process
 * whose queues are on PostgreSQL, too. Counts, so that the machine's speed does not matter.
 */
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, startService } from '../support/service.ts';
import { openStatementProxy, type StatementProxy } from '../support/statement-proxy.ts';

/** The service looks once a second for what is due; its looks are counted instead of seconds. */
const look = 'sweeps.due';
const looksPerWindow = 5;
const statements_max_perLook = 20;

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

  /** What is sent while the service looks a few times. */
  const countWindow = async (): Promise<ReadonlyMap<string, number>> => {
    const earlier = new Map(proxy.counts);
    const since = (name: string): number =>
      (proxy.counts.get(name) ?? 0) - (earlier.get(name) ?? 0);
    await eventually(() => since(look) >= looksPerWindow, 'looks for what is due');
    return new Map([...proxy.counts.keys()].map((name) => [name, since(name)] as const));
  };

  /** It comes to rest: what a start leaves to do, and the jobs of each minute, have an end. */
  const comesToRest = async (): Promise<void> => {
    let last: ReadonlyMap<string, number> = new Map();
    const isAtRest = async (): Promise<boolean> => {
      last = await countWindow();
      const sum = last.values().reduce((total, count) => total + count, 0);
      return sum <= statements_max_perLook * looksPerWindow;
    };
    const shown = (): string =>
      [...last]
        .filter(([, count]) => count > 0)
        .toSorted(([, one], [, other]) => other - one)
        .map(([name, count]) => `${count} ${name}`)
        .join('\n');
    await eventually(isAtRest, () => `at rest; ${looksPerWindow} looks with\n${shown()}`);
  };

  test('sends PostgreSQL at most 20 statements a second', comesToRest);

  test('sends no more while a thousand test clocks run', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, target_at, created_at)
       select gen_random_uuid(), gen_random_uuid(), '2027-03-01T12:00:00Z', now(), false, null, now()
       from generate_series(1, 1000)`,
    );
    await client.end();
    // All clocks have been looked at.
    await countWindow();
    await comesToRest();
  });
});
