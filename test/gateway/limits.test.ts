import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { operationCost_max } from '../../gateway/graphql/document-cost.ts';
import {
  documentAliases_max,
  documentDepth_max,
  documentFields_max,
  documentRootFields_max,
  documentValueDepth_max,
} from '../../gateway/graphql/document-limits.ts';
import { readConfig } from '../../subgraphs/read-config.ts';
import { codesOf, post, read } from './ask-graph.ts';
import { receive, letIn } from './raw-socket.ts';
import { connect, serveGraph } from './serve-graph.ts';
import { testKey, type Fixture } from './small-graph.ts';

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ');

interface TooLarge {
  readonly title: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly exceeded: { readonly has: number; readonly most: number };
}

const tooLarge: readonly TooLarge[] = [
  {
    title: 'deeper than 15 fields',
    query: `{ payment(id: "1") { ${'refunds { payment { '.repeat(8)} id ${'} }'.repeat(8)} } }`,
    exceeded: { has: 18, most: documentDepth_max },
  },
  {
    title: 'with a value of lists in lists, which the planner would walk for ever',
    query: `{ payment(id: ${'['.repeat(500)}1${']'.repeat(500)}) { id } }`,
    exceeded: { has: 500, most: documentValueDepth_max },
  },
  {
    title: 'with a value of objects and lists in one another',
    query: `query ($n: Int = ${'[{ a: '.repeat(5)}1${'}]'.repeat(5)}) { rates { rateBps } }`,
    exceeded: { has: 10, most: documentValueDepth_max },
  },
  {
    title: 'with more than 20 root fields',
    query: `{ ${times(21, (i) => `a${i}: rates { rateBps }`)} }`,
    exceeded: { has: 21, most: documentRootFields_max },
  },
  {
    title: 'with more than 50 aliases',
    query: `{ payment(id: "1") { ${times(51, (i) => `a${i}: id`)} } }`,
    exceeded: { has: 51, most: documentAliases_max },
  },
  {
    title: 'with fragments that unfold into millions of fields',
    query: `{ rates { ...F0 } } ${times(24, (i) => `fragment F${i} on Rate { ...F${i + 1} ...F${i + 1} }`)} fragment F24 on Rate { rateBps }`,
    exceeded: { has: 16_777_217, most: documentFields_max },
  },
  {
    title: 'with a page of pages, by its literal',
    query:
      '{ payments(first: 200) { nodes { refunds { payment { refunds { payment { id } } } } } } }',
    exceeded: { has: 1 + 200 * (1 + 10 * (1 + 1 + 10 * (1 + 1))), most: operationCost_max },
  },
  {
    title: 'with the last page of pages, beside a smaller first one',
    query:
      '{ payments(first: 1, last: 200) { nodes { refunds { payment { refunds { payment { id } } } } } } }',
    exceeded: { has: 1 + 200 * (1 + 10 * (1 + 1 + 10 * (1 + 1))), most: operationCost_max },
  },
  {
    title: 'with pages of no stated size',
    query:
      '{ payments(first: null) { nodes { refunds { payment { refunds { payment { refunds { id } } } } } } } }',
    exceeded: { has: 1 + 50 * (1 + 10 * (1 + 1 + 10 * (1 + 1 + 10))), most: operationCost_max },
  },
  {
    title: 'with a page of pages, by its variable and in fragments',
    query: `query ($n: Int!) { payments(first: $n) { ...Page } }
      fragment Page on PaymentConnection { nodes { ... on Payment { refunds { ...Deep } } } }
      fragment Deep on Refund { payment { refunds { payment { webhookDeliveries { id } } } } }`,
    variables: { n: 50 },
    exceeded: { has: 1 + 50 * (1 + 10 * (1 + 1 + 10 * (1 + 1 + 10))), most: operationCost_max },
  },
  {
    title: 'with many pages side by side',
    query: `{ ${times(13, (i) => `p${i}: payments(first: 200) { nodes { webhookDeliveries { id } } }`)} }`,
    exceeded: { has: 13 * (1 + 200 * 11), most: operationCost_max },
  },
];

/** What a key costs by itself is no run: who holds it, and seconds later that it was used. */
const assertNothingRan = ({ asked }: Pick<Fixture, 'asked'>): void => {
  const ran = [...asked.keys()].filter((name) => name !== 'apiKeyUseNote');
  assert.deepEqual(ran, ['apiKeyHolder'], 'nothing has run');
};

