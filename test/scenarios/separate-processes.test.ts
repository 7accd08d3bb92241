import { after, before, describe } from 'node:test';
import { noRedis } from '../support/redis.ts';
import { startService, type Service } from '../support/service.ts';
import { onePayment } from './one-payment.ts';
import { refunds } from './refunds.ts';
import { severalFacades } from './several-facades.ts';
import { tokens } from './tokens.ts';

describe(
  'the service as separate processes with Redis, two facades and two payments subgraphs among them',
  { skip: noRedis },
  () => {
    let service: Service;
    // The limiter waits for Redis however busy this machine is: what passes unlimited proves
    // nothing.
    before(
      async () =>
        void (service = await startService('separate', { RATE_LIMIT_WAIT_MS: '10000' }, 2)),
    );
    after(() => service.stop());
    const started = (): Service => service;

    // Each has a merchant of its own, and waits for the simulated bank most of the time.
    describe('the scenarios', { concurrency: 3 }, () => {
      onePayment(started);
      refunds(started);
      tokens(started);
    });

    describe('what several facades agree on', () => severalFacades(started));
  },
);
