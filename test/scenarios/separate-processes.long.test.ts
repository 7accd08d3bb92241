import { after, before, describe } from 'node:test';
import { noRedis } from '../support/redis.ts';
import { onePayment } from './one-payment.ts';
import { payouts } from './payouts.ts';
import { refunds } from './refunds.ts';
import { severalFacades } from './several-facades.ts';
import { tokens } from './tokens.ts';
import { startWatched, type Watched } from './start-watched.ts';

describe(
  'the service as separate processes with Redis, two facades and two payments subgraphs among them',
  { skip: noRedis },
  () => {
    let service: Watched;
    // The limiter waits for Redis however busy this machine is: what passes unlimited proves
    // nothing.
    before(
      async () =>
        void (service = await startWatched('separate', { RATE_LIMIT_WAIT_MS: '10000' }, 2)),
    );
    after(() => service.stop());
    const started = (): Watched => service;

    // Each has a merchant of its own, and waits for the simulated bank most of the time.
    describe('the scenarios', { concurrency: 3 }, () => {
      tokens(started);
      onePayment(started);
      refunds(started);
    });

    describe('what several facades agree on', () => severalFacades(started));

    // Last, for it looks through all that the others have left behind, too.
    payouts(started);
  },
);
