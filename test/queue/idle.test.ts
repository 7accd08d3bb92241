/**
 * What a service that has nothing to do asks of PostgreSQL, counted by the server: one process
 * whose queues are on PostgreSQL, too. Counts, so that the machine's speed does not matter.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type LoggingServer, startLoggingServer } from '../support/logged-statements.ts';
import { type Service, startService } from '../support/service.ts';

const statements_max_perSecond = 20;
/** What a start, or the making of a thousand clocks, leaves to do. */
const settle_ms = 15_000;
const counted_s = 20;

describe('a service that has nothing to do', { concurrency: false }, () => {
  let server: LoggingServer;
  let service: Service;
  before(async () => {
    server = await startLoggingServer();
    service = await startService('one', {
      DATABASE_URL: server.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
    });
  });
  after(async () => {
    await service.stop();
    await server.stop();
  });

  const countIdle = async (): Promise<void> => {
    await delay(settle_ms);
    const counts = [...(await server.count(counted_s * 1_000))];
    const listed = counts
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => `${count} ${name}`)
      .join('\n');
    const perSecond = counts.reduce((sum, [, count]) => sum + count, 0) / counted_s;
    assert.ok(perSecond > 0, 'the server logs its statements');
    assert.ok(perSecond <= statements_max_perSecond, `${perSecond} a second:\n${listed}`);
  };

  test('sends PostgreSQL at most 20 statements a second', countIdle);

  test('sends no more while a thousand test clocks run', async () => {
    const client = new pg.Client({ connectionString: server.url });
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
