import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { getIntrospectionQuery } from 'graphql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plannerOf } from '../../gateway/graphql/plan-documents.ts';
import { codesOf, post } from './ask-graph.ts';
import { connect, serveGraph, stoppedClock } from './serve-graph.ts';
import { operatorToken, otherMerchantKey, testKey } from './small-graph.ts';

const remaining = (response: Response): number =>
  Number(response.headers.get('ratelimit-remaining'));
const aliased = (count: number, field: string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

/** What an operation costs, as the headers say of a full bucket. */
const priceOf = async (t: Parameters<typeof serveGraph>[0], query: string): Promise<number> => {
  const { url, fixture } = await serveGraph(t, stoppedClock);
  fixture.setKey(testKey, {
    ...fixture.holderOf(testKey),
    rateLimit: { perSecond: 1, burst: 100 },
  });
  return 100 - remaining(await post(url, { query }));
};

describe('an operation costs', () => {
  const prices: readonly (readonly [title: string, tokens: number, query: string])[] = [
    ['one token when it is small', 1, '{ merchant(id: "m1") { name } }'],
    ['one token for a page of 200 rows alone', 1, '{ payments(first: 200) { nodes { id } } }'],
    [
      'one for each 250 objects that it may answer with',
      11,
      '{ payments(first: 200) { nodes { shop { name } merchant { name } refunds { id } } } }',
    ],
    [
      'as much by edges as by nodes: one for each 250 objects',
      11,
      '{ payments(first: 200) { edges { cursor node { shop { name } merchant { name } refunds { id } } } } }',
    ],
    [
      'one for each mutation',
      20,
      `mutation { ${aliased(20, 'paymentCancel(id: "p") { __typename }')} }`,
    ],
    [
      'one for each mutation in fragments',
      6,
      `mutation { ...A ... on Mutation { ...B } } fragment A on Mutation { ${aliased(3, 'paymentCancel(id: "p") { __typename }')} }
      fragment B on Mutation { b1: paymentCancel(id: "p") { __typename } b2: paymentCancel(id: "p") { __typename } b3: paymentCancel(id: "p") { __typename } }`,
    ],
  ];
  for (const [title, tokens, query] of prices)
    test(title, async (t) =>
      assert.equal(
        await priceOf(t, query),
        title.includes('250') ? Math.ceil((1 + 200 * (1 + 1 + 1 + 10)) / 250) : tokens,
      ),
    );

  test('what it costs before it runs: with too few tokens it is 429 and nothing has run, over HTTP and over a socket', async (t) => {
    const { url, socketUrl, fixture } = await serveGraph(t, stoppedClock);
    const mutations = (count: number): string =>
      `mutation { ${aliased(count, 'paymentCancel(id: "p") { __typename }')} }`;
    await post(url, { query: mutations(20) }, { authorization: `Bearer ${otherMerchantKey}` });
    const ran = fixture.count('paymentCancel');
    fixture.setKey(testKey, {
      ...fixture.holderOf(testKey),
      rateLimit: { perSecond: 1, burst: 20 },
    });
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => post(url, { query: mutations(20) })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 3, answers.map(({ status }) => status).join(' '));
    for (const answer of refused) {
      assert.deepEqual(await codesOf(answer), ['rate_limited']);
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
    }
    const first = await connect(t, socketUrl)
      .iterate({ query: mutations(20) })
      .next()
      .catch((error: unknown) => error);
    assert.match(JSON.stringify(first), /rate_limited/);
    assert.ok(fixture.count('paymentCancel') <= ran + 20);
  });

  test('a full bucket at most, so that a merchant with a small one can run it at all', async (t) => {
    const { url, fixture } = await serveGraph(t, stoppedClock);
    fixture.setKey(testKey, {
      ...fixture.holderOf(testKey),
      rateLimit: { perSecond: 1, burst: 3 },
    });
    const response = await post(url, { query: getIntrospectionQuery() });
    assert.deepEqual([response.status, remaining(response)], [200, 0]);
  });
});

test('a person with a token of the issuer has a bucket of 100 of their own; the bootstrap operator has no limit', async (t) => {
  const { url } = await serveGraph(t, {
    ...stoppedClock,
    otherReaders: [
      (bearer) =>
        bearer.startsWith('person-')
          ? Promise.resolve({
              principal: { kind: 'operator', subject: bearer, role: 'admin', merchantId: null },
              person: bearer,
            })
          : null,
    ],
  });
  const ask = (bearer: string): Promise<Response> =>
    post(
      url,
      { query: `{ ${aliased(20, 'rates { rateBps }')} }` },
      { authorization: `Bearer ${bearer}` },
    );
  const answers: Response[] = [];
  for (let call = 0; call < 101; call += 1) answers.push(await ask('person-1'));
  assert.ok(answers.slice(0, 100).every(({ status }) => status === 200));
  assert.equal(answers[100]?.status, 429);
  assert.equal(remaining(await ask('person-2')), 99);
  assert.equal((await ask(operatorToken)).headers.get('ratelimit-limit'), null);
  assert.equal(answers[0]?.headers.get('ratelimit-limit'), '100');
});

describe('documents that were not seen before', () => {
  const planner = plannerOf(
    readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8'),
  );
  const heavy = (index: number): string =>
    `query Heavy { ${aliased(3, `ledger(first: 1) { nodes { id payment { n${index}: id shop { merchant { name } } refunds { id } } } }`)} }`;

  test('of one caller are read in turns with those of others, and are bounded', async () => {
    const order: string[] = [];
    const many = Array.from({ length: 120 }, (_, index) =>
      planner.plan(heavy(index), 'merchant a').then(
        () => order.push('a'),
        (error: { extensions: { code: string } }) => order.push(error.extensions.code),
      ),
    );
    const one = planner.mistakesIn('{ rates { nothing } }', 'merchant b', true).then((mistakes) => {
      order.push('b');
      return mistakes;
    });
    const mistakes = await one;
    assert.deepEqual(
      mistakes.map(({ extensions, locations }) => [extensions['code'], locations]),
      [['bad_request', [{ line: 1, column: 11 }]]],
    );
    assert.ok(order.filter((whose) => whose === 'a').length <= 2, order.join(' '));
    await Promise.all(many);
    assert.equal(
      order.filter((whose) => whose === 'rate_limited').length >= 19,
      true,
      order.join(' '),
    );
  });
});
