import { after, before, describe } from 'node:test';
import { onePayment } from './one-payment.ts';
import { payouts } from './payouts.ts';
import { refunds } from './refunds.ts';
import { tokens } from './tokens.ts';
import { startWatched, type Watched } from './start-watched.ts';
import { isLong } from '../support/size.ts';

describe('the service as one process', () => {
  let service: Watched;
  before(async () => void (service = await startWatched('one')));
  after(() => service.stop());
  const started = (): Watched => service;

  // Each has a merchant of its own, and waits for the simulated bank most of the time.
  describe('the scenarios', { concurrency: 3 }, () => {
    onePayment(started);
    refunds(started);
    // Separate processes have them in every run.
    if (isLong) tokens(started);
  });

  // Last, for it looks through all that the others have left behind, too.
  if (isLong) payouts(started);
});
