/**
 * Webhooks reach their receivers at least once, whatever is lost on the way: each role by kill -9,
 * Redis with all that it holds, PostgreSQL's server.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-port.ts';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';
import {
  askGraph,
  makeMerchant,
  openReceiver,
  type Merchant,
  type Received,
} from '../support/merchant.ts';
import { noRedis, startRedis, type TestRedis } from '../support/redis.ts';
import {
  spawnProcess,
  stopProcess,
  untilReady,
  type Service,
  type ServiceProcess,
} from '../support/service.ts';
import { eventually } from '../support/eventually.ts';
import { fastEnvironment, fastTime_ms, usualTimes } from '../support/fast-time.ts';

/** At least so many; they are made until everything was lost. */
const payments = 48;
const atOnce = 6;
const edge =
  'gateway rest-facade checkout subgraph payments subgraph payouts subgraph recurring subgraph merchants';

const speed = { began_ms: Date.now(), times: usualTimes };
const dataDir = mkdtempSync(join(tmpdir(), 'payments-lost-'));
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let redis: TestRedis;
const running = new Map<string, ServiceProcess>();
let start: (name: string) => Promise<void> = async () => {};

/**
 * What GET answers now for the object that a webhook is about: a payment or a payout. Null while
 * the service is away.
 */
const readSubject = async (
  merchant: Merchant,
  { body }: Pick<Received, 'body'>,
): Promise<unknown> => {
  const kind = String(body.event).split('.')[0];
  const { status, body: answer } = await merchant.call('GET', `/${kind}s/${body.data.id}`);
  if (status === 503) return null;
  if (status !== 200) throw new Error(`GET of a ${kind} answered ${status}`);
  const { payment_url: _, ...shown } = answer;
  return shown;
};

/**
 * Whether a webhook holds exactly what GET answers now, while the object has not changed since the
 * event.
 */
const isAsGetAnswers = async (
  merchant: Merchant,
  webhook: Pick<Received, 'body'>,
): Promise<boolean> => isDeepStrictEqual(webhook.body.data, await readSubject(merchant, webhook));

/** Kills a process of the service and lets another take its place, as a supervisor would. */
const kill = async (name: string): Promise<void> => {
  const killed = running.get(name);
  if (killed) await stopProcess(killed, 'SIGKILL');
  await start(name);
};

before(async () => {
  if (noRedis) return;
  [postgres, redis] = await Promise.all([
    startEmbeddedPostgres({ dataDir, progress: () => {} }),
    startRedis(),
  ]);
  const ports = new Map<string, number>([[edge, await freePort()]]);
  const environment = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: `http://127.0.0.1:${ports.get(edge)}`,
    SUBGRAPH_PAYMENTS_URL: `http://127.0.0.1:${ports.get(edge)}`,
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    // A webhook that was cut off waits for the end of its lease.
    ...fastEnvironment(speed, 'Temporal'),
  };
  const migrate = spawnProcess('migrate', 0, environment);
  const [code] = await once(migrate.child, 'exit');
  assert.equal(code, 0, migrate.output());
  start = async (name) => {
    const [role = ''] = name.split('#');
    const started = spawnProcess(role, ports.get(name) ?? (await freePort()), environment);
    running.set(name, started);
    await untilReady(started);
  };
  const names = [edge, 'worker#1', 'worker#2'];
  await Promise.all(names.map((name) => start(name)));
});

after(async () => {
  if (noRedis) return;
  await Promise.all(Array.from(running.values(), (part) => stopProcess(part)));
  await Promise.all([redis.stop(), postgres.stop()]);
  rmSync(dataDir, { recursive: true, force: true });
});

/**
 * Asks again until there is an answer: a client whose connection breaks does not know whether its
 * call took effect.
 */
const insist = <Answer>(call: () => Promise<Answer | null | false>): Promise<Answer> =>
  eventually(() => call().catch(() => null), 'an answer');

const finalOf = (merchant: Merchant, id: string): Promise<any> =>
  insist(async () => {
    const { body } = await merchant.call('GET', `/payments/${id}`);
    return ['pending', 'processing'].includes(body.status) ? null : body;
  });

