/**
 * The whole service in one process under everything at once, for as long as `--minutes=` says: payments and payouts are created, payments and registry pages read,
 * webhooks delivered, a stream listened to. Whether rate, waiting time and memory stay what they were.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../subgraphs/kernel/database/embedded/free-port.ts';
import { spawnProcess, stopProcess, untilReady } from '../support/service.ts';
import { residentMemory_MiB } from './cpu.ts';
import { requestText } from './load.ts';
import { createRequest, listRequest, readRequest } from './payment-requests.ts';
import { fund } from './payout-rows.ts';
import { payoutBody } from './payout-script.ts';
import type { Bench } from './plan.ts';
import type { Row } from './report.ts';
import { busyMerchant } from './world.ts';

/** Looks, evenly over the time. The first is left out of the comparisons: programs are compiled as they run. */
const looks = 10;
const soakConnections = 8;
/** What came out of the service by itself. */
interface Heard {
  webhooks: number;
  events: number;
}

interface Look {
  readonly perSecond: number;
  readonly p50_us: number;
  readonly memory_MiB: number | null;
}

const openReceiver = async (heard: Heard, stack: AsyncDisposableStack): Promise<string> => {
  const server = createServer((asked, answer) => {
    heard.webhooks += 1;
    asked.resume().on('end', () => answer.end());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return `http://127.0.0.1:${address.port}`;
};

const listenToStream = async (url: string, key: string, heard: Heard, stack: AsyncDisposableStack): Promise<void> => {
  const sent = request(`${url}/v1/public/events`, { agent: false, headers: { authorization: `Bearer ${key}` } });
  stack.defer(() => void sent.destroy());
  sent.on('error', () => {}).end();
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  response.on('data', (chunk: Buffer) => (heard.events += chunk.toString().split('\nevent:').length - 1)).on('error', () => {});
};

/** Starts the service with a merchant that has money, an endpoint and a listener; gives what is sent to it. */
const openSoak = async (heard: Heard, stack: AsyncDisposableStack) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-soak-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const service = spawnProcess('all', await freePort(), { DATA_DIR: dataDir, NODE_ENV: 'production', WEBHOOK_PRIVATE_TARGETS: 'allow' });
  stack.defer(async () => void (await stopProcess(service)));
  await untilReady(service);
  const merchant = await fund(service.url, await busyMerchant(service));
  await merchant.endpoint(await openReceiver(heard, stack));
  await listenToStream(service.url, merchant.key, heard, stack);
  const { body } = await merchant.call('POST', '/payments', { amount: 100 });
  const payout = requestText('POST', '/v1/public/payouts', { authorization: `Bearer ${merchant.key}` }, payoutBody);
  const requests = [createRequest(merchant.key), readRequest(merchant.key, body.payment.id), payout, listRequest(merchant.key)];
  return { url: service.url, pid: service.child.pid ?? 0, requests };
};

/** The rows. The service's PostgreSQL fills meanwhile: reads must not become slower for that either. */
export const soakRows = async ({ plan, load, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  progress('soak: starting the whole service');
  const heard: Heard = { webhooks: 0, events: 0 };
  const { url, pid, requests } = await openSoak(heard, stack);
  const duration_ms = (plan.soakMinutes * 60_000) / looks;
  const seen: Look[] = [];
  let answered = 0;
  for (let look = 1; look <= looks; look += 1) {
    const result = await load.run({ url, requests, connections: soakConnections, duration_ms, requests_max: Number.MAX_SAFE_INTEGER });
    answered += result.answered;
    seen.push({ perSecond: (result.answered * 1_000) / result.elapsed_ms, p50_us: result.p50_us, memory_MiB: residentMemory_MiB(pid) });
    progress(`soak: ${look} of ${looks}, ${answered} answered, ${heard.webhooks} webhooks, ${heard.events} events`);
  }
  const [early, last] = [seen[1], seen.at(-1)];
  if (!early || !last) return [];
  const row = (what: string, ratio: number | null, least: number, figures: string): Row => {
    return { what: `soak of ${plan.soakMinutes} min, ${what}`, against: 'its own second tenth', ratio, aim: { least }, rounds: 1, figures };
  };
  const memory = seen.map(({ memory_MiB }) => memory_MiB?.toFixed(0) ?? '?').join(', ');
  const { memory_MiB: before } = early;
  const { memory_MiB: after } = last;
  return [
    row('requests a second', last.perSecond / early.perSecond, 0.8, `${last.perSecond.toFixed(0)}/s to ${early.perSecond.toFixed(0)}/s; ${answered} in all`),
    row('waiting', early.p50_us / last.p50_us, 0.8, `half within ${(last.p50_us / 1_000).toFixed(1)} ms to ${(early.p50_us / 1_000).toFixed(1)} ms`),
    row(
      'memory',
      before === null || after === null ? null : before / after,
      0.9,
      `MiB: ${memory}; ${heard.webhooks} webhooks, ${heard.events} events of the stream`,
    ),
  ];
};
