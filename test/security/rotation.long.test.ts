/**
 * The secret key is changed while the service runs, process by process, as docs/operations.md says:
 * callers notice nothing. Two processes with every role and one of the edge alone, so that keys of two phases
 * meet in every call between them.
 */
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SignJWT } from 'jose';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';
import { deriveSecrets } from '../../subgraphs/platform/config/config.ts';
import { allKeys, currentKey, keyIdOf } from '../../subgraphs/platform/access/keys.ts';
import { principalHeader } from '../../subgraphs/platform/access/principal.ts';
import { sealedColumns } from '../../subgraphs/merchants/reseal-secrets.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  askGraph,
  callRest,
  expectedSignature,
  makeMerchant,
  openReceiver,
  type Merchant,
} from '../support/merchant.ts';
import { noRedis, startRedis } from '../support/redis.ts';
import { spawnProcess, stopProcess, untilReady, type ServiceProcess } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

type Environment = Readonly<Record<string, string>>;

const [former, next] = [randomBytes(32), randomBytes(32)];
const text = (key: Buffer): string => key.toString('base64');
/**
 * What the processes are given, in the order of docs/operations.md, and the places that are restarted
 * with it.
 */
const phases: readonly (readonly [string, Environment, readonly number[]])[] = [
  ['the former key alone', { SECRET_KEY: text(former) }, []],
  ['the next key is known', { SECRET_KEY: text(former), SECRET_KEY_NEXT: text(next) }, [0, 2, 1]],
  [
    'the next key is the current one',
    { SECRET_KEY: text(next), SECRET_KEY_PREVIOUS: text(former) },
    [0, 2, 1],
  ],
  ['the former key is gone', { SECRET_KEY: text(next) }, [0, 1, 2]],
];

const edge = 'gateway rest-facade checkout';
const everything = `${edge} subgraph payments subgraph payouts subgraph recurring subgraph merchants worker`;
const blockedCard = '4111111111111111';
const payout = { amount: 1_000, method: 'payouts_card', card_pan: '2200000000000004' };

let database: TestDatabase;
let redis: Awaited<ReturnType<typeof startRedis>>;
/** The last place is an edge whose subgraphs are those of 0; the others do everything. */
const places = [0, 1, 2];
const edgePlace = places.length - 1;
/** Places that do everything. */
const whole = places.slice(0, -1);
const running: ServiceProcess[] = [];
const environments: Environment[] = [];
/**
 * Places where calls go: not one that is being restarted, nor the edge while it has no subgraphs.
 */
let open: readonly number[] = places;
/** Where each caller of the traffic is at this moment. */
const busyAt = new Map<number, number>();
let merchant: Merchant;
let firstPage = '';
let firstPayout = '';
let webhookSecret = '';
let receiver: Awaited<ReturnType<typeof openReceiver>>;

const at = (place: number): ServiceProcess =>
  running[place] ?? assert.fail(`nothing runs at ${place}`);
