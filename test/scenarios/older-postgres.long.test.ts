/** Every scenario of merchants on an older PostgreSQL than the embedded one, from 15 on. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  askServer,
  closeHouse,
  endServer,
  openHouse,
  startPrimary,
  type PostgresServer,
} from '../cluster/postgres-server.ts';
import { startService, type Service } from '../support/service.ts';
import { onePayment } from './one-payment.ts';
import { payouts } from './payouts.ts';
import { refunds } from './refunds.ts';
import { tokens } from './tokens.ts';
import type { Watched } from './start-watched.ts';

const postgres = process.env['OLDER_POSTGRES'];
const skip = postgres ? false : 'there is no PostgreSQL 15, 16 or 17';

describe('the service on an older PostgreSQL', { skip }, () => {
  const folder = dirname(postgres ?? '');
  const house = openHouse({ postgres: postgres ?? '', initdb: join(folder, 'initdb') });
  let server: PostgresServer;
  let service: Service;
  before(async () => {
    const unsafe = { fsync: 'off', full_page_writes: 'off' };
    server = await startPrimary(house, unsafe, true);
    service = await startService('one', {
      DATABASE_URL: server.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_PRIVATE_TARGETS: 'allow',
      LOG_LEVEL: 'trace',
    });
  });
  after(async () => {
    await service?.stop();
    if (server) await endServer(server, 'SIGKILL');
    closeHouse(house);
  });
  const started = (): Watched => ({
    ...service,
    databaseUrl: server.url,
    onRedis: false,
    redisReceived: () => '',
  });

  test('it is one', async () => {
    const [row] = await askServer(server.url, 'show server_version');
    process.stdout.write(`    PostgreSQL ${row.server_version}\n`);
    const version = Number.parseInt(row.server_version);
    assert.ok(version >= 15 && version < 18, row.server_version);
  });

  describe('the scenarios', { concurrency: 3 }, () => {
    onePayment(started);
    refunds(started);
    tokens(started);
  });

  // Last, for it looks through all that the others have left behind, too.
  payouts(started);
});
