/**
 * Receivers with faults, each called once; `delivery.test.ts` shows that they
 * do not delay others.
 */
import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { Dispatcher } from 'undici';
import { deliveryLimits } from '../../subgraphs/merchants/webhooks/deliver-webhook.ts';
import { postWebhook, type Answer } from '../../subgraphs/merchants/webhooks/post-webhook.ts';
import { openTargets } from '../../subgraphs/merchants/webhooks/webhook-target.ts';
import { patience_ms } from '../support/eventually.ts';
import { makeSelfSigned } from './self-signed.ts';

/** Of what never ends; everything else has long. */
const deadline_ms = 4_000;
const late = `no complete answer within ${deadline_ms} ms`;
let targets: Dispatcher;
before(() => {
  targets = openTargets({ privateTargets: () => true });
});
after(() => targets.destroy());

const listen = async (context: TestContext, server: Server): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

/** A receiver that is called with each connection once something has come over it. */
const serveBytes = (context: TestContext, answer: (socket: Socket) => void): Promise<number> =>
  listen(
    context,
    createServer((socket) => socket.once('data', () => answer(socket))),
  );

const post = (url: string, within_ms = patience_ms): Promise<Answer> =>
  postWebhook(targets, { url, headers: { 'X-Test': '1' }, body: '{}', deadline_ms: within_ms });
const postHastily = (url: string): Promise<Answer> => post(url, deadline_ms);

/** Writes the text byte by byte, and the last byte again and again. */
const drip = (socket: Socket, text: string): void => {
  let written = 0;
  const timer = setInterval(
    () => socket.write(text[Math.min(written++, text.length - 1)] ?? ''),
    20,
  );
  socket.on('close', () => clearInterval(timer));
};

test('an attempt has 15 seconds, and its lease lasts longer', () => {
  assert.equal(deliveryLimits.deadline_ms, 15_000);
  assert.ok(deliveryLimits.leaseMargin_ms >= 10_000);
});

describe('an attempt ends at its deadline', { concurrency: true }, () => {
  test('when the receiver drips its headers', async (context) => {
    const port = await serveBytes(context, (socket) =>
      drip(socket, 'HTTP/1.1 200 OK\r\nX-Slow: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'),
    );
    assert.deepEqual(
      { ...(await postHastily(`http://127.0.0.1:${port}/`)), duration_ms: 0 },
      { status: null, error: late, fault: 'timeout', head: null, duration_ms: 0 },
    );
  });

  test('when it drips its body, but the status that came in time counts', async (context) => {
    const port = await serveBytes(context, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      drip(socket, 'y');
    });
    const { status, error } = await postHastily(`http://127.0.0.1:${port}/`);
    assert.deepEqual({ status, error }, { status: 200, error: late });
  });

  test('when it takes the connection and never speaks, with TLS or without', async (context) => {
    const port = await serveBytes(context, () => {});
    const answers = ['http', 'https'].map((scheme) =>
      postHastily(`${scheme}://127.0.0.1:${port}/`),
    );
    assert.deepEqual(
      (await Promise.all(answers)).map(({ error }) => error),
      [late, late],
    );
  });
});

describe('an attempt fails', () => {
  test('when the headers never end', async (context) => {
    const port = await serveBytes(context, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write(`X-More: ${'y'.repeat(4_000)}\r\n`), 1);
      socket.on('close', () => clearInterval(timer));
    });
    const { status, error } = await post(`http://127.0.0.1:${port}/`);
    assert.equal(status, null);
    assert.match(error ?? '', /overflow/i);
  });

  test('when what comes is not HTTP, or not TLS where TLS was asked for', async (context) => {
    const port = await serveBytes(context, (socket) => socket.end('220 mail.example ESMTP\r\n'));
    assert.match((await post(`http://127.0.0.1:${port}/`)).error ?? '', /does not match the HTTP/);
    assert.match((await post(`https://127.0.0.1:${port}/`)).error ?? '', /SSL|TLS|EPROTO/i);
  });

  test('when the receiver hangs up in the middle of the handshake', async (context) => {
    const port = await serveBytes(context, (socket) => socket.destroy());
    assert.match(
      (await post(`https://127.0.0.1:${port}/`)).error ?? '',
      /ECONNRESET|disconnected|socket/i,
    );
  });

  test('before anything is sent to a receiver with an untrusted certificate', async (context) => {
    let asked = 0;
    const server = createTlsServer(makeSelfSigned('localhost'), (_request, response) => {
      asked += 1;
      response.end();
    });
    const port = await listen(context, server);
    assert.match((await post(`https://localhost:${port}/`)).error ?? '', /SELF_SIGNED|self-signed/);
    assert.equal(asked, 0);
  });

  test('when the answer is a redirect of any kind, wherever it leads', async (context) => {
    let connections = 0;
    const inside = await serveBytes(context, () => (connections += 1));
    for (const status of [301, 302, 303, 307, 308]) {
      const port = await serveBytes(context, (socket) =>
        socket.end(
          `HTTP/1.1 ${status} Go\r\nLocation: http://127.0.0.1:${inside}/\r\nContent-Length: 0\r\n\r\n`,
        ),
      );
      assert.equal((await post(`http://127.0.0.1:${port}/`)).status, status);
    }
    assert.equal(connections, 0);
  });
});
