/** Schemas are compiled when they are first asked for: here every one of them is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSchema } from '../../rest-facade/validate-body.ts';
import { readContract } from '../../rest-facade/read-contract.ts';

/** A body of variants is checked by each of them. */
const schemas = [...readContract().operations.values()].flatMap(
  ({ operationId, parameters, body }) => [
    ...parameters.map(({ name, schema }) => ({ name: `${operationId}, ${name}`, schema })),
    ...(body ? (body.schema.anyOf ?? body.schema.oneOf ?? [body.schema]) : []).map((schema) => ({
      name: `${operationId}, its body`,
      schema,
    })),
  ],
);

test('every schema of a parameter and of a body compiles, and refuses what is no JSON', () => {
  assert.ok(schemas.length > 50, `saw only ${schemas.length} schemas`);
  for (const { name, schema } of schemas)
    assert.notEqual(compileSchema(schema, name)(Symbol('no value')).length, 0, name);
});
