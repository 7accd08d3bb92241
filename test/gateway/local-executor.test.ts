import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { parse } from 'graphql';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import {
  ask,
  facade,
  firstError,
  key,
  lines,
  log,
  operator,
  schema,
  state,
} from './merchants-subgraph.ts';

describe('errors', () => {
  test('that are not meant to be shown leave as "internal error" and are logged with the request id', async () => {
    lines.length = 0;
    const result = await ask('{ rates { method } }', key);
    assert.deepEqual(firstError(result), {
      message: 'internal error',
      code: 'INTERNAL_SERVER_ERROR',
      path: ['rates'],
    });
    assert.doesNotMatch(JSON.stringify(result), /hunter2|10\.0\.0\.1|stack/);
    const logged: unknown = JSON.parse(lines.join(''));
    assert.ok(typeof logged === 'object' && logged && 'requestId' in logged && 'err' in logged);
    assert.equal(logged.requestId, 'req-1');
    assert.match(JSON.stringify(logged.err), /hunter2/);
  });
  test('that a resolver meant to show are shown', async () => {
    assert.deepEqual(
      firstError(await ask('mutation { merchantCreate(name: "x") { id } }', operator)),
      {
        message: 'there is one of that name',
        code: 'name_taken',
        path: ['merchantCreate'],
      },
    );
  });
  test('of a field that must not be null are our own fault, and are not explained', async () => {
    assert.deepEqual(
      firstError(await ask('{ apiKeyHolder(digest: "d") { shopId } }', facade)).message,
      'internal error',
    );
  });
  test('of a value without a type end the call', async () => {
    assert.equal(
      firstError(await ask('{ liveEvent(id: "1") { id } }', key)).message,
      'internal error',
    );
    assert.equal(
      firstError(
        await ask(
          'mutation { webhookEndpointCreate(merchantId: "m", shopId: "s", url: "u") { __typename } }',
          operator,
        ),
      ).message,
      'internal error',
    );
  });
  test('of a context that cannot be made are masked too', async () => {
    const broken = localExecutor(schema, () => assert.fail('the pool is closed'), log);
    assert.deepEqual(
      firstError(
        await broken.prepare(parse('{ balance { currency } }'))(
          {},
          { principal: key, requestId: 'r', isInLane: true },
        ),
      ).message,
      'internal error',
    );
  });
});

describe('documents', () => {
  const page = 'nodes { id }';
  const refused: readonly (readonly [string, string])[] = [
    ['a field that is not there', '{ nothing }'],
    ['a subscription', 'subscription { events { id } }'],
    ['two operations', 'query A { __typename } query B { __typename }'],
  ];
  for (const [what, text] of refused) {
    test(`${what} is refused`, async () =>
      assert.equal(firstError(await ask(text, key)).code, 'GRAPHQL_VALIDATION_FAILED'));
  }
  test('a refused variable is named and never repeated', async () => {
    for (const first of ['4111111111111111', { cvc: 'card 4111111111111111' }]) {
      const result = await ask(`query ($first: Int!) { ledger(first: $first) { ${page} } }`, key, {
        first,
      });
      assert.deepEqual(firstError(result), {
        message: 'Variable "$first" has an invalid value.',
        code: 'BAD_USER_INPUT',
        path: undefined,
      });
      assert.doesNotMatch(JSON.stringify(result), /4111111111111111/);
    }
  });
  test('a variable with a wrong or a missing field says which, and repeats no value', async () => {
    const cases = [
      [{ kind: 'x' }, 'Field "kind" is not defined by type LedgerFilter.'],
      [
        { kind: '; Field "a" is not defined by type "B". Did you mean "4111"?' },
        'Field "kind" is not defined by type LedgerFilter.',
      ],
      [5, 'Expected type LedgerFilter to be an object.'],
    ] as const;
    for (const [filter, reason] of cases) {
      const text = `query ($filter: LedgerFilter) { ledger(first: 1, filter: $filter) { ${page} } }`;
      const { message } = firstError(await ask(text, key, { filter }));
      assert.equal(message, `Variable "$filter" has an invalid value: ${reason}`);
    }
  });
  test('a variable that is undefined is absent, so that its default applies', async () => {
    state.seen = [];
    await ask(
      `query ($first: Int! = 7, $type: LedgerEntryType) { ledger(first: $first, type: $type) { ${page} } }`,
      key,
      { type: undefined },
    );
    await ask(`query ($first: Int = 8) { ledger(first: $first) { ${page} } }`, key, {
      first: undefined,
    });
    assert.deepEqual(JSON.parse(JSON.stringify(state.seen)), [{ first: 7 }, { first: 8 }]);
  });
  test('conditions hold where a fragment is spread twice', async () => {
    const text =
      'query ($more: Boolean!) { a: balance { ...B } b: balance @skip(if: $more) { ...B } } fragment B on Balance { currency @include(if: $more) balance }';
    assert.deepEqual(JSON.parse(JSON.stringify((await ask(text, key, { more: true })).data)), {
      a: { currency: 'RUB', balance: -5 },
    });
    assert.deepEqual(JSON.parse(JSON.stringify((await ask(text, key, { more: false })).data)), {
      a: { balance: -5 },
      b: { balance: -5 },
    });
  });
});
