import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHttp } from '../../subgraphs/kernel/service/http/http-server.ts';
import { openLog } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { eventually } from '../support/eventually.ts';

/**
 * Starts the server in a process of its own; gives its address, and what lets its `/held` go on.
 */
const startOverloadable = async (
  t: TestContext,
  limits: { readonly IN_FLIGHT: string; readonly DELAY_MS: string },
): Promise<{ readonly url: string; readonly release: () => void }> => {
  const child = fork(join(import.meta.dirname, 'overloaded-process.ts'), {
    env: { PATH: process.env['PATH'] ?? '', ...limits },
  });
  t.after(async () => {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });
  const [url] = (await once(child, 'message')) as [string];
  return { url, release: () => void child.send('release') };
};

/** Asks once; gives the status. A 503 must be the documented one. */
const ask = async (url: string): Promise<number> => {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status === 503) {
    assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.equal((JSON.parse(text) as { error: { code: string } }).error.code, 'unavailable');
  }
  return response.status;
};

/** Asks again and again, from so many callers, until the time is over. */
const press = async (
  url: string,
  callers: number,
  for_ms: number,
): Promise<ReadonlySet<number>> => {
  const until = performance.now() + for_ms;
  const seen = new Set<number>();
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      const status = await ask(url);
      seen.add(status);
      // As a caller does that heeds Retry-After, only less patient.
      if (status === 503) await sleep(100);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return seen;
};

const calm = { IN_FLIGHT: '1000', DELAY_MS: '100000' };

describe('a process that has too much to do', () => {
  test('answers 503 when its event loop is late, while /healthz answers, and takes requests again when that is over', async (t) => {
    const { url } = await startOverloadable(t, { ...calm, DELAY_MS: '100' });
    const pressing = press(`${url}/burn`, 40, 5_000);
    await sleep(2_000);
    for (let looks = 0; looks < 5; looks += 1) assert.equal(await ask(`${url}/healthz`), 200);
    assert.deepEqual(await pressing, new Set([200, 503]));
    await eventually(async () => (await ask(`${url}/burn`)) === 200, 'an answer');
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /overload_refusals_total\{reason="loop_delay"\} [1-9]/);
  });

  test('answers 503 at once beyond the requests that it may have in flight, and carries those through', async (t) => {
    const { url, release } = await startOverloadable(t, { ...calm, IN_FLIGHT: '20' });
    let refused = 0;
    const { promise: allRefused, resolve } = Promise.withResolvers<void>();
    const asked = Array.from({ length: 50 }, async () => {
      const status = await ask(`${url}/held`);
      if (status === 503 && (refused += 1) === 30) resolve();
      return status;
    });
    // While the others are still held: a refusal waits for nobody.
    await allRefused;
    release();
    const carried = (await Promise.all(asked)).filter((status) => status === 200);
    assert.equal(carried.length, 20);
    assert.equal(await ask(`${url}/wait`), 200);
  });

  test('does not count callers that went away, nor streams that stay open', async (t) => {
    const { url } = await startOverloadable(t, { ...calm, IN_FLIGHT: '5' });
    const streams = new AbortController();
    await Promise.all(
      Array.from({ length: 10 }, () => fetch(`${url}/stream`, { signal: streams.signal })),
    );
    for (let round = 0; round < 5; round += 1) {
      const gone = new AbortController();
      const asking = Promise.allSettled(
        Array.from({ length: 5 }, () => fetch(`${url}/wait`, { signal: gone.signal })),
      );
      await sleep(100);
      gone.abort();
      await asking;
      await sleep(50);
    }
    await eventually(async () => (await ask(`${url}/wait`)) === 200, 'an answer');
    streams.abort();
  });

  test('is not one that has a burst, or one long pause', async (t) => {
    const { url } = await startOverloadable(t, { IN_FLIGHT: '1000', DELAY_MS: '1500' });
    const burst = await Promise.all(Array.from({ length: 300 }, () => ask(`${url}/wait`)));
    assert.deepEqual(new Set(burst), new Set([200]));
    assert.equal(await ask(`${url}/burn?ms=3000`), 200);
    for (let asked = 0; asked < 10; asked += 1) assert.equal(await ask(`${url}/burn`), 200);
  });
});

