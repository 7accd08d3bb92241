/**
 * What HTTP itself asks of every address: HEAD, conditional requests, offers of another protocol;
 * and the policies of pages.
 */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { text as textOfStream } from 'node:stream/consumers';
import { pageLimits } from '../../rest-facade/checkout/limit-page.ts';
import { readContract } from '../../rest-facade/read-contract.ts';
import { makeMerchant, openStream } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';
import { talk } from './raw-answers.ts';

const service = await openPlainService();
after(() => service.stop());
const { key, call } = await makeMerchant(service);
const { status, body: created } = await call('POST', '/payments', { amount: 100 });
assert.equal(status, 201, JSON.stringify(created));
const page = new URL(created.payment_url).pathname;
const authorized = { authorization: `Bearer ${key}` };

describe('HEAD says what GET says, without a body', () => {
  const described = [...readContract().operations.values()]
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path);
  const own = [
    '/healthz',
    '/readyz',
    '/metrics',
    '/v1/public/openapi.json',
    '/docs',
    '/docs/',
    '/docs/reference',
    '/docs/ru/quickstart/',
    '/docs/en/details/',
    '/docs/en/verify-webhooks/',
    '/docs/webhooks/verify_webhook.py',
  ];
  const odd = [
    '/v1/public/ledger?format=csv',
    '/v1/public/payments?limit=0',
    '/v1/public/nothing',
    '/graphql?query={__typename}',
  ];
  const pages = [page, `${page}/state`, `${page}/events`, '/pay/x/events'];

  /** What differs between two answers to one question, and how they travel. */
  const fleeting =
    /^(date|page-time|x-request-id|ratelimit-.*|transfer-encoding|connection|keep-alive)$/;
  const ask = async (method: string, path: string) => {
    const leaving = new AbortController();
    const headers = { ...authorized, 'apollo-require-preflight': 'yes' };
    const response = await fetch(service.rest + path, { method, headers, signal: leaving.signal });
    const body = method === 'HEAD' ? await response.text() : '';
    leaving.abort();
    // These two describe requests, and so they grow with each.
    const isGrowing = path === '/metrics' || path === '/v1/public/requests';
    const kept = [...response.headers].filter(
      ([name]) => !fleeting.test(name) && !(isGrowing && name === 'content-length'),
    );
    return { status: response.status, headers: Object.fromEntries(kept), body };
  };

  for (const path of [...described, ...own, ...odd, ...pages]) {
    test(path, async () => {
      const id = '8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11';
      const address = path.replace('{id}', id);
      assert.deepEqual(await ask('HEAD', address), { ...(await ask('GET', address)), body: '' });
    });
  }

  test('nor does the answer to an address that is no HTTP', async () => {
    for (const [method, end] of [
      ['HEAD', /^HTTP\/1\.1 400 [^]*\r\n\r\n$/],
      ['GET', /^HTTP\/1\.1 400 [^]*\r\n\r\n\{"error":/],
    ] as const) {
      const { socket, received, closed } = await talk(service.rest);
      socket.end(Buffer.from(`${method} /v1/public/\xff HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1'));
      await closed;
      assert.match(received(), end);
    }
  });

  test('and opens no stream: the one that the key has continues', async () => {
    const { comments, close } = await openStream(service.rest, key);
    await eventually(() => comments.includes(': connected'), 'the stream');
    await ask('HEAD', '/v1/public/events');
    await ask('HEAD', '/v1/public/events');
    await ask('GET', '/v1/public/balance');
    assert.deepEqual(comments, [': connected']);
    await close();
  });

  test('nor one of the hosted page, which may have so many', async () => {
    for (let asked = 0; asked <= pageLimits.page.streams; asked += 1)
      assert.equal((await ask('HEAD', `${page}/events`)).status, 200);
    assert.equal((await ask('GET', `${page}/events`)).status, 200);
  });
});

describe('what is the same until the next version is sent once', () => {
  const paths = [
    '/v1/public/openapi.json',
    '/docs',
    '/docs/',
    '/docs/reference',
    '/docs/js/scalar.js',
    '/docs/js/start-reference.js',
    '/docs/en',
    '/docs/ru/quickstart/',
    '/docs/ru/search.json',
    '/docs/assets/guides.css',
    '/docs/assets/guides.js',
    '/docs/en/details/',
    '/docs/en/verify-webhooks/',
    '/docs/webhooks/verify_webhook.py',
  ];
  /** The first page of the documentation is in the reader's language. */
  const varyOf = (path: string): string =>
    /^\/docs\/?$/.test(path) ? 'accept-encoding, accept-language' : 'accept-encoding';
  const ask = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(service.rest + path, { headers });
    return { status: response.status, body: await response.text(), headers: response.headers };
  };

  for (const path of paths) {
    test(path, async () => {
      const tags = new Set<string>();
      for (const coding of ['gzip', 'identity']) {
        const { status, headers, body } = await ask(path, { 'accept-encoding': coding });
        const tag = headers.get('etag') ?? '';
        assert.deepEqual(
          [status, headers.get('content-encoding'), headers.get('vary')],
          [200, coding === 'gzip' ? 'gzip' : null, varyOf(path)],
        );
        assert.match(tag, /^"[\w-]+"$/);
        assert.ok(body.length > 500);
        tags.add(tag);
        for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const again = await ask(path, { 'accept-encoding': coding, 'if-none-match': known });
          assert.deepEqual(
            [
              again.status,
              again.body,
              again.headers.get('etag'),
              again.headers.get('cache-control'),
            ],
            [304, '', tag, 'public, max-age=300'],
            known,
          );
        }
        assert.equal(
          (await ask(path, { 'accept-encoding': coding, 'if-none-match': '"other"' })).status,
          200,
        );
      }
      assert.equal(tags.size, 2, 'each coding has a tag of its own');
      assert.equal(
        (await ask(path, { 'accept-encoding': 'br, gzip;q=0' })).headers.get('content-encoding'),
        null,
      );
    });
  }
});

test('no page of the origin that takes card numbers allows inline scripts or eval', async () => {
  const created = await fetch(`${service.rest}/v1/public/payments`, {
    method: 'POST',
    headers: { ...authorized, 'content-type': 'application/json' },
    body: '{"amount":10000}',
  });
  const { payment_url: hosted } = (await created.json()) as { payment_url: string };
  const pages = [
    hosted,
    ...[
      '/docs',
      '/docs/',
      '/docs/reference',
      '/docs/ru/quickstart',
      '/docs/en/details/',
      '/docs/en/verify-webhooks/',
      '/graphql',
      '/v1/public/openapi.json',
      '/nothing',
    ].map((path) => service.rest + path),
  ];
  for (const page of pages) {
    const response = await fetch(page, { headers: { accept: 'text/html' } });
    await response.arrayBuffer();
    const directives = new Map(
      (response.headers.get('content-security-policy') ?? '')
        .split(';')
        .map((one) => [one.trim().split(' ')[0], one.trim()]),
    );
    assert.equal(directives.get('default-src'), "default-src 'none'", page);
    assert.ok(
      ["script-src 'self'", undefined].includes(directives.get('script-src')),
      `${page}: ${directives.get('script-src')}`,
    );
  }
});

describe('an upgrade to HTTP/2 is an offer that is passed over', () => {
  // As Java's HttpClient and `curl --http2` offer it with their first request.
  const offer =
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n';

  /**
   * Sends each request when the one before has been answered, as such clients do; gives the
   * answers.
   */
  const inTurn = async (
    requests: readonly (readonly [bytes: string, end: RegExp])[],
  ): Promise<string> => {
    const { hostname, port } = new URL(service.rest);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    await once(socket, 'connect');
    let answered = 0;
    for (const [bytes, end] of requests) {
      socket.write(bytes);
      await eventually(
        () => end.test(text.slice(answered)),
        `an answer that ends with ${end.source}`,
      );
      answered = text.length;
    }
    socket.destroy();
    return text;
  };

  test('on a GET, and the connection is kept for the next request', async () => {
    const received = await inTurn([
      [
        `GET /v1/public/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${offer}\r\n`,
        /"balance":[^]*\}$/,
      ],
      ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', /"status":"ok"\}$/],
    ]);
    assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  test('on a POST with its body, on a page, and on /graphql', async () => {
    const post = (path: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${offer}\r\n${body}`;
    const received = await inTurn([
      [post('/v1/public/payments', '{"amount":10000}'), /"payment_url":[^]*\}$/],
      [post('/graphql', '{"query":"{ __typename }"}'), /"__typename":"Query"\}\}\s*$/],
      [`GET /docs/en/verify-webhooks/ HTTP/1.1\r\nHost: x\r\n${offer}\r\n`, /<\/html>\s*$/],
    ]);
    assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), [
      'HTTP/1.1 201',
      'HTTP/1.1 200',
      'HTTP/1.1 200',
    ]);
  });
});

