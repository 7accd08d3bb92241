/**
 * The schema against what stands beside it: access rows, the OpenAPI description, the closed lists
 * of the rules.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { Supergraph } from '@apollo/federation-internals';
import {
  GraphQLUnionType,
  Kind,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  validate,
  valueFromASTUntyped,
  visit,
  type DocumentNode,
  type GraphQLNamedType,
} from 'graphql';
import { readOperations, readSubgraphSdl, subgraphNames } from '../../schema/sources.ts';
import { liveKinds } from '../../subgraphs/rules/event.ts';
import { failureCodes } from '../../subgraphs/rules/failure-code.ts';
import { access, accessBelowRoot } from '../../subgraphs/platform/access/access.ts';
import { readText, typescriptFiles } from '../tidy/tree.ts';

const supergraph = Supergraph.build(readText('schema/supergraph.graphql'));
const schema = supergraph.apiSchema().toGraphQLJSSchema();
const rootTypes = [
  schema.getQueryType(),
  schema.getMutationType(),
  schema.getSubscriptionType(),
].filter(isObjectType);
const operations = readOperations();
/** Root fields that only parts of the service ask one another, directly. */
const hidden = supergraph.schema.schemaDefinition.roots().flatMap(({ type }) =>
  type
    .fields()
    .filter((field) => field.hasAppliedDirective('inaccessible'))
    .map(({ name }) => `${type.name}.${name}`),
);

const namesOf = (document: DocumentNode): readonly string[] =>
  document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION && definition.name ? [definition.name.value] : [],
  );

const sorted = (values: Iterable<string>): readonly string[] => [...values].toSorted();

/** The enums of one subgraph's SDL: name to values, in their order. */
const enumsOf = (document: DocumentNode): Map<string, readonly string[]> => {
  const found = new Map<string, readonly string[]>();
  visit(document, {
    EnumTypeDefinition: ({ name, values }) =>
      void found.set(name.value, values?.map((value) => value.name.value) ?? []),
  });
  return found;
};

/**
 * The fields of a type, each with whether it is described, by an interface of the type if not by
 * itself.
 */
const fieldsOf = (
  type: GraphQLNamedType,
): readonly { readonly name: string; readonly described: boolean }[] => {
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map(({ name, description }) => ({
      name: `${type.name}.${name}`,
      described: Boolean(description),
    }));
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  const received = new Set(type.getInterfaces().flatMap((base) => Object.keys(base.getFields())));
  return Object.values(type.getFields()).map(({ name, description }) => ({
    name: `${type.name}.${name}`,
    described: Boolean(description) || received.has(name),
  }));
};

/** Enum values cannot hold a dot: `payment_status_changed` is `payment.status_changed`. */

