import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { ExecutionResult } from 'graphql';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import {
  ask,
  entities,
  facade,
  firstError,
  key,
  loader,
  merchantsResolvers,
  operator,
  state,
} from './merchants-subgraph.ts';

describe('a subgraph is built whole or not at all', () => {
  const wrong: readonly (readonly [string, RegExp, () => unknown])[] = [
    [
      'a root field without a resolver',
      /no resolver for Query\.rates\nno resolver for Mutation\.shopCreate/,
      () => {
        const { rates: _rates, ...Query } = merchantsResolvers.Query;
        const { shopCreate: _shopCreate, ...Mutation } = merchantsResolvers.Mutation;
        return buildSubgraph({
          name: 'merchants',
          resolvers: { Query, Mutation },
          areMerchants: async () => true,
          entities,
        });
      },
    ],
    [
      'an entity without a loader',
      /one loader.*Shop/,
      () => {
        const { Shop: _Shop, ...others } = entities;
        return buildSubgraph({
          name: 'merchants',
          resolvers: merchantsResolvers,
          areMerchants: async () => true,
          entities: others,
        });
      },
    ],
    [
      'a loader of what is no entity here',
      /one loader.*Payout/,
      () =>
        buildSubgraph({
          name: 'merchants',
          resolvers: merchantsResolvers,
          areMerchants: async () => true,
          entities: { ...entities, Payout: loader },
        }),
    ],
  ];
  for (const [what, message, build] of wrong)
    test(`${what} stops it`, () => assert.throws(build, { message }));
});

describe('a root field asks the access table', () => {
  test('a key that lacks the scope is refused with scope_required', async () => {
    const result = await ask('{ balance { currency } }', { ...key, scopes: [] });
    assert.deepEqual(firstError(result), {
      message: 'the key lacks the scope api:balance:read',
      code: 'scope_required',
      path: ['balance'],
    });
  });
  test('an operator of too low a role is refused with forbidden', async () => {
    const result = await ask('mutation { merchantCreate(name: "x") { id } }', {
      kind: 'operator',
      subject: 'o',
      role: 'viewer',
      merchantId: null,
    });
    assert.deepEqual(firstError(result), {
      message: 'this operation needs the role admin',
      code: 'forbidden',
      path: ['merchantCreate'],
    });
  });
  test('who may call it gets wire values: integers for money, RFC 3339 with milliseconds for moments', async () => {
    const result = await ask(
      '{ balance { balance available } merchant(id: "m") { createdAt } }',
      key,
    );
    assert.deepEqual(JSON.parse(JSON.stringify(result)), {
      data: {
        balance: { balance: -5, available: 9_007_199_254_740_991 },
        merchant: { createdAt: '2026-05-06T10:00:00.123Z' },
      },
    });
  });
});

const entitiesQuery =
  'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename ... on Shop { id name } ... on Merchant { id } } }';
const askEntities = async (principal: Principal, representations: readonly object[]) => {
  state.loads = [];
  return ask(entitiesQuery, principal, { representations });
};
const shopOf = (merchantId: string, id: string) => ({ __typename: 'Shop', merchantId, id });
const found = (result: ExecutionResult): unknown =>
  JSON.parse(JSON.stringify(result.data?.['_entities'] ?? null));

describe('entities by key', () => {
  test('are loaded in one call per type, each distinct one once, in the order of the question', async () => {
    const result = await askEntities(key, [
      shopOf('m', 'b'),
      { __typename: 'Merchant', id: 'm' },
      shopOf('m', 'gone'),
      shopOf('m', 'a'),
      shopOf('m', 'b'),
    ]);
    assert.equal(result.errors, undefined);
    const b = { __typename: 'Shop', id: 'b', name: 'shop b' };
    assert.deepEqual(found(result), [
      b,
      { __typename: 'Merchant', id: 'm' },
      null,
      { __typename: 'Shop', id: 'a', name: 'shop a' },
      b,
    ]);
    assert.deepEqual(state.loads, [
      [
        { merchantId: 'm', id: 'b' },
        { merchantId: 'm', id: 'gone' },
        { merchantId: 'm', id: 'a' },
      ],
      [{ merchantId: 'm', id: 'm' }],
    ]);
  });

  const strangers: readonly (readonly [string, Principal])[] = [
    ['a key', key],
    ['a buyer', { kind: 'buyer', merchantId: 'm', paymentId: 'p' }],
    ['an operator narrowed to a merchant', { ...operator, merchantId: 'm' }],
  ];
  for (const [who, principal] of strangers) {
    test(`${who} of another merchant gets null, and nothing is loaded`, async () => {
      const result = await askEntities(principal, [
        shopOf('other', 'a'),
        { __typename: 'Merchant', id: 'other' },
      ]);
      assert.deepEqual([found(result), result.errors, state.loads], [[null, null], undefined, []]);
    });
  }
  for (const [who, principal] of [
    ['an operator of all merchants', operator],
    ['the edge', facade],
    ['a service', { kind: 'service', name: 'worker' }],
  ] as const) {
    test(`${who} gets every merchant's`, async () => {
      assert.deepEqual(found(await askEntities(principal, [shopOf('other', 'a')])), [
        { __typename: 'Shop', id: 'a', name: 'shop a' },
      ]);
    });
  }

  test('a load that fails leaves its own places empty, and says nothing of why', async () => {
    const result = await askEntities(key, [
      { __typename: 'Merchant', id: 'm' },
      shopOf('m', 'broken'),
      shopOf('m', 'a'),
    ]);
    assert.deepEqual(found(result), [{ __typename: 'Merchant', id: 'm' }, null, null]);
    assert.deepEqual(
      result.errors?.map(({ message, path }) => [message, path]),
      [
        ['internal error', ['_entities', 1]],
        ['internal error', ['_entities', 2]],
      ],
    );
  });
  test('what is no representation is refused in its place', async () => {
    const result = await askEntities(key, [
      { __typename: 'Shop', id: 5, merchantId: 'm' },
      { __typename: 'Payout', merchantId: 'm', id: 'x' },
      shopOf('m', 'a'),
    ]);
    assert.deepEqual(
      [found(result), result.errors?.length, firstError(result).code],
      [[null, null, { __typename: 'Shop', id: 'a', name: 'shop a' }], 2, 'BAD_USER_INPUT'],
    );
  });
});
