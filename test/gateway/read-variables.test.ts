import { test } from 'node:test';
import assert from 'node:assert/strict';
import { buildSchema, getOperationAST, parse } from 'graphql';
import { readVariables } from '../../gateway/graphql/read-variables.ts';

const schema = buildSchema(`
  input Item { name: String!, price: Int! }
  type Query { sum(items: [Item!]!): Int }
`);
const operation = getOperationAST(parse('query ($items: [Item!]!) { sum(items: $items) }'));

test('of the many mistakes in a variable no more are counted than a 400 has, each with its place', () => {
  assert(operation);
  const items = Array.from({ length: 80_000 }, () => ({}));
  const { coerced, errors } = readVariables(schema, operation, { items });
  assert.equal(coerced, undefined);
  assert.equal(errors?.length, 20);
  for (const { message } of errors)
    assert.match(message, /^Variable "\$items" got invalid value \{\} at "items\[\d\]"/);
});

test('variables without a mistake are read', () => {
  assert(operation);
  const items = [{ name: 'tea', price: 1 }];
  const { coerced, errors } = readVariables(schema, operation, { items });
  assert.equal(errors, undefined);
  assert.deepEqual(JSON.parse(JSON.stringify(coerced)), { items });
});