describe('an operation is refused with the numbers, over HTTP and over a socket, when it is', () => {
  for (const { title, query, variables, exceeded } of tooLarge) {
    test(title, async (t) => {
      const { url, socketUrl, fixture } = await serveGraph(t);
      const response = await post(url, { query, variables });
      assert.equal(response.status, 400);
      const { errors } = await read(response);
      // A document may be over several limits at once.
      const found = errors?.find(
        ({ extensions }) => JSON.stringify(extensions['exceeded']) === JSON.stringify(exceeded),
      );
      assert.deepEqual(
        found?.extensions,
        { code: 'query_too_complex', exceeded },
        JSON.stringify(errors),
      );
      assert.match(
        found.message,
        new RegExp(`of ${exceeded.has}; at most ${exceeded.most} is allowed`),
      );
      await assert.rejects(
        connect(t, socketUrl)
          .iterate({ query, variables: { ...variables } })
          .next(),
        (thrown) => {
          assert.match(JSON.stringify(thrown), /"code":"query_too_complex"/);
          return true;
        },
      );
      assertNothingRan(fixture);
    });
  }
});

describe('an operation within the limits', () => {
  test('is a page of 200 payments with everything around them', async (t) => {
    const { url } = await serveGraph(t);
    const query = `query ($n: Int!) { payments(first: $n) { pageInfo { hasNextPage } nodes {
      id amount shop { name } merchant { name } refunds { id } webhookDeliveries { id status } } } }`;
    assert.deepEqual(
      await codesOf(await post(url, { query, variables: { n: 200 } })),
      ['internal_error'],
      'the small fixture has no payments, and was asked',
    );
    const deeper =
      'query ($n: Int!) { payments(first: $n) { nodes { refunds { payment { refunds { payment { id } } } } } } }';
    assert.deepEqual(await codesOf(await post(url, { query: deeper, variables: { n: -5 } })), [
      'internal_error',
    ]);
  });

  test('with a variable that cannot be read is refused for that, without its value', async (t) => {
    const { url } = await serveGraph(t);
    const query = 'query ($n: Int!) { payments(first: $n) { nodes { id } } }';
    const { errors } = await read(await post(url, { query, variables: { n: '4111111111111111' } }));
    assert.deepEqual(
      errors?.map(({ extensions }) => extensions['code']),
      ['bad_request'],
    );
    assert.doesNotMatch(JSON.stringify(errors), /4111111111111111/);
  });
});

describe('variables of 20,000 lists in one another are a bad request', () => {
  const deep = `${'['.repeat(20_000)}1${']'.repeat(20_000)}`;
  const queries = [
    'query ($v: [PaymentStatus!]) { payments(status: $v) { nodes { id } } }',
    'query ($v: Int!) { payments(first: $v) { nodes { id } } }',
    '{ rates { rateBps } }',
  ];
  for (const query of queries) {
    test(query, async (t) => {
      const { url, socketUrl, fixture } = await serveGraph(t);
      const response = await post(
        url,
        `{"query":${JSON.stringify(query)},"variables":{"v":${deep}}}`,
      );
      assert.deepEqual([response.status, await codesOf(response)], [400, ['bad_request']]);
      const socket = await letIn(t, socketUrl);
      socket.send(
        `{"id":"1","type":"subscribe","payload":{"query":${JSON.stringify(query)},"variables":{"v":${deep}}}}`,
      );
      assert.match(JSON.stringify(await receive(socket)), /"type":"error".*"code":"bad_request"/);
      assertNothingRan(fixture);
    });
  }

  test('by GET, too, and in other parts of a body it is no failure of ours', async (t) => {
    const { url } = await serveGraph(t);
    const headers = { authorization: `Bearer ${testKey}` };
    const get = `${url}/graphql?query=${encodeURIComponent('{ rates { rateBps } }')}&variables={"v":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    assert.deepEqual(await codesOf(await fetch(get, { headers })), ['bad_request']);
    for (const part of ['query', 'operationName', 'extensions', 'other']) {
      const body =
        part === 'query' ? `{"query":${deep}}` : `{"query":"{ __typename }","${part}":${deep}}`;
      const response = await post(url, body);
      assert.ok(response.status < 500, `${part}: ${response.status}`);
    }
  });
});

describe('a persisted query', () => {
  const query = '{ merchant(id: "m1") { name } }';
  const merchant = { data: { merchant: { name: 'Merchant of the test' } } };
  const extensions = {
    persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') },
  };

  test('is not known before it was sent once with its text; then its hash is enough, by POST and by GET', async (t) => {
    const { url } = await serveGraph(t);
    assert.deepEqual(await codesOf(await post(url, { extensions })), ['PERSISTED_QUERY_NOT_FOUND']);
    assert.deepEqual(await read(await post(url, { query, extensions })), merchant);
    assert.deepEqual(await read(await post(url, { extensions })), merchant);
    const address = `${url}/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
    const headers = { authorization: `Bearer ${testKey}`, 'apollo-require-preflight': 'true' };
    assert.deepEqual(await read(await fetch(address, { headers })), merchant);
  });

  test('is not kept under the hash of another, nor known to a caller without a key', async (t) => {
    const { url } = await serveGraph(t);
    assert.deepEqual(
      await codesOf(await post(url, { query: '{ rates { rateBps } }', extensions })),
      ['bad_request'],
    );
    assert.deepEqual(await codesOf(await post(url, { extensions })), ['PERSISTED_QUERY_NOT_FOUND']);
    await post(url, { query, extensions });
    assert.equal((await post(url, { extensions }, { authorization: '' })).status, 401);
  });

  test('is under the same limits', async (t) => {
    const { url } = await serveGraph(t);
    const costly =
      'query ($n: Int!) { payments(first: $n) { nodes { refunds { payment { refunds { payment { id } } } } } } }';
    const persistedQuery = {
      version: 1,
      sha256Hash: createHash('sha256').update(costly).digest('hex'),
    };
    await post(url, { query: costly, variables: { n: 1 }, extensions: { persistedQuery } });
    assert.deepEqual(
      await codesOf(await post(url, { variables: { n: 200 }, extensions: { persistedQuery } })),
      ['query_too_complex'],
    );
  });
});