/** Sends the head of a request and one byte of its body; `rest` sends what is missing. */
const leaveUnfinished = (
  t: TestContext,
  url: string,
  from: string,
): { readonly rest: () => Promise<string> } => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (bytes) => (received += bytes.toString()));
  socket.write(
    `POST /take HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nConnection: close\r\n` +
      'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
  );
  // A connection that is cut may end by a reset: `once` would take that for a failure.
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    rest: async () => {
      socket.write('"a": 1  }');
      await ended;
      return received;
    },
  };
};

const take = async (url: string, from: string): Promise<number> => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': from };
  const response = await fetch(`${url}/take`, { method: 'POST', headers, body: '{}' });
  await response.text();
  return response.status;
};

describe('requests whose body does not come', () => {
  for (const [where, addressOf] of [
    ['one address', () => '198.51.100.7'],
    ['one /64 of IPv6', (nth: number) => `2001:db8::${nth.toString(16)}`],
    ['many addresses', (nth: number) => `10.0.${Math.floor(nth / 250)}.${nth % 250}`],
  ] as const) {
    test(`take nobody's place, sent from ${where}`, async (t) => {
      const { url } = await startOverloadable(t, { ...calm, IN_FLIGHT: '20' });
      for (let nth = 0; nth < 600; nth += 1) leaveUnfinished(t, url, addressOf(nth));
      await sleep(500);
      assert.equal(await take(url, '203.0.113.1'), 200);
      assert.equal(await take(url, addressOf(0)), 200);
      assert.equal(await ask(`${url}/wait`), 200);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      assert.match(metrics, /^unfinished_requests_cut_total [1-9]/m);
    });
  }

  test('do not end the slow upload of somebody else', async (t) => {
    const { url } = await startOverloadable(t, { ...calm, IN_FLIGHT: '20' });
    const upload = leaveUnfinished(t, url, '203.0.113.1');
    for (let nth = 0; nth < 700; nth += 1) leaveUnfinished(t, url, `198.51.100.${nth % 7}`);
    await sleep(500);
    assert.match(await upload.rest(), /^HTTP\/1\.1 200 /);
  });

  test('are no burst of small requests that came whole', async (t) => {
    const { url } = await startOverloadable(t, calm);
    const statuses = await Promise.all(
      Array.from({ length: 300 }, () => take(url, '198.51.100.7')),
    );
    assert.deepEqual(new Set(statuses), new Set([200]));
  });
});

describe('a slow client', () => {
  const patience = { headers_ms: 300, request_ms: 600, check_ms: 50, drain_ms: 100 };
  const open = async (t: TestContext): Promise<number> => {
    const app = openHttp({
      config: { publicUrl: null },
      log: openLog({ logLevel: 'silent' }, 'test'),
      ready: async () => true,
      patience,
    });
    app.post('/', async () => ({ done: true }));
    t.after(() => app.close());
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  };
  /**
   * Sends one byte every 100 ms until the other side hangs up; gives what it received and how long
   * it took.
   */
  const drip = async (
    port: number,
    first: string,
  ): Promise<{ readonly received: string; readonly took_ms: number }> => {
    const began = performance.now();
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => (received += bytes.toString()));
    // Writing into a connection that the other side has ended is how a slow client finds out.
    socket.on('error', () => {});
    socket.write(first);
    const timer = setInterval(() => socket.write('x'), 100);
    await once(socket, 'close');
    clearInterval(timer);
    return { received, took_ms: performance.now() - began };
  };

  for (const [what, first] of [
    ['that does not finish its headers', 'POST / HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    [
      'that does not finish its body',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
    ],
  ] as const) {
    test(`${what} is answered 408 in the envelope, and hung up on`, async (t) => {
      const { received, took_ms } = await drip(await open(t), first);
      assert.match(received, /^HTTP\/1\.1 408 /);
      assert.match(received, /"error":\{"code":"bad_request"/);
      assert(took_ms < 5_000, `it took ${took_ms} ms`);
    });
  }
});
