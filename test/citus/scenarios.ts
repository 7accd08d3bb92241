/**
 * The service on tables that `distribute.sql` has spread over two workers: every scenario, as one
 * process and as separate ones with Redis.
 */
import { after, before, describe } from 'node:test';
import { onePayment } from '../scenarios/one-payment.ts';
import { payouts } from '../scenarios/payouts.ts';
import { refunds } from '../scenarios/refunds.ts';
import { severalFacades } from '../scenarios/several-facades.ts';
import { startWatched, type Watched } from '../scenarios/start-watched.ts';
import { tokens } from '../scenarios/tokens.ts';
import { migrateTemplate } from '../support/migrated.ts';
import { noRedis } from '../support/redis.ts';
import type { Size } from '../support/service.ts';
import { distribute, startCitus, type Servers } from './servers.ts';

/** The service on a Citus of its own, ended when the tests around are over. */
const startedOnCitus = (
  size: Size,
  environment: Readonly<Record<string, string>> = {},
  facades = 1,
): (() => Watched) => {
  let servers: Servers;
  let service: Watched;
  before(async () => {
    servers = await startCitus(process.env['CITUS_BIN'] ?? '');
    await migrateTemplate(servers.url);
    await distribute(servers.url);
    service = await startWatched(size, { ...environment, DATABASE_URL: servers.url }, facades);
  });
  after(async () => {
    await service?.stop();
    await servers?.stop();
  });
  return () => service;
};

describe('the service as one process, on sharded tables', () => {
  const started = startedOnCitus('one');

  // Each has a merchant of its own, and waits for the simulated bank most of the time.
  describe('the scenarios', { concurrency: 3 }, () => {
    onePayment(started);
    refunds(started);
    tokens(started);
  });

  // Last, for it looks through all that the others have left behind, too.
  payouts(started);
});

describe(
  'the service as separate processes with Redis, on sharded tables',
  { skip: noRedis },
  () => {
    const started = startedOnCitus('separate', { RATE_LIMIT_WAIT_MS: '10000' }, 2);

    describe('the scenarios', { concurrency: 3 }, () => {
      onePayment(started);
      refunds(started);
      tokens(started);
    });

    describe('what several facades agree on', () => severalFacades(started));

    payouts(started);
  },
);
