import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { comesTo, eventually, patience_ms } from '../support/eventually.ts';
import { inherited } from '../support/service.ts';
import { isLong } from '../support/size.ts';

/**
 * Starts the server in a process of its own; gives its address, and what lets its `/held` go on.
 */
const startOverloadable = async (
  t: TestContext,
  limits: { readonly IN_FLIGHT: string; readonly DELAY_MS: string },
): Promise<{ readonly url: string; readonly release: () => void }> => {
  const child = fork(join(import.meta.dirname, 'overloaded-process.ts'), {
    env: { ...inherited, ...limits },
  });
  child.on('error', () => {});
  const ended = once(child, 'exit');
  t.after(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  const diedFirst = ended.then(() => assert.fail('it ended before it listened'));
  const [url] = (await Promise.race([once(child, 'message'), diedFirst])) as [string];
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

/** Asks again and again, from so many callers, until `isEnough` of the statuses that were seen. */
const press = async (
  url: string,
  callers: number,
  isEnough: (seen: ReadonlySet<number>) => boolean,
): Promise<ReadonlySet<number>> => {
  const began_ms = performance.now();
  const seen = new Set<number>();
  const call = async (): Promise<void> => {
    while (!isEnough(seen) && performance.now() - began_ms < patience_ms) {
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
    let looks = 0;
    const pressing = press(`${url}/burn`, 40, (seen) => seen.size > 1 && looks === 5);
    for (; looks < 5; looks += 1) assert.equal(await ask(`${url}/healthz`), 200);
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
    // While the others are still held: a refusal does not wait.
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
    const gone = new AbortController();
    const asking = Promise.allSettled(
      Array.from({ length: 5 }, () => fetch(`${url}/held`, { signal: gone.signal })),
    );
    await comesTo(503, () => ask(`${url}/burn`));
    gone.abort();
    await asking;
    await comesTo(200, () => ask(`${url}/burn`));
    streams.abort();
  });

  // It keeps a processor busy for long.
  const testLong = isLong ? test : async () => {};
  void testLong('is not one that has a burst, or one long pause', async (t) => {
    const { url } = await startOverloadable(t, { IN_FLIGHT: '1000', DELAY_MS: '5000' });
    const burst = await Promise.all(Array.from({ length: 300 }, () => ask(`${url}/wait`)));
    assert.deepEqual(new Set(burst), new Set([200]));
    assert.equal(await ask(`${url}/burn?ms=8000`), 200);
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

/** How many unfinished requests have given way to others. */
const cutBy = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^unfinished_requests_cut_total (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
};

describe('requests whose body does not come', () => {
  const places = [
    ['one address', () => '198.51.100.7', 500],
    ['one /64 of IPv6', (nth: number) => `2001:db8::${nth.toString(16)}`, 500],
    ['many addresses', (nth: number) => `10.0.${Math.floor(nth / 250)}.${nth % 250}`, 100],
  ] as const;
  for (const [where, addressOf, cut] of isLong ? places : places.slice(0, 1)) {
    test(`take no other call’s place, sent from ${where}`, async (t) => {
      const { url } = await startOverloadable(t, { ...calm, IN_FLIGHT: '20' });
      for (let nth = 0; nth < 600; nth += 1) leaveUnfinished(t, url, addressOf(nth));
      await comesTo(cut, () => cutBy(url));
      assert.equal(await take(url, '203.0.113.1'), 200);
      assert.equal(await take(url, addressOf(0)), 200);
      assert.equal(await ask(`${url}/wait`), 200);
    });
  }

  test('do not end another caller’s slow upload', async (t) => {
    const { url } = await startOverloadable(t, { ...calm, IN_FLIGHT: '20' });
    const upload = leaveUnfinished(t, url, '203.0.113.1');
    for (let nth = 0; nth < 700; nth += 1) leaveUnfinished(t, url, `198.51.100.${nth % 7}`);
    await comesTo(201, () => cutBy(url));
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
      overload: null,
      patience,
    });
    app.post('/', async () => ({ done: true }));
    t.after(() => app.close());
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  };
  /** Sends one byte every 100 ms until the other side hangs up; gives what it received. */
  const drip = async (port: number, first: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => (received += bytes.toString()));
    // Writing into a connection that the other side has ended is how a slow client finds out.
    socket.on('error', () => {});
    socket.write(first);
    const timer = setInterval(() => socket.write('x'), 100);
    // Not `once`, which takes a reset for a failure.
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    clearInterval(timer);
    return received;
  };

  for (const [what, first] of [
    ['that does not finish its headers', 'POST / HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    [
      'that does not finish its body',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
    ],
  ] as const) {
    test(`${what} is answered 408 in the envelope, and hung up on`, async (t) => {
      const received = await drip(await open(t), first);
      assert.match(received, /^HTTP\/1\.1 408 /);
      assert.match(received, /"error":\{"code":"bad_request"/);
    });
  }
});
