/**
 * The graph over HTTP under documents of every kind: no internal error, no hang, no leak, and books
 * that are right afterwards.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { buildClientSchema, getIntrospectionQuery, type GraphQLSchema } from 'graphql';
import { askGraph } from '../support/merchant.ts';
import { operatorToken } from '../support/service.ts';
import { size } from '../support/size.ts';
import { searching } from './cases.ts';
import { documents, type Asking, type IdsOf, type Operation } from './documents.ts';
import type { Came } from './exchange.ts';
import { damaged, oddJson, oddText } from './odd-values.ts';
import { allIds, openFixture, type Tenant, type Fixture } from './fixture.ts';

let fixture: Fixture;
let schema: GraphQLSchema;
before(async () => {
  fixture = await openFixture();
  schema = buildClientSchema(await askGraph(fixture.service, getIntrospectionQuery()));
});
after(() => fixture?.close());

const nounOf: Readonly<Record<string, string>> = { billingSubscriptionId: 'subscriptions', id: '' };

/** The ids of these merchants that an argument may mean, and those of payments beside. */
const idsAmong =
  (tenants: readonly Tenant[], payments: readonly string[] = []): IdsOf =>
  (argument) => {
    const found = idsOf(tenants, argument);
    return argument === 'id' || argument === 'paymentId' ? [...found, ...payments] : found;
  };

const idsOf = (tenants: readonly Tenant[], argument: string): readonly string[] =>
  tenants.flatMap(({ id, shopId, ids }) => {
    if (argument === 'merchantId') return [id];
    if (argument === 'shopId') return [shopId];
    const noun = nounOf[argument] ?? argument.replace(/Id$/, 's');
    return ids[noun] ?? allIds(ids);
  });

type Json = Readonly<Record<string, unknown>>;

interface Request {
  readonly bearer: string | null;
  readonly from: string;
  readonly body: Buffer;
}

const ask = ({ bearer, from, body }: Request): Promise<Came> =>
  fixture.exchange({
    method: 'POST',
    path: '/graphql',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': from,
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body,
  });

const received = ({ body }: Request, came: Came): string =>
  `${body.subarray(0, 4_000).toString()} -> ${came.status} ${came.text.slice(0, 1_000)} ${fixture.logOf(came)}`;

/**
 * Holds one answer to everything that every answer must be; gives its data and the codes of its
 * errors.
 */
const judge = (
  request: Request,
  came: Came,
): { readonly data: unknown; readonly codes: readonly unknown[] } => {
  const { status, headers, text } = came;
  assert.ok(status === 200 || (status >= 400 && status < 500), received(request, came));
  assert.match(String(headers['x-request-id']), /^[\w.:-]{1,128}$/, received(request, came));
  assert.equal(fixture.leakIn(text), null, received(request, came));
  const answer: { data?: unknown; errors?: readonly { extensions?: Json }[] } = JSON.parse(text);
  const codes = (answer.errors ?? []).map(({ extensions }) => extensions?.['code']);
  for (const code of codes)
    assert.ok(typeof code === 'string' && !/^internal/i.test(code), received(request, came));
  return { data: answer.data, codes };
};

/**
 * What the first merchant's key must never receive: the ids of the other, and what is of its own
 * merchant's other shop or mode. What a refusal repeats was sent.
 */
const assertNothingOfTheStranger = (request: Request, came: Came, data: unknown): void => {
  const { stranger } = fixture;
  const sent = request.body.toString();
  assert.ok(!came.text.includes(fixture.beside), received(request, came));
  for (const id of [stranger.id, stranger.shopId, ...allIds(stranger.ids)]) {
    assert.ok(!JSON.stringify(data ?? null).includes(id), received(request, came));
    assert.ok(sent.includes(id) || !came.text.includes(id), received(request, came));
  }
};

