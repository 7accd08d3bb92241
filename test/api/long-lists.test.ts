import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import { longAnswers_max } from '../../rest-facade/long-answers.ts';
import { openSmallEdge, type SmallEdge } from './small-edge.ts';
import { eventually } from '../support/eventually.ts';

/** What the list answers next. */
let next: (asked: { readonly first: number; readonly after: string | null }) => unknown;
let asked: (string | null)[] = [];
let edge: SmallEdge;
before(async () => {
  edge = await openSmallEdge({
    'Query.tokensConnection': (args) => {
      const { first, after: cursor } = { first: 0, after: null, ...args };
      asked.push(cursor);
      return next({ first, after: cursor });
    },
  });
});
after(() => edge.close());

const token = (customerRef: string) => ({
  id: customerRef,
  merchantId: 'm',
  shopId: 's',
  customerRef,
  metadata: {},
  method: 'cards',
  status: 'pending',
  createdAt: Temporal.Instant.from('2026-05-06T10:00:00Z'),
});
const page = (names: readonly string[], endCursor: string | null) => ({
  nodes: names.map(token),
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});
const ask = (method = 'GET'): Promise<Response> => {
  asked = [];
  return fetch(`${edge.url}/v1/public/tokens`, {
    method,
    headers: { authorization: 'Bearer test' },
  });
};

describe('a list that the contract has no pages for', () => {
  test('is joined from the pages of its operation, and has the items alone', async () => {
    next = ({ after: cursor }) =>
      cursor === null
        ? page(['a', 'b'], 'two')
        : cursor === 'two'
          ? page(['c'], 'three')
          : page(['d'], null);
    const response = await ask();
    assert.match(response.headers.get('content-type') ?? '', /^application\/json; charset=utf-8/);
    const body: any = await response.json();
    assert.deepEqual(
      [Object.keys(body), body.items.map(({ customer_ref }: any) => customer_ref)],
      [['items'], ['a', 'b', 'c', 'd']],
    );
    assert.deepEqual(asked, [null, 'two', 'three']);
  });

  test('is an ordinary answer when it has one page', async () => {
    next = () => page(['a'], null);
    const response = await ask();
    assert.ok(Number(response.headers.get('content-length')) > 0);
    assert.deepEqual(Object.keys((await response.json()) as object), ['items']);
  });

  test('is an envelope when its first page is refused', async () => {
    next = () => {
      throw new GraphQLError('no', { extensions: { code: 'bad_request' } });
    };
    assert.equal((await ask()).status, 400);
  });

  test('breaks off when a later page fails or is refused, so that a part is not taken for the whole', async () => {
    for (const failure of [
      new Error('lost'),
      new GraphQLError('no', { extensions: { code: 'bad_request' } }),
    ]) {
      next = ({ after: cursor }) => {
        if (cursor !== null) throw failure;
        return page(['a'], 'two');
      };
      const response = await ask();
      assert.equal(response.status, 200);
      await assert.rejects(response.text(), 'the answer has no end');
    }
  });

  test('gives its place back when the caller hangs up before the first page is read', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const whole = ({ after: cursor }: { readonly after: string | null }) =>
      page(['a'], cursor === null ? 'two' : null);
    next = async (read) => {
      await held;
      return whole(read);
    };
    asked = [];
    const hangUp = new AbortController();
    const begun = Array.from({ length: longAnswers_max }, () =>
      assert.rejects(
        fetch(`${edge.url}/v1/public/tokens`, {
          headers: { authorization: 'Bearer test' },
          signal: hangUp.signal,
        }),
        { name: 'AbortError' },
      ),
    );
    await eventually(() => asked.length === longAnswers_max, 'all that may be read at a time');
    hangUp.abort();
    await Promise.all(begun);
    // The service has seen them go when it answers the next caller.
    await fetch(`${edge.url}/v1/public/nothing`);
    letGo();
    next = whole;
    const answer = await ask();
    assert.equal(answer.status, 200);
    await answer.text();
  });

  test('is not walked for a HEAD request', async () => {
    next = () => page(['a'], 'two');
    assert.equal((await ask('HEAD')).status, 200);
    assert.equal(asked.length, 1);
  });
});
