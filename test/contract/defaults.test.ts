/** The API documents state the defaults of a new payment that the rules have. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Kind, valueFromASTUntyped } from 'graphql';
import { readContract } from '../../rest-facade/read-contract.ts';
import { camelCase } from '../../rest-facade/validate-body.ts';
import { readSubgraphSdl } from '../../schema/sources.ts';
import { paymentDefaults } from '../../subgraphs/payments/rules/create.ts';

test('the SDL states the defaults of a new payment', () => {
  const input = readSubgraphSdl('payments').definitions.find(
    (definition) =>
      definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION &&
      definition.name.value === 'PaymentCreateInput',
  );
  assert.ok(input?.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION);
  const stated = (input.fields ?? []).flatMap(({ name, defaultValue }) =>
    defaultValue ? [[name.value, valueFromASTUntyped(defaultValue)]] : [],
  );
  assert.deepEqual(Object.fromEntries(stated), paymentDefaults);
});

test('the OpenAPI document states the defaults of a new payment', () => {
  const { body } = readContract().operations.get('CreatePayment') ?? assert.fail('no operation');
  const stated = Object.entries(body?.schema.properties ?? {}).flatMap(([name, field]) =>
    field['x-default'] === undefined ? [] : [[camelCase(name), field['x-default']]],
  );
  assert.deepEqual(Object.fromEntries(stated), paymentDefaults);
});
