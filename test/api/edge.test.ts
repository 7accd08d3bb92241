import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import {
  buildClientSchema,
  getIntrospectionQuery,
  isObjectType,
  type GraphQLSchema,
} from 'graphql';
import { access } from '../../subgraphs/platform/access/access.ts';
import { askGraph, makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { envelope, talk } from './raw-answers.ts';

const service = await openPlainService();
after(() => service.stop());
const { key } = await makeMerchant(service);
const api = `${service.rest}/v1/public`;
const authorized = { authorization: `Bearer ${key}` };

/** Sends bytes as they are, reads until the other side closes. */
const exchange = async (bytes: string): Promise<string> => {
  const { socket, received, closed } = await talk(service.rest);
  socket.write(bytes);
  await closed;
  return received();
};

describe('a request id', () => {
  const idOf = async (sent?: string): Promise<string> => {
    const response = await fetch(`${api}/balance`, {
      headers: { ...authorized, ...(sent === undefined ? {} : { 'x-request-id': sent }) },
    });
    await response.arrayBuffer();
    return response.headers.get('x-request-id') ?? '';
  };
  test('is the caller’s when it is a sane token', async () =>
    assert.equal(await idOf('order-7:try.2_x'), 'order-7:try.2_x'));
  test('is ours without one', async () => assert.match(await idOf(), /^[0-9a-f-]{36}$/));
  test('is ours when the caller’s is no token', async () => {
    for (const odd of ['a b', '<script>', 'x'.repeat(129), ''])
      assert.match(await idOf(odd), /^[0-9a-f-]{36}$/);
  });
});

describe('a key that is not good is 401 unauthorized, in the same words whatever is wrong with it', () => {
  const wrong: Record<string, Record<string, string>> = {
    missing: {},
    empty: { authorization: '' },
    'of another scheme': { authorization: `Basic ${key}` },
    'without its scheme': { authorization: key },
    malformed: { authorization: 'Bearer sk_test_x' },
    unknown: { authorization: 'Bearer sk_test_abcdef_0123456789012345678901234567890123456789' },
    'with something behind it': { authorization: `Bearer ${key} x` },
    'in another header': { 'x-api-key': key },
  };
  const seen = new Set<string>();
  for (const [name, headers] of Object.entries(wrong)) {
    test(name, async () => {
      const response = await fetch(`${api}/balance`, { headers });
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      const { status, code, message } = await envelope(response);
      assert.deepEqual([status, code], [401, 'unauthorized']);
      seen.add(message);
    });
  }

  test('in the query', async () =>
    assert.equal((await fetch(`${api}/balance?api_key=${key}`)).status, 401));

  test('sent twice', async () => {
    const received = await exchange(
      `GET /v1/public/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nauthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(received, /^HTTP\/1\.1 401 [^]*"code":"unauthorized"/);
  });

  test('all of them say the same', () => assert.equal(seen.size, 1));

  test('an operator’s token is no key', async () => {
    const response = await fetch(`${api}/balance`, {
      headers: { authorization: 'Bearer operator-token-of-the-tests' },
    });
    assert.equal((await envelope(response)).code, 'unauthorized');
  });
});

describe('addresses and methods', () => {
  const rows: readonly (readonly [string, string, number, string])[] = [
    ['GET', '/nothing', 404, 'not_found'],
    ['POST', '/v1/public/nothing', 404, 'not_found'],
    ['GET', '/v1/public/payments/', 404, 'not_found'],
    ['GET', '/V1/PUBLIC/payments', 404, 'not_found'],
    ['GET', '/v1/public/payments/%zz', 404, 'not_found'],
    ['GET', '/v1/public/payments/not-a-uuid', 404, 'not_found'],
    ['GET', '/v1/public/payments/8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11', 404, 'not_found'],
    ['GET', `/v1/public/payments/${'a'.repeat(1_000)}`, 404, 'not_found'],
    ['POST', '/v1/public/payments/not-a-uuid/cancel', 404, 'not_found'],
    ['PUT', '/v1/public/payments', 405, 'method_not_allowed'],
    ['OPTIONS', '/v1/public/payments', 405, 'method_not_allowed'],
    [
      'DELETE',
      '/v1/public/payments/8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11',
      405,
      'method_not_allowed',
    ],
    ['POST', '/v1/public/balance', 405, 'method_not_allowed'],
    ['POST', '/v1/public/events', 405, 'method_not_allowed'],
  ];
  for (const [method, path, status, code] of rows) {
    test(`${method} ${path.slice(0, 60)} is ${status} ${code}`, async () => {
      const answer = await envelope(
        await fetch(service.rest + path, { method, headers: authorized }),
      );
      assert.deepEqual([answer.status, answer.code], [status, code]);
    });
  }

  test('405 says which methods are possible', async () => {
    const allowOf = async (path: string) =>
      (await fetch(`${api}${path}`, { method: 'PATCH' })).headers.get('allow');
    assert.equal(await allowOf('/payments'), 'GET, HEAD, POST');
    assert.equal(await allowOf('/payouts/batch'), 'POST');
    assert.equal(await allowOf('/events'), 'GET, HEAD');
  });

  test('an unknown address is 404 whatever is sent to it', async () => {
    const headers = { 'content-type': 'text/plain' };
    assert.equal(
      (
        await envelope(
          await fetch(`${api}/nothing`, { method: 'POST', headers, body: 'x'.repeat(400_000) }),
        )
      ).code,
      'not_found',
    );
  });
});

describe('bodies that are not read', () => {
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(`${api}${path}`, { method: 'POST', headers: { ...authorized, ...headers }, body }).then(
      envelope,
    );
  const json = { 'content-type': 'application/json' };

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'application/jsonx',
    'nonsense',
  ]) {
    test(`${type} is 415 unsupported_media_type`, async () => {
      const { status, code } = await post('/payments', '{"amount":1}', { 'content-type': type });
      assert.deepEqual([status, code], [415, 'unsupported_media_type']);
    });
  }

  test('a compressed body is 415, which says that none is taken', async () => {
    const send = (address: string, coding: string) =>
      fetch(address, {
        method: 'POST',
        headers: { ...authorized, ...json, 'content-encoding': coding },
        body: gzipSync('{"amount":10000}'),
      });
    for (const [address, coding] of [`${api}/payments`, `${service.rest}/graphql`].flatMap((at) =>
      ['gzip', 'br', 'X-Gzip'].map((coding) => [at, coding] as const),
    )) {
      const response = await send(address, coding);
      await response.arrayBuffer();
      assert.deepEqual(
        [response.status, response.headers.get('accept-encoding')],
        [415, 'identity'],
        `${address} ${coding}`,
      );
    }
    const other = await fetch(`${api}/payments`, {
      method: 'POST',
      headers: { ...authorized, 'content-type': 'text/plain' },
      body: 'x',
    });
    assert.deepEqual(
      [other.status, other.headers.get('accept-encoding')],
      [415, null],
      'it is the type that is wrong',
    );
    const plain = { ...authorized, ...json, 'content-encoding': 'identity' };
    assert.equal(
      (await fetch(`${api}/payments`, { method: 'POST', headers: plain, body: '{"amount":10000}' }))
        .status,
      201,
    );
  });

  test('256 KiB are read, one byte more is 413 payload_too_large', async () => {
    const bodyOf = (bytes: number): string =>
      `{"amount":1,"description":"${'x'.repeat(bytes - 29)}"}`;
    assert.equal(bodyOf(1_000).length, 1_000);
    assert.match(
      (await post('/payments', bodyOf(262_144), json)).message,
      /^description: expected a string of up to/,
    );
    const { status, code } = await post('/payments', bodyOf(262_145), json);
    assert.deepEqual([status, code], [413, 'payload_too_large']);
  });

  test('a batch may have 1 MiB', async () => {
    const bodyOf = (bytes: number): string =>
      `{"method":"payouts_sbp","x":"${'x'.repeat(bytes - 31)}"}`;
    assert.equal(bodyOf(1_000).length, 1_000);
    assert.equal((await post('/payouts/batch', bodyOf(1_048_576), json)).status, 400);
    assert.equal((await post('/payouts/batch', bodyOf(1_048_577), json)).status, 413);
  });

  test('a body without a length is measured as it comes', async () => {
    const stream = new ReadableStream({
      start: (controller) => {
        for (let i = 0; i < 5; i += 1)
          controller.enqueue(new TextEncoder().encode(' '.repeat(65_536)));
        controller.close();
      },
    });
    const response = await fetch(`${api}/payments`, {
      method: 'POST',
      headers: { ...authorized, ...json },
      body: stream,
      duplex: 'half',
    });
    assert.equal((await envelope(response)).code, 'payload_too_large');
  });
});

describe('bytes that are no HTTP get the envelope too', () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ['garbage', 'GARBAGE\r\n\r\n', 400],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    [
      'two lengths',
      'POST /v1/public/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
      400,
    ],
    [
      'a length and chunks',
      'POST /v1/public/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ];
  for (const [name, bytes, status] of rows) {
    test(`${name} is ${status}`, async () => {
      const received = await exchange(bytes);
      assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(received, /x-api-version: 2026-05-06/i);
      assert.match(received, /"error":\{"code":"bad_request"/);
    });
  }
});

test('an unknown expectation is ignored', async () => {
  const received = await exchange(
    'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
  );
  assert.match(received, /^HTTP\/1\.1 200 [^]*x-api-version/i);
});

test('HTTP/1.0 needs no Host: load balancers ask for health that way', async () => {
  assert.match(await exchange('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /);
});

test('an upgrade to what is not spoken here gets the envelope too', async () => {
  const received = await exchange(
    'GET /v1/public/events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  assert.match(received, /^HTTP\/1\.1 404 [^]*x-request-id: .+[^]*"code":"not_found"/i);
});

describe('the service’s own addresses', () => {
  test('/healthz and /readyz are 200 on a healthy service', async () => {
    for (const path of ['/healthz', '/readyz'])
      assert.equal((await fetch(service.rest + path)).status, 200);
  });

  test('/metrics counts requests by route, method and status, and never by address', async () => {
    const secret = '11111111-2222-4333-8444-555555555555';
    await (await fetch(`${api}/payments/${secret}`, { headers: authorized })).arrayBuffer();
    const text = await (await fetch(`${service.rest}/metrics`)).text();
    assert.match(
      text,
      /http_request_duration_seconds_count\{route="\/v1\/public\/payments\/:id",method="GET",status="404"\} [1-9]/,
    );
    assert(!text.includes(secret));
  });

  test('/v1/public/openapi.json is the contract, without a key', async () => {
    const answer = await fetch(`${api}/openapi.json`);
    for (const name of ['limit', 'remaining', 'reset'])
      assert.match(answer.headers.get(`ratelimit-${name}`) ?? '', /^\d+$/, name);
    const document = (await answer.json()) as {
      openapi: string;
      info: { version: string };
    };
    assert.deepEqual([document.openapi, document.info.version], ['3.1.0', '2026-05-06']);
  });

  test('/docs is a page that loads nothing from elsewhere', async () => {
    const response = await fetch(`${service.rest}/docs`, { redirect: 'error' });
    const html = await response.text();
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(html, /\/v1\/public\/openapi\.json/);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.deepEqual([...html.matchAll(/(?:src|href)="(https?:|\/\/)/g)], []);
    const script = /src="([^"]+)"/.exec(html)?.[1] ?? '';
    assert.equal((await fetch(new URL(script, response.url))).status, 200);
  });

  test('answers carry the headers that keep browsers careful', async () => {
    const { headers } = await fetch(`${api}/balance`, { headers: authorized });
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    assert.equal(headers.get('server'), null);
  });
});

describe('the graph', () => {
  const schemaOf = async (bearer?: string): Promise<GraphQLSchema> =>
    buildClientSchema(await askGraph(service, getIntrospectionQuery(), {}, bearer));
  const fieldsOf = (schema: GraphQLSchema, name: string): readonly string[] => {
    const type = schema.getType(name);
    return isObjectType(type) ? Object.keys(type.getFields()) : [];
  };
  const rootFieldsOf = (schema: GraphQLSchema): readonly string[] =>
    ['Query', 'Mutation', 'Subscription']
      .flatMap((root) => fieldsOf(schema, root).map((field) => `${root}.${field}`))
      .toSorted();

  test('shows a key what keys may call, and an operator everything', async () => {
    const [whole, ofKey] = [await schemaOf(), await schemaOf(key)];
    const all = rootFieldsOf(whole);
    assert.deepEqual(
      rootFieldsOf(ofKey),
      all.filter((field) => access[field]?.key !== undefined),
    );
    assert.ok(all.includes('Mutation.merchantCreate'));
    for (const [type, field] of [
      ['Payment', 'timeline'],
      ['Shop', 'apiKeys'],
    ] as const) {
      assert.ok(fieldsOf(whole, type).includes(field));
      assert.ok(!fieldsOf(ofKey, type).includes(field));
    }
    assert.ok(fieldsOf(ofKey, 'Payment').includes('webhookDeliveries'));
    // Types that only people reach are not there; those behind unions and interfaces are.
    for (const name of ['AuditEntry', 'ApiKey', 'Alert']) {
      assert.ok(whole.getType(name));
      assert.equal(ofKey.getType(name), undefined);
    }
    for (const name of ['Refused', 'PaymentCreatedEvent', 'PaymentCreateInput'])
      assert.ok(ofKey.getType(name), name);
    assert.ok(ofKey.getDirective('apiKey'));
  });

  // The text that relay-compiler makes of `payments(...) @connection { edges { node { id } } }`.
  const relay = `query AppQuery($count: Int = 10, $cursor: String) {
    payments(first: $count, after: $cursor) {
      edges { node { id __typename } cursor }
      pageInfo { endCursor hasNextPage }
    }
    refunds(last: 5) { edges { cursor node { id __typename } } pageInfo { hasPreviousPage startCursor } }
  }`;

  test('answers what Relay asks of a connection, page by page', async () => {
    const { key: own, call } = await makeMerchant(service);
    const made: string[] = [];
    for (const amount of [100, 200, 300])
      made.unshift((await call('POST', '/payments', { amount })).body.payment.id);
    const seen: string[] = [];
    for (let cursor: string | null = null, more = true; more;) {
      const page: any = await askGraph(service, relay, { count: 2, cursor }, own);
      seen.push(...page.payments.edges.map((edge: any) => edge.node.id));
      assert.deepEqual(page.refunds, {
        edges: [],
        pageInfo: { hasPreviousPage: false, startCursor: null },
      });
      ({ endCursor: cursor, hasNextPage: more } = page.payments.pageInfo);
    }
    assert.deepEqual(seen, made);
  });
});
