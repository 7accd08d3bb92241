import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { getIntrospectionQuery } from 'graphql';
import { codesOf, post, read } from './ask-graph.ts';
import { serveGraph } from './serve-graph.ts';
import { liveKey, operatorToken, testKey } from './small-graph.ts';

const query = '{ merchant(id: "m1") { name } }';
const merchant = { data: { merchant: { name: 'Merchant of the test' } } };

describe('/graphql', () => {
  test('answers a query, with the request id of the caller when it is a sane one', async (t) => {
    const { url } = await serveGraph(t);
    const response = await post(url, { query }, { 'x-request-id': 'mine-1' });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-request-id'), 'mine-1');
    assert.deepEqual(await read(response), merchant);
    const other = await post(url, { query }, { 'x-request-id': 'not sane!' });
    assert.match(other.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  });

  test('refuses a number that is beyond all numbers, which no plan can hold', async (t) => {
    const { url } = await serveGraph(t);
    for (const number of ['1e400', '-1e400', '9'.repeat(400)]) {
      const response = await post(url, { query: `{ merchant(first: ${number}) { name } }` });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /a number is too large|expected an integer/);
    }
  });

  test('answers a query by GET, and no form of a foreign page', async (t) => {
    const { url } = await serveGraph(t);
    const address = `${url}/graphql?query=${encodeURIComponent(query)}`;
    const authorization = `Bearer ${testKey}`;
    assert.deepEqual(
      await read(
        await fetch(address, { headers: { authorization, 'apollo-require-preflight': 'yes' } }),
      ),
      merchant,
    );
    assert.deepEqual(await read(await fetch(address, { headers: { authorization } })), merchant);
    assert.deepEqual(await codesOf(await post(url, query, { 'content-type': 'text/plain' })), [
      'bad_request',
    ]);
  });

  test('runs a mutation for the operator, and refuses it to a key', async (t) => {
    const { url, fixture } = await serveGraph(t);
    const mutation = {
      query: 'mutation ($name: String!) { merchantCreate(name: $name) { name } }',
      variables: { name: 'New' },
    };
    assert.deepEqual(await codesOf(await post(url, mutation)), ['scope_required']);
    assert.equal(fixture.count('merchantCreate'), 0);
    const response = await post(url, mutation, { authorization: `Bearer ${operatorToken}` });
    assert.deepEqual(await read(response), { data: { merchantCreate: { name: 'New' } } });
  });

  test('gives of its schema what every option of the introspection asks for, alone and beside data', async (t) => {
    const { url } = await serveGraph(t);
    const all = {
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    };
    const { data, errors } = await read(await post(url, { query: getIntrospectionQuery(all) }));
    assert.equal(errors, undefined);
    assert.match(JSON.stringify(data), /"isOneOf":false/);
    const mixed =
      '{ a: __typename b: __type(name: "Merchant") { name isOneOf } c: merchant(id: "m1") { name } ...D } fragment D on Query { d: __schema { queryType { name } } }';
    const answer = {
      a: 'Query',
      b: { name: 'Merchant', isOneOf: null },
      c: { name: 'Merchant of the test' },
      d: { queryType: { name: 'Query' } },
    };
    const body = await (await post(url, { query: mixed })).text();
    assert.equal(body.trim(), JSON.stringify({ data: answer }));
    const conditional =
      'query ($no: Boolean!) { b: __type(name: "Merchant") { name isOneOf @include(if: $no) } c: merchant(id: "m1") @skip(if: $no) { name } __typename @skip(if: true) }';
    assert.deepEqual(
      await read(await post(url, { query: conditional, variables: { no: false } })),
      { data: { b: { name: 'Merchant' }, c: answer.c } },
    );
    assert.deepEqual(await read(await post(url, { query: conditional, variables: { no: true } })), {
      data: { b: answer.b },
    });
    const stock =
      '{ constructor: merchant(id: "m1") { name } b: __type(name: "Merchant") { isOneOf } }';
    assert.deepEqual(await read(await post(url, { query: stock })), {
      data: { constructor: answer.c, b: { isOneOf: null } },
    });
  });

  test('gives its schema', async (t) => {
    const { url } = await serveGraph(t);
    const { data, errors } = await read(
      await post(url, {
        query: getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true }),
      }),
    );
    assert.equal(errors, undefined);
    assert.match(JSON.stringify(data), /"paymentStatusChanged"/);
  });
});