/** Bodies with such a document in them, some of them damaged. */
const bodies = (askings: fc.Arbitrary<Asking>): fc.Arbitrary<Buffer> => {
  const plain = askings.map((asking) => JSON.stringify(asking));
  const damagedDocument = fc
    .tuple(
      askings,
      fc.nat(),
      fc.nat({ max: 5 }),
      fc.oneof(oddText, fc.constantFrom('{', '}', '(', '...F0', '@skip', '$v0', '"""', '#', '!')),
    )
    .map(([{ query, variables }, at, lost, put]) => {
      const cut = at % (query.length + 1);
      return JSON.stringify({
        query: query.slice(0, cut) + put + query.slice(cut + lost),
        variables,
      });
    });
  const oddFields = fc
    .tuple(
      askings,
      fc.record(
        {
          query: oddJson,
          variables: oddJson,
          operationName: oddJson,
          extensions: oddJson,
          id: oddJson,
        },
        { requiredKeys: [] },
      ),
    )
    .map(([asking, odd]) => JSON.stringify({ ...asking, ...odd }));
  const any = fc.oneof(
    { weight: 14, arbitrary: plain },
    { weight: 3, arbitrary: damagedDocument },
    { weight: 2, arbitrary: oddFields },
    { weight: 1, arbitrary: oddJson.map((json) => JSON.stringify(json)) },
  );
  return damaged(any, 20);
};

const requests = (bearer: string | null, operation: Operation, ids: IdsOf): fc.Arbitrary<Request> =>
  fc.record({
    bearer: fc.constant(bearer),
    from: fc.ipV4(),
    body: bodies(documents(schema, operation, ids)),
  });

/**
 * Searches; `look` sees every answer. Fails when nothing was ever answered with data, where it
 * should be.
 */
const search = async (
  t: TestContext,
  cases: number,
  asked: fc.Arbitrary<Request>,
  look: (request: Request, came: Came, data: unknown) => void,
): Promise<void> => {
  const seen = new Map<string, number>();
  const property = fc.asyncProperty(asked, async (request) => {
    const came = await ask(request);
    const { data, codes } = judge(request, came);
    for (const what of new Set([...codes.map(String), ...(data ? ['data'] : [])]))
      seen.set(what, (seen.get(what) ?? 0) + 1);
    look(request, came, data);
  });
  await fc.assert(property, searching(t, size(cases / 4, cases)));
  t.diagnostic([...seen].map(([what, times]) => `${what}: ${times}`).join(', '));
};

describe('the graph answers whatever it is asked without breaking', () => {
  for (const operation of ['query', 'mutation'] as const) {
    test(`a key’s ${operation}, and says nothing of another merchant`, (t) => {
      const { merchant, stranger, hidden } = fixture;
      return search(
        t,
        200,
        requests(merchant.key, operation, idsAmong([merchant, merchant, stranger], hidden)),
        assertNothingOfTheStranger,
      );
    });
  }

  test('a key that has payments with the ids of hidden ones for order ids, under aliases like keys', (t) => {
    const { merchant, hidden } = fixture;
    const alias = fc.constantFrom('id', 'merchantId', '__typename', 'a');
    const field = fc.constantFrom(
      'id',
      'orderId',
      'merchantId',
      'shopId',
      '__typename',
      'description',
    );
    const aliased = fc.tuple(alias, field).map(([as, of]) => `${as}: ${of}`);
    const selection = fc
      .tuple(
        fc.uniqueArray(aliased, { maxLength: 3, selector: (text) => text.split(':')[0] }),
        fc.constantFrom('', '@include(if: true)', '@skip(if: true)'),
      )
      .map(([fields, condition]) =>
        fields.length === 0 ? '' : `... ${condition} { ${fields.join(' ')} }`,
      );
    const documentsOf = fc
      .tuple(selection, selection, fc.constantFrom(...hidden, 'paid'))
      .map(([first, second, order]) => ({
        query: `query ($order: String) { paymentSearch(search: { orderId: $order }) { nodes {
        ${first} webhookDeliveries { url attemptLog { error } } ${second} shop { name } refunds { payment { ${first} webhookDeliveries { url } } } } } }`,
        variables: { order },
      }));
    const asked = documentsOf.map((asking) => ({
      bearer: merchant.key,
      from: '198.51.100.7',
      body: Buffer.from(JSON.stringify(asking)),
    }));
    return search(t, 60, asked, (request, came) =>
      assert.ok(!came.text.includes(fixture.beside), received(request, came)),
    );
  });

  test('a caller without a key, who gets no data', (t) =>
    search(
      t,
      40,
      requests('sk_test_abcdef_0123456789', 'query', idsAmong([fixture.merchant])),
      (request, came, data) => {
        assert.ok(!data, received(request, came));
        assert.ok(came.status >= 400, received(request, came));
      },
    ));

  // Last, since an operator may take the keys away.
  for (const operation of ['query', 'mutation'] as const) {
    test(`an operator’s ${operation}`, (t) =>
      search(t, 200, requests(operatorToken, operation, idsAmong([fixture.stranger])), () => {}));
  }

  test('the service is well afterwards', () => fixture.assertWell());
});
