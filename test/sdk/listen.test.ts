/** `psp listen` loses no event, though it is killed in the middle of a thousand payments. */
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '../../sdk/src/index.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { openPsp } from './run-psp.ts';
import { eventually } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());

const count = 1_000;

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
  const local = await openRecorder();
  const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: merchant.key });
  t.after(psp.remove);
  const listen = () => psp.start('listen', '--forward-to', local.url, '--json');
  let listening = listen();
  t.after(() => listening.kill('SIGKILL'));
  // What happens before its remark is before its beginning.
  const [remark] = await once(listening.stderr ?? listening, 'data');
  assert.match(String(remark), /^forwarding to http/);

  const numbers = Array.from({ length: count }, (_, index) => index).values();
  const shop = async (): Promise<void> => {
    for (const index of numbers) {
      const { body } = await merchant.call('POST', '/payments', { amount: 100 + index });
      await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
    }
  };
  const made = { all: false };
  const shops = Promise.all(Array.from({ length: 10 }, shop)).finally(() => (made.all = true));
  let kills = 0;
  for (; !made.all; kills++) {
    await Promise.race([sleep(1_500 + kills * 300), shops]);
    listening.kill('SIGKILL');
    await once(listening, 'exit');
    await sleep(200);
    listening = listen();
    listening.stderr?.resume();
    listening.stdout?.resume();
  }
  await shops;
  await eventually(() => endpoint.bodies.size === count, "the endpoint's webhooks");
  await eventually(() => local.bodies.size === count, 'the forwarded events');
  t.diagnostic(`killed ${kills} times; ${local.headers.length} deliveries of ${count} events`);
  assert.ok(kills > 1, 'it was hardly killed');
  assert.deepEqual(
    new Map([...local.bodies].map(([id, bodies]) => [id, [...bodies]])),
    new Map([...endpoint.bodies].map(([id, bodies]) => [id, [...bodies]])),
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
  const [code] = await once(listening, 'exit');
  assert.equal(code, 0);
});