const graphOf = (place: number) => ({ graph: at(place).url });
const call = (
  place: number,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => callRest({ rest: at(place).url, key: merchant.key }, method, path, body, headers);

const begin = async (place: number, secrets: Environment): Promise<void> => {
  const port = Number(new URL(environments[place]?.['URL'] ?? '').port);
  running[place] = spawnProcess(place === edgePlace ? edge : everything, port, {
    ...environments[place],
    ...secrets,
  });
  await untilReady(running[place]);
};

/**
 * Calls every open place until it is stopped; what is answered with 5xx, or not at all, is given
 * back.
 */
const openTraffic = () => {
  const failures: string[] = [];
  let calls = 0;
  const stopping = new AbortController();
  const caller = async (number: number): Promise<void> => {
    for (let turn = number; !stopping.signal.aborted; turn += 1) {
      const place = open[turn % open.length];
      if (place === undefined) {
        // No other place has the subgraphs of the one that is being restarted.
        busyAt.delete(number);
        await delay(50);
        continue;
      }
      busyAt.set(number, place);
      try {
        const key = { 'idempotency-key': `traffic-${number}-${Math.floor(turn / 2)}` };
        const created = await call(place, 'POST', '/payments', { amount: 100 + number }, key);
        const page = await fetch(`${at(place).url}${new URL(firstPage).pathname}`);
        await page.arrayBuffer();
        for (const status of [created.status, page.status])
          if (status !== 200 && status !== 201) failures.push(`${place}: ${status}`);
        calls += 2;
        // Enough to meet every moment of a restart, and little enough to leave the machine to the
        // restarts.
        await delay(200);
      } catch (error) {
        failures.push(`${place}: ${String(error)}`);
      }
    }
    busyAt.delete(number);
  };
  const callers = [0, 1].map(caller);
  const stop = async (): Promise<{
    readonly failures: readonly string[];
    readonly calls: number;
  }> => {
    stopping.abort();
    await Promise.all(callers);
    return { failures, calls };
  };
  return { stop };
};

/** Restarts one place while the others are called. */
const restart = async (place: number, secrets: Environment): Promise<void> => {
  open = places.filter((other) => other !== place && !(place === 0 && other === edgePlace));
  await eventually(
    () => [...busyAt.values()].every((busy) => open.includes(busy)),
    'the last call',
  );
  assert.equal(await stopProcess(at(place)), 0, at(place).output());
  await begin(place, secrets);
  open = places;
};

const pay = async (place: number, paymentUrl: string): Promise<void> => {
  const url = `${at(place).url}${new URL(paymentUrl).pathname}`;
  for (const [step, body] of [
    ['method', { method: 'sbp' }],
    ['pay', {}],
  ] as const) {
    const headers = { 'content-type': 'application/json', origin: at(place).url };
    const response = await fetch(`${url}/${step}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 200, await response.text());
  }
};

const addBlock = async (place: number, value: string): Promise<{ readonly id: string }> => {
  const mutation = `mutation ($m: ID!, $v: String!) { blockEntryAdd(merchantId: $m, kind: card, value: $v, reason: "stolen") { ... on BlockEntry { id } } }`;
  return (await askGraph(graphOf(place), mutation, { m: merchant.id, v: value })).blockEntryAdd;
};

/** Everything that stands on the secret key, at one place. */
const look = async (place: number, firstPageOpens = true): Promise<void> => {
  const page = await fetch(`${at(place).url}${new URL(firstPage).pathname}`);
  assert.equal(page.status, firstPageOpens ? 200 : 404, `the first payment's page at ${place}`);
  const created = await call(place, 'POST', '/payments', { amount: 7_000 });
  assert.equal(created.status, 201);
  for (const other of places) {
    assert.equal(
      (await fetch(`${at(other).url}${new URL(created.body.payment_url).pathname}`)).status,
      200,
      `a page made at ${place}, opened at ${other}`,
    );
  }
  const replay = await call(place, 'POST', '/payouts', payout, { 'idempotency-key': 'first' });
  assert.deepEqual(
    [replay.status, replay.body.payout?.id],
    [200, firstPayout],
    `a payout's key used again at ${place}`,
  );
  const other = await call(
    place,
    'POST',
    '/payouts',
    { ...payout, amount: 1_001 },
    { 'idempotency-key': 'first' },
  );
  assert.equal(other.status, 409);
  const blocked = await call(place, 'POST', '/payouts', { ...payout, card_pan: blockedCard });
  assert.deepEqual(
    [blocked.status, blocked.body.error?.code],
    [403, 'aml_blocked'],
    `a blocked card at ${place}`,
  );
  await pay(place, created.body.payment_url);
  const webhook = await receiver.until(({ body }) => body.data.id === created.body.payment.id);
  const timestamp = /^t=(\d+),/.exec(String(webhook.headers['x-psp-signature']))?.[1] ?? '';
  assert.equal(
    webhook.headers['x-psp-signature'],
    expectedSignature(webhookSecret, webhook.raw, timestamp),
  );
};

/** The ids of the keys that secrets at rest are sealed with. */
const sealers = async (): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const parts = sealedColumns.map(
      ([table, column]) =>
        `select split_part(${column}, '.', 2) as id from ${table} where ${column} is not null`,
    );
    return (await client.query<{ id: string }>(parts.join(' union ') + ' order by 1')).rows.map(
      ({ id }) => id,
    );
  } finally {
    await client.end();
  }
};

describe('the secret key is changed without a stop', { skip: noRedis }, () => {
  before(async () => {
    [database, redis] = await Promise.all([startTestDatabase({ migrated: true }), startRedis()]);
    receiver = await openReceiver();
    const ports = await Promise.all(places.map(() => freePort()));
    const [first = 0] = ports;
    const subgraphs = ['PAYMENTS', 'PAYOUTS', 'RECURRING', 'MERCHANTS'].map((name) => [
      `SUBGRAPH_${name}_URL`,
      `http://127.0.0.1:${first}`,
    ]);
    for (const [place, port] of ports.entries()) {
      const stores = {
        DATABASE_URL: database.url,
        WEBHOOK_PRIVATE_TARGETS: 'allow',
      };
      const common = {
        URL: `http://127.0.0.1:${port}`,
        REDIS_URL: redis.url,
        PUBLIC_URL: `http://127.0.0.1:${first}`,
        DRAIN_MS: '60000',
      };
      environments.push(
        place === edgePlace
          ? { ...common, ...Object.fromEntries(subgraphs) }
          : { ...common, ...stores },
      );
    }
    const [, secrets = {}] = phases[0] ?? [];
    // One by one: each is soon ready then.
    for (const place of places) await begin(place, secrets);
    const service = {
      rest: at(1).url,
      rests: [at(1).url],
      graph: at(1).url,
      processes: running,
      stop: async () => {},
    };
    merchant = await makeMerchant(service);
    webhookSecret = await merchant.endpoint(receiver.url, ['payment_succeeded']);
    const created = await call(1, 'POST', '/payments', { amount: 500_000 });
    firstPage = created.body.payment_url;
    await pay(1, firstPage);
    await receiver.until(({ body }) => body.data.id === created.body.payment.id);
    const paidOut = await call(1, 'POST', '/payouts', payout, { 'idempotency-key': 'first' });
    assert.equal(paidOut.status, 201, JSON.stringify(paidOut.body));
    firstPayout = paidOut.body.payout.id;
    await addBlock(1, blockedCard);
    await look(0);
  });
  after(async () => {
    await Promise.all(running.map((process) => stopProcess(process, 'SIGKILL')));
    await receiver.close();
    await Promise.all([redis.stop(), database.stop()]);
  });

  for (const [phase, secrets, restarted] of phases.slice(1, 3)) {
    test(`${phase}: place by place, and nothing is refused or fails`, async (t) => {
      const traffic = openTraffic();
      // Where something fails first: calls that go on would keep the file from ending.
      t.after(traffic.stop);
      for (const place of restarted) {
        await restart(place, secrets);
        await look(place);
      }
      await look(0);
      const { failures, calls } = await traffic.stop();
      assert.deepEqual(failures, []);
      assert.ok(calls > 20, `only ${calls} calls were made meanwhile`);
    });
  }

  test('what is sealed is sealed anew, and a worker says so', async () => {
    const ids = [former, next].map((key) => keyIdOf(currentKey(deriveSecrets(key).vault)));
    const isDone = async (): Promise<boolean> => {
      const texts = await Promise.all(
        whole.map(async (place) => (await fetch(`${at(place).url}/metrics`)).text()),
      );
      return texts.some(
        (lines) =>
          /^sealed_secrets\{key="other"\} 0$/m.test(lines) &&
          /^sealed_secrets\{key="current"\} [1-9]/m.test(lines),
      );
    };
    await eventually(isDone, 'the end of sealing');
    assert.deepEqual(await sealers(), [ids[1]]);
  });

  test('the former key is gone: all but the addresses of old pages is as before', async () => {
    const [, secrets = {}, restarted = []] = phases[3] ?? [];
    for (const place of restarted) await restart(place, secrets);
    for (const place of places) await look(place, false);
    const again = await addBlock(0, blockedCard);
    const entries = await askGraph(
      graphOf(edgePlace),
      'query ($m: ID!) { blockEntries(merchantId: $m) { nodes { id } } }',
      { m: merchant.id },
    );
    assert.deepEqual(entries.blockEntries.nodes, [again], 'the same card is no second entry');
  });

  test('the secrets of the edge do not let their holder speak as a service', async () => {
    const [shared] = allKeys(deriveSecrets(next).principal);
    const sign = (kid: string | null): Promise<string> =>
      new SignJWT({ principal: { kind: 'service', name: 'recurring' } })
        .setProtectedHeader(kid === null ? { alg: 'HS256' } : { alg: 'HS256', kid })
        .setAudience('payment-service/subgraph')
        .setIssuedAt()
        .setExpirationTime('1 minute')
        .sign(createSecretKey(shared));
    const ask = async (header: string): Promise<number> => {
      const query = '{ recurringPayments(references: []) { __typename } }';
      const headers = { 'content-type': 'application/json', [principalHeader]: header };
      const { status } = await fetch(`${at(0).url}/subgraphs/payments`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query }),
      });
      return status;
    };
    assert.equal(await ask(await sign(null)), 401);
    const generation = keyIdOf(currentKey(deriveSecrets(next).vault));
    assert.equal(await ask(await sign(`service.${generation}`)), 401);
  });
});