describe('HTTP/2 with prior knowledge', () => {
  test('is answered 505 in HTTP/2, which says what to do, with and without a body', async () => {
    for (const body of [null, '{"amount":10000}', 'x'.repeat(300_000)]) {
      const session = connectHttp2(service.rest);
      const stream = session.request({
        ':path': '/v1/public/payments',
        ...(body === null ? {} : { ':method': 'POST' }),
        authorization: `Bearer ${key}`,
      });
      stream.on('error', () => {});
      stream.end(body ?? undefined);
      const [headers] = await once(stream, 'response');
      assert.equal(headers[':status'], 505);
      assert.match(headers['x-request-id'], /./);
      const { error } = JSON.parse(await textOfStream(stream));
      assert.equal(error.code, 'bad_request');
      assert.match(error.message, /HTTP\/1\.1/);
      await once(session, 'close');
    }
  });

  test('is known by its preface in two packets, and a broken one ends the connection', async () => {
    const { socket, received, closed } = await talk(service.rest);
    socket.write('PRI * HTTP/2.0\r\n');
    // The server has read the first packet when it answers on a later connection.
    await fetch(`${service.rest}/healthz`);
    socket.write(Buffer.concat([Buffer.from('\r\nSM\r\n\r\n'), Buffer.alloc(64, 0xff)]));
    await closed;
    // A frame of SETTINGS begins its answer: 3 bytes of length, type 4.
    assert.equal(received().codePointAt(3), 4);
    const gone = await talk(service.rest);
    gone.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    gone.socket.destroy();
    assert.equal((await fetch(`${service.rest}/healthz`)).status, 200);
  });
});

