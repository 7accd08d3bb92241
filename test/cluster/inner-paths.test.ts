/**
 * What is inside stays inside: the sample of HAProxy before a process that has everything, and
 * METRICS_PORT.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { openPlainService, startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { startHaproxy, type Haproxy } from './outside.ts';
import { samples } from './sample-config.ts';

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Asks for exactly this path: neither a client nor a library tidies it up. */
const ask = (base: string, path: string): Promise<Answered> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const { hostname, port } = new URL(base);
  const sent = request({ hostname, port, path, agent: false });
  sent.on('error', reject).on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
  });
  sent.end();
  return promise;
};

/** One path in the ways in which it might get past a comparison. */
const spellings = (name: string): readonly string[] => {
  const [first = ''] = name;
  const encoded = `%${first.charCodeAt(0).toString(16)}${name.slice(1)}`;
  return [
    `/${name}`,
    `/${encoded}`,
    `/${encoded.toUpperCase()}`,
    `/${Array.from(name, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}`,
    `//${name}`,
    `/./${name}`,
    `/.//./${encoded}`,
    `/%2e/${name}`,
    `/%2F${name}`,
    `/${name}/`,
    `/${name}//`,
    `/${name};x=1`,
    `/${name}%3Bx`,
    `/${name}?x=1`,
    `/${name}%3Fx=1`,
    `/${name.toUpperCase()}`,
    `/v1/../${name}`,
  ];
};

const isMetrics = ({ text }: Answered): boolean =>
  text.includes('# HELP') || text.includes('process_cpu');

describe(
  'HAProxy as in the sample',
  { skip: process.env['HAPROXY'] ? false : 'haproxy is not installed' },
  () => {
    let service: ServiceInUse;
    let haproxy: Haproxy;
    let front: string;
    before(async () => {
      service = await openPlainService();
      const sample = readFileSync(join(samples, 'haproxy.cfg'), 'utf8');
      const { host } = new URL(service.rest);
      const binds = [...sample.matchAll(/bind (\*:\d+)/g)].map(([bind]) => bind);
      const ports = await Promise.all(binds.map(() => freePort()));
      const servers = [...sample.matchAll(/^ {4}server \S+ ((?!postgres)\S+:\d+)$/gm)].map(
        ([, address]) => [String(address), host] as const,
      );
      assert.ok(servers.length >= 6, 'the sample has its servers');
      const databases = ['postgres-1', 'postgres-2'].map(
        (name) => [`${name}:5432 port 8008`, `${host} port ${new URL(service.rest).port}`] as const,
      );
      const addresses = new Map([
        ...databases,
        ...binds.map((bind, index) => [bind, `bind 127.0.0.1:${ports[index]}`] as const),
        ...servers,
      ]);
      haproxy = await startHaproxy(ports[0] ?? 0, addresses);
      front = `http://127.0.0.1:${ports[0]}`;
    });
    after(async () => {
      await haproxy?.stop();
      await service?.stop();
    });

    for (const name of ['metrics', 'readyz', 'healthz', 'subgraphs/payments']) {
      test(`shows /${name} to no caller, however it is written`, async () => {
        for (const path of spellings(name)) {
          const answered = await ask(front, path);
          assert.ok(
            [400, 404].includes(answered.status) && !isMetrics(answered),
            `${path}: ${answered.status}`,
          );
        }
      });
    }

    test('leads everything else to where it belongs, however it is written', async () => {
      for (const [path, status, says] of [
        ['/docs', 200, /<html/],
        ['/%64ocs', 200, /<html/],
        ['/v1/public/balance', 401, /unauthorized/],
        ['/graphql?query=%7Ba%7D', 401, /errors/],
        ['/%67raphql', 401, /errors/],
        ['/pay/nobody', 404, /<html/],
        ['/%70ay/nobody', 404, /<html/],
        ['/metrics-of-mine', 404, /not_found/],
      ] as const) {
        const answered = await ask(front, path);
        assert.equal(answered.status, status, path);
        assert.match(answered.text, says, path);
      }
    });
  },
);

describe('METRICS_PORT', () => {
  let service: ServiceInUse;
  let metricsPort: number;
  before(async () => {
    metricsPort = await freePort();
    service = await startOwn({ METRICS_PORT: String(metricsPort) });
  });
  after(() => service?.stop());

  test('takes the metrics off the public port, which has its health still', async () => {
    for (const path of spellings('metrics')) {
      const answered = await ask(service.rest, path);
      assert.ok(
        [400, 404].includes(answered.status) && !isMetrics(answered),
        `${path}: ${answered.status}`,
      );
    }
    for (const path of ['/healthz', '/readyz'])
      assert.equal((await ask(service.rest, path)).status, 200, path);
  });

  test('has metrics and health of the whole process, and nothing else', async () => {
    const own = `http://127.0.0.1:${metricsPort}`;
    await ask(service.rest, '/v1/public/balance');
    const answered = await ask(own, '/metrics');
    assert.equal(answered.status, 200);
    assert.match(
      answered.text,
      /http_request_duration_seconds_count\{route="\/v1\/public\/balance",method="GET",status="401"\}/,
    );
    for (const path of ['/healthz', '/readyz'])
      assert.equal((await ask(own, path)).status, 200, path);
    for (const path of ['/v1/public/balance', '/graphql', '/pay/nobody', '/docs'])
      assert.equal((await ask(own, path)).status, 404, path);
  });
});
