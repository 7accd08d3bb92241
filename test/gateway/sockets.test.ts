import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { WebSocket } from 'ws';
import { endsBefore } from '../support/ends-before.ts';
import { eventually } from '../support/eventually.ts';
import { bearer, closingOf, receive, receiveAll, letIn, openSocket, say } from './raw-socket.ts';
import { connect, serveGraph, stoppedClock } from './serve-graph.ts';
import { liveKey, operatorToken, otherShopKey, testKey } from './small-graph.ts';

describe('a socket', () => {
  test('runs queries and mutations too', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const client = connect(t, socketUrl, bearer(operatorToken));
    const run = async (query: string) => (await client.iterate({ query }).next()).value;
    assert.deepEqual(await run('{ merchant(id: "m1") { name } }'), {
      data: { merchant: { name: 'Merchant of the test' } },
    });
    assert.deepEqual(await run('mutation { merchantCreate(name: "New") { id name } }'), {
      data: { merchantCreate: { id: 'm9', name: 'New' } },
    });
  });

  test('refuses what the access table does not give the caller', async (t) => {
    const { socketUrl, fixture } = await serveGraph(t);
    const result = await connect(t, socketUrl)
      .iterate({ query: 'mutation { merchantCreate(name: "New") { id } }' })
      .next();
    assert(!result.done);
    assert.deepEqual(
      result.value.errors?.map(({ extensions }) => extensions?.['code']),
      ['scope_required'],
    );
    assert.equal(fixture.count('merchantCreate'), 0);
  });

  test('takes the key from the header as well', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await openSocket(t, socketUrl, ['graphql-transport-ws'], bearer(testKey));
    say(socket, { type: 'connection_init' });
    assert.deepEqual(await receive(socket), { type: 'connection_ack' });
  });

  test('is closed with 4403 for a bad key, a live key without live mode, and no key', async (t) => {
    const { socketUrl } = await serveGraph(t);
    for (const payload of [
      bearer('sk_test_abc123_wrong'),
      bearer(liveKey),
      {},
      { authorization: 5 },
    ]) {
      const socket = await openSocket(t, socketUrl);
      say(socket, { type: 'connection_init', payload });
      assert.deepEqual(await closingOf(socket), { code: 4403, reason: 'Forbidden' });
    }
  });

  test('is closed with 4403 as soon as its key is revoked', async (t) => {
    const { socketUrl, fixture } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    await fixture.revoke(testKey);
    assert.equal((await closingOf(socket)).code, 4403);
  });

  test('is asked to try again later when keys cannot be checked', async (t) => {
    const { socketUrl, fixture } = await serveGraph(t);
    fixture.obstacles.set('apiKeyHolder', () => Promise.reject(new Error('no database')));
    const socket = await openSocket(t, socketUrl);
    say(socket, { type: 'connection_init', payload: bearer(testKey) });
    assert.deepEqual(await closingOf(socket), { code: 1013, reason: 'Try again later' });
  });

  test('is closed as the protocol says: 4400, 4401, 4406, 4409, 4429', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const codes: number[] = [];
    const closedBy = async (socket: WebSocket, ...messages: readonly string[]): Promise<void> => {
      for (const message of messages) socket.send(message);
      codes.push((await closingOf(socket)).code);
    };
    const subscribe = JSON.stringify({
      type: 'subscribe',
      id: '1',
      payload: { query: 'subscription { events { id } }' },
    });
    await closedBy(await openSocket(t, socketUrl), 'not json');
    await closedBy(await openSocket(t, socketUrl), subscribe);
    await closedBy(await openSocket(t, socketUrl, []));
    await closedBy(await letIn(t, socketUrl), subscribe, subscribe);
    await closedBy(
      await letIn(t, socketUrl),
      JSON.stringify({ type: 'connection_init', payload: bearer(testKey) }),
    );
    assert.deepEqual(codes, [4400, 4401, 4406, 4409, 4429]);
  });

  test('is closed with 4408 when its first message does not come', async (t) => {
    const { socketUrl } = await serveGraph(t, { connectionInit_ms: 50 });
    assert.deepEqual(await closingOf(await openSocket(t, socketUrl)), {
      code: 4408,
      reason: 'Connection initialisation timeout',
    });
  });

  for (const [what, frames] of Object.entries({
    'half a frame': [Buffer.from([0x81, 0xfe, 0xff])],
    'pings of its own': Array.from({ length: 50 }, () => Buffer.from([0x89, 0x80, 1, 2, 3, 4])),
    'a message in pieces that never ends': [Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x7b])],
    garbage: [Buffer.alloc(64, 0xff)],
  })) {
    test(`without a first message is cut, whatever its client sends: ${what}`, async (t) => {
      const { app, socketUrl } = await serveGraph(t, { connectionInit_ms: 50 });
      const { hostname, port } = new URL(socketUrl);
      // It reads what comes and never answers a close.
      const client = createConnection({ host: hostname, port: Number(port) });
      t.after(() => client.destroy());
      client.on('error', () => {});
      const closed = new Promise((resolve) => client.once('close', resolve));
      const key = randomBytes(16).toString('base64');
      client.write(
        `GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
      );
      const [head] = await once(client, 'data');
      assert.match(String(head), /^HTTP\/1\.1 101 /);
      for (const frame of frames) client.write(frame);
      client.resume();
      await closed;
      const connections = () =>
        new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
      await eventually(async () => (await connections()) === 0, 'the server has let it go');
    });
  }

  test('is closed with 4400 by a message of an unknown type, an operation without a query or an id, and bytes that are no text', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const payload = { query: '{ rates { rateBps } }' };
    for (const message of [
      { type: 'start', id: '1', payload },
      { type: 'subscribe', id: '1', payload: {} },
      { type: 'subscribe', payload },
      [],
      null,
    ]) {
      const socket = await letIn(t, socketUrl);
      socket.send(JSON.stringify(message));
      assert.equal((await closingOf(socket)).code, 4400, JSON.stringify(message));
    }
    const socket = await letIn(t, socketUrl);
    socket.send(Buffer.from([0xff, 0x00, 0xfe]));
    assert.equal((await closingOf(socket)).code, 4400);
  });

  test('answers a ping, and an id may be used again after its operation has ended', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    say(socket, { type: 'ping', payload: { n: 1 } });
    assert.deepEqual(await receive(socket), { type: 'pong', payload: { n: 1 } });
    for (let round = 0; round < 2; round += 1) {
      say(socket, { type: 'subscribe', id: 'same', payload: { query: '{ __typename }' } });
      assert.deepEqual(await receiveAll(socket, 2), [
        { id: 'same', type: 'next', payload: { data: { __typename: 'Query' } } },
        { id: 'same', type: 'complete' },
      ]);
    }
  });

  test("takes the merchant's tokens for its operations, and refuses what is too much without closing", async (t) => {
    const { socketUrl, fixture } = await serveGraph(t, stoppedClock);
    fixture.setKey(testKey, {
      ...fixture.holderOf(testKey),
      rateLimit: { perSecond: 1, burst: 3 },
    });
    const socket = await letIn(t, socketUrl);
    for (const id of ['1', '2', '3', '4', '5'])
      say(socket, { type: 'subscribe', id, payload: { query: 'subscription { events { id } }' } });
    const refused = await receiveAll(socket, 1);
    assert.match(JSON.stringify(refused), /"type":"error".*"code":"rate_limited"/);
    assert.equal(socket.readyState, socket.OPEN);
  });

  test('forgets what was wrong with an operation that it refused for another reason', async (t) => {
    let now_us = 0;
    const { socketUrl, fixture } = await serveGraph(t, { now_us: () => now_us });
    const rateLimit = { perSecond: 1, burst: 1 };
    fixture.setKey(testKey, { ...fixture.holderOf(testKey), rateLimit });
    const socket = await letIn(t, socketUrl);
    const ask = (variables: string): void =>
      socket.send(
        `{"type":"subscribe","id":"1","payload":{"query":"{ __typename }","variables":${variables}}}`,
      );
    const codes: unknown[] = [];
    for (const seconds of [0, 0, 100]) {
      now_us += seconds * 1_000_000;
      ask(seconds === 0 ? '{"a":1e2}' : '{}');
      const [answer]: readonly any[] = await receiveAll(socket, 1);
      codes.push(answer.payload[0]?.extensions.code ?? answer.type);
    }
    assert.deepEqual(codes, ['bad_request', 'rate_limited', 'next']);
  });

  test('is closed with 1009 by a message that is too large', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    socket.send('x'.repeat(300_000));
    assert.equal((await closingOf(socket)).code, 1009);
  });

  test('is closed with 4429 when its caller has as many as allowed, and a closed one makes room', async (t) => {
    const { socketUrl } = await serveGraph(t, { socketsPerCaller: 2 });
    const [first] = [await letIn(t, socketUrl), await letIn(t, socketUrl)];
    const third = await openSocket(t, socketUrl);
    say(third, { type: 'connection_init', payload: bearer(testKey) });
    assert.deepEqual(await closingOf(third), { code: 4429, reason: 'Too many sockets' });
    await letIn(t, socketUrl, otherShopKey);
    first?.close();
    // Nothing notifies a client when the server has let it go.
    const admitted = () =>
      letIn(t, socketUrl).then(
        () => true,
        () => false,
      );
    await eventually(admitted, 'another socket is let in');
  });

  test('is not to be had on another path', async (t) => {
    const { url } = await serveGraph(t);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/other`, 'graphql-transport-ws');
    const [error] = await once(socket, 'error');
    assert.match(String(error), /404/);
  });

  test('ends with 1001 when the service drains, even when its client does not answer', async (t) => {
    const { app, socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    const deaf = await letIn(t, socketUrl);
    deaf.pause();
    const closing = closingOf(socket);
    // The cut comes after 0.8 seconds, the library's own after 30.
    assert(await endsBefore(25_000, app.close()));
    assert.deepEqual(await closing, { code: 1001, reason: 'Going away' });
  });
});