describe('the schema', () => {
  test('has an access row for every root field, and no row without a field', (t) => {
    const fields = rootTypes.flatMap((type) =>
      Object.keys(type.getFields()).map((field) => `${type.name}.${field}`),
    );
    t.diagnostic(`${fields.length} root fields`);
    assert.ok(fields.length > 30);
    assert.deepEqual(sorted(Object.keys(access)), sorted([...fields, ...hidden]));
  });

  test('marks exactly what API keys may call, with the scopes of its access row', () => {
    const marked = new Map<string, unknown>();
    for (const type of parse(readText('schema/generated/api.graphql')).definitions)
      if (type.kind === Kind.OBJECT_TYPE_DEFINITION)
        for (const { name, directives = [] } of type.fields ?? [])
          for (const { arguments: scopes = [] } of directives.filter(
            (one) => one.name.value === 'apiKey',
          ))
            marked.set(
              `${type.name.value}.${name.value}`,
              Object.fromEntries(
                scopes.map((one) => [one.name.value, valueFromASTUntyped(one.value)]),
              ),
            );
    const rows = Object.entries({ ...access, ...accessBelowRoot }).flatMap(([field, { key }]) =>
      key === undefined ? [] : [[field, 'allOf' in key && key.allOf.length === 0 ? {} : key]],
    );
    assert.deepEqual(Object.fromEntries(marked), Object.fromEntries(rows));
  });

  test('hides from the public graph what is for the service itself alone, and nothing else', (t) => {
    t.diagnostic(`${hidden.length} hidden root fields`);
    assert.ok(hidden.length > 0);
    // For services, or for the edge on its own behalf: one of them, and no caller.
    for (const field of hidden)
      assert.match(JSON.stringify(access[field]), /^\{"(service|edge)":true\}$/, field);
  });

  test('describes every type and every field; results, connections and edges are known by their names', (t) => {
    const types = Object.values(schema.getTypeMap()).filter(
      (type) => !type.name.startsWith('__') && !rootTypes.some((root) => root === type),
    );
    const ownName = (name: string): boolean => /(Result|Connection|Edge)$/.test(name);
    assert.deepEqual(
      types
        .filter(({ description, name }) => !description && !ownName(name))
        .map(({ name }) => name),
      [],
    );
    const fields = [...rootTypes, ...types]
      .filter(({ name }) => !ownName(name))
      .flatMap((type) => fieldsOf(type));
    t.diagnostic(`${fields.length} fields`);
    assert.ok(fields.length > 300);
    assert.deepEqual(
      fields.filter(({ described }) => !described).map(({ name }) => name),
      [],
    );
  });

  test('gives every connection the shape that Relay compiles against', () => {
    const connections = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter(({ name }) => name.endsWith('Connection'));
    assert.ok(connections.length > 15, `saw only ${connections.length}`);
    const written = (type: GraphQLNamedType | undefined, field: string): string =>
      isObjectType(type) ? String(type.getFields()[field]?.type) : 'no object';
    for (const type of connections) {
      const edge = schema.getType(type.name.replace(/Connection$/, 'Edge'));
      assert.equal(written(type, 'edges'), `[${edge?.name}!]!`);
      assert.equal(written(type, 'pageInfo'), 'PageInfo!');
      assert.equal(written(edge, 'cursor'), 'String!');
      assert.equal(written(type, 'nodes'), `[${written(edge, 'node')}]!`);
    }
  });

  test('has no union but results, each of which may be Refused', () => {
    const results = Object.values(schema.getTypeMap()).filter(
      (type) => type instanceof GraphQLUnionType,
    );
    assert.ok(results.length > 10);
    for (const union of results)
      assert.ok(
        union.getTypes().some(({ name }) => name === 'Refused') && union.name.endsWith('Result'),
        union.name,
      );
  });

  test('gives an enum the same values in every subgraph', () => {
    const first = new Map<string, readonly string[]>();
    let compared = 0;
    for (const name of subgraphNames) {
      for (const [type, values] of enumsOf(readSubgraphSdl(name))) {
        const known = first.get(type);
        if (!known) first.set(type, values);
        else assert.deepEqual(values, known, `${type} in ${name}`);
        if (known) compared += 1;
      }
    }
    assert.ok(compared >= 6, `compared only ${compared} enums`);
  });

  test('has an event type for every kind of the stream', () => {
    const types = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'LiveEvent'),
    );
    const expected = liveKinds.map(
      (kind) =>
        kind
          .split(/[._]/)
          .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
          .join('') + 'Event',
    );
    assert.deepEqual(sorted(types.map(({ name }) => name)), sorted(expected));
  });
});

describe('the named operations', () => {
  test('are valid', () => assert.deepEqual(validate(schema, operations), []));

  test('are each behind a documented route, or named in the code of the facade or the gateway', () => {
    const documented = new Set(readText('schema/openapi.yaml').match(/(?<=operationId: )\w+/g));
    const code = typescriptFiles()
      .filter((path) => /^(rest-facade|gateway)\//.test(path))
      .map(readText)
      .join('\n');
    const names = namesOf(operations);
    assert.ok(names.length >= 25, `saw only ${names.length} operations`);
    assert.deepEqual(
      names.filter((name) => !documented.has(name) && !new RegExp(`['"\`.]${name}\\b`).test(code)),
      [],
    );
  });
});

/**
 * The contract's failure codes in the order of its table, with what card payouts and two-step
 * payments add: code to class.
 */
const decided = `
  soft       do_not_honor generic_decline insufficient_funds limit_exceeded call_issuer
  hard       expired_card
  buyer      invalid_card_number invalid_expiry incorrect_cvc
  hard       lost_card stolen_card pickup_card card_restricted transaction_not_permitted country_not_supported fraud_suspected
  buyer      authentication_failed
  hard       authorization_revoked
  buyer      identification_required
  hard       account_not_found
  technical  issuer_unavailable processing_error
  buyer      session_expired link_expired capture_expired
  technical  method_unavailable
  soft       unknown_bank_code
  hard       bank_unknown recipient_not_in_sbp
  buyer      recipient_check_failed
  soft       rejected_by_recipient_bank payout_limit_exceeded
  technical  acquirer_balance_insufficient recipient_data_lost
  soft       refund_rejected
  hard       refund_window_closed`;

test('the failure codes and their classes are those of the contract', () => {
  const rows = decided
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [kind, ...codes] = line.trim().split(/\s+/);
      return codes.map((code) => [code, kind]);
    });
  assert.equal(rows.length, 36);
  assert.deepEqual(Object.entries(failureCodes), rows);
});