describe('what a foreign page could make a browser send is refused', () => {
  const query = '{ merchant(id: "m1") { name } }';
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ]) {
    test(`as ${type}`, async (t) => {
      const { url, fixture } = await serveGraph(t);
      const response = await post(url, JSON.stringify({ query }), { 'content-type': type });
      assert([400, 415].includes(response.status), String(response.status));
      assert.equal(fixture.count('merchant'), 0);
    });
  }

  test('as a mutation by GET', async (t) => {
    const { url, fixture } = await serveGraph(t);
    const address = `${url}/graphql?query=${encodeURIComponent('mutation { merchantCreate(name: "New") { id } }')}`;
    const headers = { authorization: `Bearer ${testKey}`, 'apollo-require-preflight': 'yes' };
    assert.equal((await fetch(address, { headers })).status, 405);
    assert.equal(fixture.count('merchantCreate'), 0);
  });
});

test('a GET with a bearer, which no foreign page can make a browser send, needs no other header', async (t) => {
  const { url } = await serveGraph(t);
  const address = `${url}/graphql?query=${encodeURIComponent('{ merchant(id: "m1") { name } }')}`;
  const answer = await fetch(address, { headers: { authorization: `Bearer ${testKey}` } });
  assert.deepEqual(
    [answer.status, await read(answer)],
    [200, { data: { merchant: { name: 'Merchant of the test' } } }],
  );
  assert.equal((await fetch(address)).status, 401);
});

describe('by configuration', () => {
  test('the schema is told or not, over HTTP and over sockets', async (t) => {
    const { url, socketUrl } = await serveGraph(t, { introspection: false });
    assert.deepEqual(
      new Set(await codesOf(await post(url, { query: getIntrospectionQuery() }))),
      new Set(['bad_request']),
    );
    await assert.rejects(
      connect(t, socketUrl).iterate({ query: '{ __schema { types { name } } }' }).next(),
    );
    assert.deepEqual(await read(await post(url, { query: '{ __typename }' })), {
      data: { __typename: 'Query' },
    });
  });

  test('a browser gets GraphiQL or not', async (t) => {
    const page = async (url: string) =>
      fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
    const withIt = await page((await serveGraph(t)).url);
    assert.equal(withIt.status, 200);
    const { url } = await serveGraph(t, { graphiql: false });
    assert.equal((await page(url)).status, 401);
    assert.equal((await fetch(`${url}/graphql/graphiql/graphiql.js`)).status, 404);
  });

  test('both are on when embedded; with a database of its own, or as one role of many, GraphiQL is off', () => {
    const { graphiql, graphIntrospection } = readConfig({});
    assert.deepEqual([graphiql, graphIntrospection], [true, true]);
    const scaled = {
      DATABASE_URL: 'postgresql://db/x',
      SECRET_KEY: Buffer.alloc(32).toString('base64'),
    };
    assert.equal(readConfig(scaled).graphiql, false);
    assert.equal(readConfig({ SUBGRAPH_PAYMENTS_URL: 'http://payments:4000' }).graphiql, false);
    assert.equal(readConfig({ ...scaled, GRAPHIQL: 'on' }).graphiql, true);
    assert.equal(readConfig({ GRAPHQL_INTROSPECTION: 'off' }).graphIntrospection, false);
  });
});
