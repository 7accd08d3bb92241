import { after, before, describe } from 'node:test';
import { startService, type Service } from '../support/service.ts';
import { onePayment } from './one-payment.ts';
import { refunds } from './refunds.ts';
import { tokens } from './tokens.ts';

// Each has a merchant of its own, and waits for the simulated bank most of the time.
describe('the service as one process', { concurrency: 3 }, () => {
  let service: Service;
  before(async () => void (service = await startService('one')));
  after(() => service.stop());
  const started = (): Service => service;

  onePayment(started);
  refunds(started);
  tokens(started);
});
