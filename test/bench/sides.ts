/**
 * What is measured: the service in one process, and the baseline beside it, each with a database of
 * its own on the same PostgreSQL, and a receiver of webhooks in this process for both.
 */
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';
import { ratePerSecond_max } from '../../schema/limits.ts';
import { freePort } from '../support/free-port.ts';
import { makeMerchant, setRate, type Merchant } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady } from '../support/service.ts';
import { openLoad, requestText, type Load } from './load.ts';
import type { Sample } from './rounds.ts';

/** Connections of the busy rounds, and of both pools. */
export const connections = 16;

/** A server under load. */
export interface Side {
  readonly url: string;
  readonly pid: number;
  readonly key: string;
  readonly merchantId: string;
  readonly shopId: string;
  readonly pool: pg.Pool;
  /** Ends it, does the work, and starts it again; the service with other roles if they are given. */
  restart(work: () => Promise<void>, roles?: string): Promise<void>;
}

export interface Receiver {
  readonly url: string;
  /** Called with each webhook: the event's id and the body. */
  onWebhook: (eventId: string, body: string) => void;
}

export interface Bench {
  readonly quick: boolean;
  readonly load: Load;
  readonly service: Side;
  readonly bare: Side;
  readonly receiver: Receiver;
  /** Says what is going on. */
  readonly progress: (text: string) => void;
}

/** A merchant who may call as often as anybody may. `url` is where REST and the graph are. */
export const busyMerchant = async ({ url }: { readonly url: string }): Promise<Merchant> => {
  const service = { rest: url, graph: url };
  const merchant = await makeMerchant(service);
  await setRate(service, merchant.id, { perSecond: ratePerSecond_max, burst: ratePerSecond_max });
  return merchant;
};

/** What is paid for. */
const paymentBody = {
  amount: 10_000,
  order_id: 'order-1',
  method: 'sbp',
  description: 'Tea and cakes',
  return_url: 'https://example.com/thanks',
  metadata: { cart: '17' },
};

/** A request over REST with a key. */
export const restRequest = (
  key: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): string => requestText(method, `/v1/public${path}`, { authorization: `Bearer ${key}` }, body);

/** Creates a payment over REST. */
export const createRequest = (key: string): string =>
  restRequest(key, 'POST', '/payments', paymentBody);

interface Created {
  readonly payment: { readonly id: string };
  readonly payment_url: string;
}

/** Creates a payment; gives the whole answer. */
export const createPayment = async ({ url, key }: Side): Promise<Created> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify(paymentBody);
  const answer = await fetch(`${url}/v1/public/payments`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text) as Created;
};

/** Sends requests to a side for a while; what follows from them has ended before it gives. */
export const underLoad =
  (
    { load, service }: Pick<Bench, 'load' | 'service'>,
    side: Side,
    requestsOf: (side: Side) => readonly string[],
    count: number,
  ) =>
  async (duration_ms: number): Promise<Sample> => {
    const plan = { url: side.url, requests: requestsOf(side), connections: count, duration_ms };
    const { answered, elapsed_ms, p50_us } = await load.run(plan);
    await settle(service);
    return { perSecond: (answered * 1_000) / elapsed_ms, p50_us };
  };

/** Waits until the relay has numbered all events of the service. */
export const settle = async ({ pool }: Side): Promise<void> => {
  const waiting = 'select from event where sequence is null limit 1';
  while ((await pool.query(waiting)).rows.length > 0) await sleep(20);
};

const openReceiver = async (stack: AsyncDisposableStack): Promise<Receiver> => {
  const server = createServer((asked, answer) => {
    let body = '';
    asked.setEncoding('utf8').on('data', (text: string) => (body += text));
    asked.on('end', () => {
      answer.end();
      receiver.onWebhook(String(asked.headers['x-psp-event-id']), body);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const receiver: Receiver = { url: `http://127.0.0.1:${port}`, onWebhook: () => {} };
  return receiver;
};

const openPool = (connectionString: string, stack: AsyncDisposableStack): pg.Pool => {
  const pool = new pg.Pool({ connectionString, max: 4 });
  stack.defer(() => pool.end());
  return pool;
};

const openService = async (
  databaseUrl: string,
  receiver: Receiver,
  stack: AsyncDisposableStack,
): Promise<Side> => {
  const port = await freePort();
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL: `${connections}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    LOG_LEVEL: 'warn',
    NODE_ENV: 'production',
  };
  const start = async (roles: string) => {
    const started = spawnProcess(roles, port, environment);
    await untilReady(started);
    return started;
  };
  let running = await start('all');
  stack.defer(async () => void (await stopProcess(running)));
  const merchant = await busyMerchant(running);
  await merchant.endpoint(receiver.url);
  return {
    url: running.url,
    get pid() {
      return running.child.pid ?? 0;
    },
    key: merchant.key,
    merchantId: merchant.id,
    shopId: merchant.shopId,
    pool: openPool(databaseUrl, stack),
    restart: async (work, roles = 'all') => {
      await stopProcess(running);
      await work();
      running = await start(roles);
    },
  };
};

const openBare = async (
  databaseUrl: string,
  receiver: Receiver,
  stack: AsyncDisposableStack,
): Promise<Side> => {
  const [key, merchantId, shopId] = ['sk_test_bare', randomUUID(), randomUUID()];
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    POOL: `${connections}`,
    KEY: key,
    MERCHANT: merchantId,
    SHOP: shopId,
    RECEIVER: receiver.url,
  };
  const start = async () => {
    const child = fork(join(import.meta.dirname, 'bare.ts'), {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit');
    const [url] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
    if (typeof url !== 'string') throw new Error('the baseline has ended before it listened');
    const stop = async (): Promise<void> => {
      if (child.connected) child.disconnect();
      await ended;
    };
    return { url, pid: child.pid ?? 0, stop };
  };
  let running = await start();
  stack.defer(() => running.stop());
  return {
    get url() {
      return running.url;
    },
    get pid() {
      return running.pid;
    },
    key,
    merchantId,
    shopId,
    pool: openPool(databaseUrl, stack),
    restart: async (work) => {
      await running.stop();
      await work();
      running = await start();
    },
  };
};

/** Starts everything; `stack` ends it. */
export const openBench = async (
  { quick, progress }: Pick<Bench, 'quick' | 'progress'>,
  stack: AsyncDisposableStack,
): Promise<Bench> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  progress('starting PostgreSQL, the service and the baseline');
  const postgres = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  stack.defer(() => postgres.stop());
  const load = stack.use(openLoad());
  const receiver = await openReceiver(stack);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('create database bare');
  await admin.end();
  const bareUrl = Object.assign(new URL(postgres.url), { pathname: '/bare' }).href;
  const service = await openService(postgres.url, receiver, stack);
  const bare = await openBare(bareUrl, receiver, stack);
  progress('filling the tables');
  for (const side of [service, bare]) {
    await underLoad({ load, service }, side, ({ key }) => [createRequest(key)], connections)(2_000);
    // What autovacuum would do a minute later: until then plans are made for empty tables.
    await side.pool.query('vacuum (analyze)');
  }
  return { quick, load, service, bare, receiver, progress };
};
