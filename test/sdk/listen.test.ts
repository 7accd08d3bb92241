/** `psp listen` loses no event, though it is killed in the middle of many payments. */
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '../../sdk/src/index.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { openPsp } from './run-psp.ts';
import { eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';

const service = await openPlainService();
after(() => service.stop());

const count = size(250, 1_000);
const kills = size(3, 8);

/** Keeps what is posted to it, by the event's id. */
const openRecorder = async (answer: () => number = () => 200) => {
  const bodies = new Map<string, Set<string>>();
  const headers: Record<string, string | string[] | undefined>[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { id } = JSON.parse(body);
    const status = answer();
    if (status === 200) bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
    headers.push(request.headers);
    response.writeHead(status).end();
  };
  const server = createServer(receive).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/hook`, bodies, headers };
};

test(`${count} payments while it is killed again and again: every event, with the bytes of an endpoint's`, async (t) => {
  const merchant = await makeMerchant(service);
  const endpoint = await openRecorder();
  await merchant.endpoint(endpoint.url);
  const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: merchant.key });
  t.after(psp.remove);
  // So many events have come when it is killed, in the middle of a delivery.
  const killAt = Array.from({ length: kills }, (_, kill) =>
    Math.floor((count * (kill + 1)) / (kills + 1)),
  );
  let listening: ChildProcess | undefined;
  const local = await openRecorder(() => {
    if (local.bodies.size >= (killAt[0] ?? count)) {
      killAt.shift();
      listening?.kill('SIGKILL');
    }
    return 200;
  });
  let remarks = '';
  const listen = (): void => {
    listening = psp.start('listen', '--forward-to', local.url, '--json');
    listening.stderr?.on('data', (part) => (remarks += String(part)));
    listening.stdout?.resume();
    listening.once('exit', () => !isOver && listen());
  };
  let isOver = false;
  t.after(() => {
    isOver = true;
    listening?.kill('SIGKILL');
  });
  listen();
  // What happens before its remark is before its beginning.
  await eventually(() => remarks.includes('\n'), 'its remark');
  assert.match(remarks, /^forwarding to http/);

  const numbers = Array.from({ length: count }, (_, index) => index).values();
  const shop = async (): Promise<void> => {
    for (const index of numbers) {
      const { body } = await merchant.call('POST', '/payments', { amount: 100 + index });
      await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
    }
  };
  const shops = Promise.all(Array.from({ length: 10 }, shop));
  await shops;
  await eventually(() => endpoint.bodies.size === count, "the endpoint's webhooks");
  await eventually(() => local.bodies.size === count, 'the forwarded events');
  t.diagnostic(`${local.headers.length} deliveries of ${count} events`);
  assert.deepEqual(killAt, []);
  assert.deepEqual(
    new Map([...local.bodies].map(([id, bodies]) => [id, [...bodies]])),
    new Map([...endpoint.bodies].map(([id, bodies]) => [id, [...bodies]])),
  );
});

test('an event without an answer does not delay the next ones, and is delivered at last; without an address they are printed', async (t) => {
  const merchant = await makeMerchant(service);
  const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: merchant.key });
  t.after(psp.remove);
  const ids: string[] = [];
  for (const amount of [100, 101]) {
    const { body } = await merchant.call('POST', '/payments', { amount });
    await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
    ids.push(body.payment.id);
  }
  // The first one is left without an answer as long as the second one has not come.
  const taken: string[] = [];
  const server = createServer(async (request, response) => {
    const { id } = JSON.parse(await text(request)).data;
    if (id === ids[0] && !taken.includes(ids[1] ?? '')) return request.socket.destroy();
    taken.push(id);
    return response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const follow = (...options: readonly string[]) => {
    const child = psp.start('listen', '--replay-since', '10m', '--json', ...options);
    t.after(() => child.kill('SIGKILL'));
    let lines = '';
    child.stdout?.on('data', (part) => (lines += String(part)));
    return () =>
      lines
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
  };
  const printed = follow();
  follow('--forward-to', String(port));
  await eventually(() => taken.length === 2, 'both events');
  assert.deepEqual(taken, ids.toReversed());
  await eventually(() => printed().length === 2, 'the printed events');
  assert.deepEqual(
    printed().map(({ event, data }) => [event, data.id]),
    ids.map((id) => ['payment.cancelled', id]),
  );
});

test('what it forwards is signed with the secret that it prints, chosen by name, and tried again', async (t) => {
  const merchant = await makeMerchant(service);
  const answers = [503, 200].values();
  const local = await openRecorder(() => answers.next().value ?? 200);
  const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: merchant.key });
  t.after(psp.remove);
  const create = async (): Promise<string> =>
    (await merchant.call('POST', '/payments', { amount: 100 })).body.payment.id;
  const cancelled = await create();
  await merchant.call('POST', `/payments/${cancelled}/cancel`);
  const chosen = ['--events', 'payment.cancelled', '--replay-since', '10m', '--json'];
  const listening = psp.start('listen', '--forward-to', local.url, ...chosen);
  const ended = once(listening, 'exit');
  t.after(() => listening.kill('SIGKILL'));
  let [lines, remarks] = ['', ''];
  listening.stdout?.on('data', (part) => (lines += String(part)));
  listening.stderr?.on('data', (part) => (remarks += String(part)));
  await eventually(() => local.bodies.size === 1, 'the event of before');
  const [[id = '', bodies] = []] = local.bodies;
  const [body = ''] = bodies ?? [];
  const secret = /whs_\w+/.exec(remarks)?.[0] ?? '';
  const event = await verifyWebhook({ body, headers: local.headers[0] ?? {}, secret });
  assert.deepEqual([event.event, event.id], ['payment.cancelled', id]);
  await eventually(() => lines.split('\n').length > 2, 'its lines');
  const printed = lines.trim().split('\n');
  assert.deepEqual(
    printed.map((line) => [JSON.parse(line).status, JSON.parse(line).attempt]),
    [
      [503, 1],
      [200, 2],
    ],
  );
  listening.kill('SIGINT');
  const [code] = await ended;
  assert.equal(code, 0);
});