test('the Postman collection has each route, and its requests are answered as they stand', async () => {
  const { item, variable } = JSON.parse(
    await (await fetch(`${service.rest}/docs/postman.json`)).text(),
  );
  const requests: any[] = item.flatMap((folder: any) => folder.item);
  const { paths } = JSON.parse(
    await (await fetch(`${service.rest}/v1/public/openapi.json`)).text(),
  );
  const routes = Object.values<object>(paths).flatMap((one) => Object.keys(one));
  assert.equal(requests.length, routes.length);
  const base: string = variable.find((one: any) => one.key === 'base_url').value;
  let [created, listed] = [0, 0];
  for (const { request, response } of requests) {
    assert.ok(
      response.some((one: any) => one.code < 300),
      request.url.raw,
    );
    const { method, url, body } = request;
    // Those of one object have no object here, and the stream does not end.
    if (url.variable.length > 0 || url.raw.endsWith('/events')) continue;
    const { status } = await fetch(url.raw.replace('{{base_url}}', base), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body?.raw,
    });
    // The balance of a new shop is lower than a payout.
    assert.ok(status < 300 || url.raw.includes('/payouts'), `${method} ${url.raw}: ${status}`);
    if (method === 'GET') listed += 1;
    else created += 1;
  }
  assert.ok(created >= 5 && listed >= 10, `${created} created, ${listed} read`);
});

test('the changelog of the API begins with its newest date', async () => {
  const page = await (await fetch(`${service.rest}/docs/changelog/`)).text();
  const { info } = JSON.parse(await (await fetch(`${service.rest}/v1/public/openapi.json`)).text());
  assert.deepEqual(/<h2 id="([^"]+)">/.exec(page)?.[1], info.version);
  for (const change of info['x-changes'][0].changes) assert.ok(page.includes(change), change);
});