/** A payment that is cancelled, paid, refused by the bank, or paid and given back; gives its id. */
const live = async (merchant: Merchant, index: number): Promise<string> => {
  const amount = index % 4 === 2 ? 1_002 : 1_000;
  const { payment, payment_url } = await insist(async () => {
    const { status, body } = await merchant.call(
      'POST',
      '/payments',
      { amount, method: 'sbp' },
      { 'idempotency-key': `k-${index}` },
    );
    return [200, 201].includes(status) ? body : null;
  });
  if (index % 4 === 0) {
    await insist(async () =>
      [200, 409].includes((await merchant.call('POST', `/payments/${payment.id}/cancel`)).status),
    );
    return payment.id;
  }
  await insist(async () => {
    const headers = { 'content-type': 'application/json', origin: new URL(payment_url).origin };
    const response = await fetch(`${payment_url}/pay`, { method: 'POST', headers, body: '{}' });
    await response.arrayBuffer();
    return [200, 409].includes(response.status);
  });
  const { status } = await finalOf(merchant, payment.id);
  if (index % 4 === 3 && status === 'succeeded') {
    await insist(async () => {
      const refund = await merchant.call(
        'POST',
        `/payments/${payment.id}/refund`,
        {},
        { 'idempotency-key': `r-${index}` },
      );
      return [200, 201].includes(refund.status);
    });
  }
  return payment.id;
};

const killPostmaster = (): void => {
  const [pid] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
};

const flushRedis = async (): Promise<void> => {
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
};

const restartRedis = async (): Promise<void> => {
  const { port } = redis;
  await redis.stop();
  redis = await startRedis(port);
};

const deleteEndpoint = async (
  service: Service,
  merchant: Merchant,
  url: string,
): Promise<number> => {
  const list = `query ($m: ID!) { merchant(id: $m) { shops { webhookEndpoints { id url } } } }`;
  const found = await insist(() => askGraph(service, list, { m: merchant.id }));
  const { id } = found.merchant.shops[0].webhookEndpoints.find(
    (endpoint: { url: string }) => endpoint.url === url,
  );
  const mutation = `mutation ($m: ID!, $id: ID!) { webhookEndpointDelete(merchantId: $m, id: $id) { __typename } }`;
  await insist(() => askGraph(service, mutation, { m: merchant.id, id }));
  return fastTime_ms(speed);
};

test(
  'every webhook arrives while each role is killed, Redis is flushed and restarted, PostgreSQL dies and an endpoint is deleted',
  { skip: noRedis },
  async () => {
    const first = running.get(edge) ?? assert.fail('nothing runs');
    const service: Service = {
      rest: first.url,
      rests: [first.url],
      graph: first.url,
      processes: [],
      stop: async () => {},
    };
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver((index) => (index % 10 === 3 && index < 20 ? 500 : 200));
    const deleted = await openReceiver(() => 500);
    await merchant.endpoint(receiver.url);
    await merchant.endpoint(deleted.url);

    const ids: string[] = [];
    let made = 0;
    const losing = new AbortController();
    const living = Array.from({ length: atOnce }, async () => {
      while (!losing.signal.aborted || made < payments) ids.push(await live(merchant, made++));
    });
    let deletedAt = Infinity;
    const losses = [
      () => kill('worker#1'),
      flushRedis,
      () => kill(edge),
      restartRedis,
      async () => void (deletedAt = await deleteEndpoint(service, merchant, deleted.url)),
      async () => killPostmaster(),
    ];
    for (const lose of losses) {
      const sofar = receiver.received.length;
      await lose();
      // The next loss hits a service that is at work again.
      await eventually(() => receiver.received.length > sofar, 'the next webhook');
    }
    losing.abort();
    await Promise.all(living);

    for (const id of ids) {
      await finalOf(merchant, id);
      await eventually(async () => {
        const [last] = receiver.received
          .filter(({ body }) => body.data.id === id)
          .toSorted((a, b) => (a.body.created_at < b.body.created_at ? 1 : -1));
        return last && (await isAsGetAnswers(merchant, last));
      }, `the last webhook of ${id}, with what GET answers`);
    }
    for (const [eventId, deliveries] of Map.groupBy(receiver.received, ({ body }) => body.id)) {
      assert.equal(
        new Set(deliveries.map(({ raw }) => raw)).size,
        1,
        `every delivery of ${eventId} has the same bytes`,
      );
    }
    const kinds = new Set(receiver.received.map(({ body }) => body.event));
    assert.ok(
      ['payment.cancelled', 'payment.succeeded', 'payment.failed', 'payment.refunded'].every(
        (kind) => kinds.has(kind),
      ),
      [...kinds].join(),
    );
    const late = deleted.received.filter(({ body }) => Date.parse(body.created_at) > deletedAt);
    assert.deepEqual(
      late,
      [],
      'nothing that happened after the deletion went to the deleted endpoint',
    );
    await Promise.all([receiver.close(), deleted.close()]);
  },
);