describe('/graphql refuses', () => {
  test('a caller that it does not know with 401 and one message, whatever is wrong', async (t) => {
    const { url } = await serveGraph(t);
    const answered = new Set<string>();
    for (const authorization of [
      '',
      'Bearer sk_test_abc123_wrong',
      `Basic ${testKey}`,
      `Bearer ${operatorToken}x`,
    ]) {
      const response = await post(url, { query }, { authorization });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      assert.match(response.headers.get('x-request-id') ?? '', /./);
      answered.add(JSON.stringify(await response.json()));
    }
    assert.deepEqual(
      [...answered],
      [
        '{"errors":[{"message":"The API key is missing or not valid.","extensions":{"code":"unauthorized"}}]}',
      ],
    );
  });

  test('a stranger before its body has come', async (t) => {
    const { url } = await serveGraph(t);
    const { hostname, port } = new URL(url);
    const sent = httpRequest({
      hostname,
      port,
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '200000' },
    });
    // It is cut in the middle of its body, before the server is closed, which would wait for it.
    sent.on('error', () => {});
    sent.write('{');
    const [response] = (await once(sent, 'response').finally(() => sent.destroy())) as [
      IncomingMessage,
    ];
    assert.equal(response.statusCode, 401);
  });

  test('two headers Authorization, though Node shows only the first', async (t) => {
    const { url } = await serveGraph(t);
    const { hostname, port } = new URL(url);
    const status = await new Promise((resolve, reject) => {
      const headers = [
        'Content-Type',
        'application/json',
        'Authorization',
        `Bearer ${testKey}`,
        'Authorization',
        `Bearer ${testKey}`,
      ];
      const sent = httpRequest(
        {
          hostname,
          port,
          path: '/graphql',
          method: 'POST',
          headers: ['Host', `${hostname}:${port}`, ...headers],
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      sent.once('error', reject);
      sent.end(JSON.stringify({ query }));
    });
    assert.equal(status, 401);
  });

  test('a live key without live mode with 403, and everybody with 503 while keys cannot be checked', async (t) => {
    const { url, fixture } = await serveGraph(t);
    const live = await post(url, { query }, { authorization: `Bearer ${liveKey}` });
    assert.equal(live.status, 403);
    assert.deepEqual(await codesOf(live), ['live_not_enabled']);
    fixture.obstacles.set('apiKeyHolder', () => Promise.reject(new Error('no database')));
    const unchecked = await post(url, { query });
    assert.equal(unchecked.status, 503);
    assert.equal(unchecked.headers.get('retry-after'), '1');
    assert.deepEqual(await codesOf(unchecked), ['unavailable']);
  });

  const bodies: readonly (readonly [title: string, body: unknown, status: number, code: string])[] =
    [
      ['a body that is no JSON', '{"query"', 400, 'bad_request'],
      ['an empty body', '', 400, 'bad_request'],
      ['a body without a query', {}, 400, 'bad_request'],
      ['a batch', [{ query }], 400, 'bad_request'],
      [
        'a body over 256 KiB',
        { query: `{ merchant(id: "${'x'.repeat(270_000)}") { name } }` },
        413,
        'payload_too_large',
      ],
      ['a document that cannot be parsed', { query: '{' }, 400, 'bad_request'],
      [
        'a document of too many words',
        { query: `{ ${'rates { rateBps } '.repeat(1_500)} }` },
        400,
        'bad_request',
      ],
      ['fields that do not exist', { query: '{ secrets }' }, 400, 'bad_request'],
      [
        'several operations of which none is named',
        { query: 'query a { rates { rateBps } } query b { rates { rateBps } }' },
        400,
        'bad_request',
      ],
      [
        'a subscription, which needs a socket',
        { query: 'subscription { events { id } }' },
        400,
        'bad_request',
      ],
    ];
  for (const [title, body, status, code] of bodies) {
    test(title, async (t) => {
      const { url } = await serveGraph(t);
      const response = await post(url, body);
      assert.equal(response.status, status);
      assert.deepEqual(await codesOf(response), [code]);
    });
  }

  const duplicates: readonly (readonly [body: string, field: string])[] = [
    [`{"query":${JSON.stringify(query)},"query":"{ rates { rateBps } }"}`, 'query'],
    [
      '{"query":"mutation ($n: String!) { merchantCreate(name: $n) { name } }","variables":{"n":"a","n":"b"}}',
      'variables.n',
    ],
    [
      `{"query":${JSON.stringify(query)},"extensions":{"a":[{"b":1,"\\u0062":1}]}}`,
      'extensions.a[0].b',
    ],
  ];
  for (const [body, field] of duplicates) {
    test(`a field that comes twice in the body: ${field}`, async (t) => {
      const { url, fixture } = await serveGraph(t);
      const response = await post(url, body, { authorization: `Bearer ${operatorToken}` });
      assert.equal(response.status, 400);
      assert.deepEqual(await read(response), {
        errors: [
          {
            message: `${field}: expected once, got several`,
            extensions: { code: 'bad_request' },
          },
        ],
      });
      assert.equal(fixture.count('merchantCreate'), 0);
    });
  }

  test('another media type', async (t) => {
    const { url } = await serveGraph(t);
    const response = await post(url, '<query/>', { 'content-type': 'application/xml' });
    assert.equal(response.status, 415);
    assert.deepEqual(await codesOf(response), ['unsupported_media_type']);
  });

  test('to show what broke inside', async (t) => {
    const { url } = await serveGraph(t);
    const response = await post(url, { query: '{ ledger { nodes { id } } }' });
    assert.deepEqual(await read(response), {
      errors: [
        { message: 'internal error', path: ['ledger'], extensions: { code: 'internal_error' } },
      ],
      data: null,
    });
  });

  test('in the words of a subgraph where they are meant for the caller', async (t) => {
    const { url } = await serveGraph(t);
    assert.deepEqual(await read(await post(url, { query: '{ rates { rateBps } }' })), {
      errors: [{ message: 'no rates here', path: ['rates'], extensions: { code: 'not_found' } }],
      data: null,
    });
  });
});
