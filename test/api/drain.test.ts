import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { eventually } from '../support/eventually.ts';
import { envelope, talk } from './raw-answers.ts';

describe('a server that drains', () => {
  const log = openLog({ logLevel: 'silent' }, 'test');

  test('ends calls in flight, refuses new ones on kept connections with 503, and then is closed', async () => {
    // No connection is cut for being slow.
    const long_ms = 300_000;
    const app = openHttp({
      config: { publicUrl: null },
      log,
      ready: async () => true,
      overload: null,
      patience: { headers_ms: long_ms, request_ms: long_ms, check_ms: long_ms, drain_ms: long_ms },
    });
    const { promise: goOn, resolve: release } = Promise.withResolvers<void>();
    const { promise: isIn, resolve: enter } = Promise.withResolvers<void>();
    app.get('/slow', async () => {
      enter();
      await goOn;
      return { done: true };
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const slow = await talk(url);
    slow.socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    const late = await talk(url);
    late.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
    await isIn;
    // Once it answers something else, it has taken the beginning of the late one.
    await (await fetch(`${url}/healthz`)).text();
    const closed = app.close();
    const isRefusal = () =>
      fetch(`${url}/healthz`).then(
        (answer) => answer.text().then(() => false),
        () => true,
      );
    await eventually(isRefusal, 'a server that accepts no connection');
    late.socket.write('\r\n');
    await late.closed;
    assert.match(late.received(), /^HTTP\/1\.1 503 [^]*retry-after: 1[^]*"code":"unavailable"/i);
    release();
    await slow.closed;
    assert.match(slow.received(), /^HTTP\/1\.1 200 [^]*connection: close[^]*\{"done":true\}/i);
    await closed;
  });

  test('does not wait for unfinished requests', async () => {
    const patience = { headers_ms: 60_000, request_ms: 60_000, check_ms: 60_000, drain_ms: 50 };
    const app = openHttp({
      config: { publicUrl: null },
      log,
      ready: async () => true,
      overload: null,
      patience,
    });
    app.post('/echo', async () => ({}));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const [head, body] = await Promise.all([talk(url), talk(url)]);
    head.socket.write('POST /echo HTTP/1.1\r\nHost: x\r\n');
    body.socket.write(
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a',
    );
    // Once it answers something else, it has taken both.
    await fetch(`${url}/healthz`);
    await app.close();
    assert.deepEqual([head.received(), body.received()], ['', '']);
  });

  test('says what it is not ready for', async () => {
    let missing: readonly string[] | boolean = ['database', 'queues'];
    const app = openHttp({
      config: { publicUrl: 'https://pay.example' },
      log,
      ready: async () => missing,
      overload: null,
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const response = await fetch(`${url}/readyz`);
    assert.equal(
      response.headers.get('strict-transport-security'),
      'max-age=31536000; includeSubDomains',
    );
    const { status, code, message } = await envelope(response);
    assert.deepEqual([status, code, message], [503, 'unavailable', 'not ready: database, queues']);
    for (const [answer, expected] of [
      [false, 503],
      [true, 200],
      [[], 200],
    ] as const) {
      missing = answer;
      assert.equal((await fetch(`${url}/readyz`)).status, expected);
    }
    await app.close();
  });

  test('hides what broke in a route, and logs it with the request id', async () => {
    const lines: string[] = [];
    const loud = openLog({ logLevel: 'error' }, 'test');
    loud.error = (fields: { requestId: string }) => lines.push(fields.requestId);
    const app = openHttp({
      config: { publicUrl: null },
      log: loud,
      ready: async () => true,
      overload: null,
    });
    app.get('/broken', async () => {
      throw new Error('hunter2');
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const { status, code, message } = await envelope(
      await fetch(`${url}/broken`, { headers: { 'x-request-id': 'abc' } }),
    );
    assert.deepEqual([status, code], [500, 'internal_error']);
    assert.doesNotMatch(message, /hunter2/);
    assert.deepEqual(lines, ['abc']);
    await app.close();
  });
});
