/**
 * The whole service as a soak stands on it: a merchant with money, an endpoint and a listener, and
 * what is sent of it.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { startService, type Size } from '../support/service.ts';
import { requestText } from './load.ts';
import { createRequest, listRequest, readRequest } from './payment-requests.ts';
import { fund } from './rows/payout-rows.ts';
import { payoutBody } from './payout-script.ts';
import { openReceiver } from './webhook-receiver.ts';
import { busyMerchant } from './fixture.ts';

/** What came out of the service by itself. */
export interface Received {
  webhooks: number;
  events: number;
}

export interface SoakHarness {
  readonly url: string;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  readonly received: Readonly<Received>;
  /** What is sent, in turn, by its name. */
  readonly requests: Readonly<Record<string, string>>;
}

const listenToStream = async (
  url: string,
  key: string,
  received: Received,
  stack: AsyncDisposableStack,
): Promise<void> => {
  const sent = request(`${url}/v1/public/events`, {
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  });
  stack.defer(() => void sent.destroy());
  sent.on('error', () => {}).end();
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  response
    .on(
      'data',
      (chunk: Buffer) => (received.events += chunk.toString().split('\nevent:').length - 1),
    )
    .on('error', () => {});
};

/** Starts it in one process, or in one for each role with Redis between them; `stack` ends it. */
export const openSoakHarness = async (
  size: Size,
  stack: AsyncDisposableStack,
): Promise<SoakHarness> => {
  const service = await startService(size, {
    NODE_ENV: 'production',
    WEBHOOK_PRIVATE_TARGETS: 'allow',
  });
  stack.defer(() => service.stop());
  const url = service.rest;
  const merchant = await fund(service.graph, await busyMerchant({ url: service.graph, rest: url }));
  const received: Received = { webhooks: 0, events: 0 };
  await merchant.endpoint(await openReceiver(() => (received.webhooks += 1), stack));
  await listenToStream(url, merchant.key, received, stack);
  const { body } = await merchant.call('POST', '/payments', { amount: 100 });
  const authorization = { authorization: `Bearer ${merchant.key}` };
  const get = (path: string): string => requestText('GET', `/v1/public/${path}`, authorization);
  const requests = {
    'a payment created': createRequest(merchant.key),
    'a payment read': readRequest(merchant.key, body.payment.id),
    'a payout': requestText('POST', '/v1/public/payouts', authorization, payoutBody),
    'a page of payments': listRequest(merchant.key),
    'a page of payouts': get('payouts?limit=50'),
    'a page of the ledger': get('ledger?limit=50'),
    'the balance': get('balance'),
  };
  return {
    url,
    processes: service.processes.map(({ name, child }) => ({ name, pid: child.pid ?? 0 })),
    received,
    requests,
  };
};
