import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Supergraph as Composed } from '@apollo/federation-internals';
import { ApolloServer } from '@apollo/server';
import fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  getOperationAST,
  introspectionFromSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  parse,
  separateOperations,
  typeFromAST,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLInputType,
} from 'graphql';
import { CannotCompile } from '../../gateway/compile/answer-shape.ts';
import { keyFieldNames, openAliasRenamer } from '../../gateway/compile/key-aliases.ts';
import { openSupergraph, type Supergraph } from '../../gateway/supergraph.ts';
import { readOperations } from '../../schema/sources.ts';
import { accessRefusal } from '../../subgraphs/platform/access/access.ts';
import { scopes, type Call, type Principal } from '../../subgraphs/platform/access/principal.ts';
import type { PreparedDocument } from '../../subgraphs/platform/graph/subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { isLong, size } from '../support/size.ts';
import { compilerOver } from './compile-here.ts';
import {
  generatedExecutors,
  merchants,
  readFederatedOperations,
  type Fixture,
} from './generated-subgraphs.ts';

const merchantId = merchants[0] ?? '';
const principals: readonly Principal[] = [
  { kind: 'key', keyId: 'k', merchantId, shopId: 'a', mode: 'test', scopes },
  { kind: 'buyer', merchantId, paymentId: 'a' },
  { kind: 'operator', subject: 'o', role: 'admin', merchantId: null },
  { kind: 'edge', name: 'rest-facade' },
];

let asked = 0;
subscribe('http.client.request.created', () => (asked += 1));

const fixture: Fixture = { seed: 1, faults: 0 };
const log = openLog({ logLevel: 'silent' }, 'test');
const supergraphSdl = readFileSync(
  join(import.meta.dirname, '../../schema/supergraph.graphql'),
  'utf8',
);
const executors = generatedExecutors(fixture);
const supergraph: Supergraph = await openSupergraph({ supergraphSdl, executors, log });
const compile = compilerOver(executors);
/** The same, with nothing compiled but the named operations: what is compared with. */
const stock: Supergraph = await openSupergraph({
  supergraphSdl,
  executors: generatedExecutors(fixture),
  log,
  compilesDocuments: false,
});
const federated = readFederatedOperations();
const introspected = { oneOf: true, specifiedByUrl: true, inputValueDeprecation: true };

test('the stock gateway sends no telemetry: neither to its maker nor to a cloud', async () => {
  const call: Call = {
    principal: { kind: 'service', name: 'test' },
    requestId: 'test',
    isInLane: true,
  };
  await stock.execute({ document: parse('{ rates { method } }'), variables: {} }, call);
  assert.equal(asked, 0);
});

test('no alias of a named operation is the name of a field that the planner adds', () => {
  const renameAliases = openAliasRenamer(keyFieldNames(supergraphSdl));
  for (const [name, document] of namedOf(readOperations()))
    assert.equal(renameAliases(document), null, name);
});

test('the generated schema is that of the supergraph, but for the mark of what keys may call', () => {
  const shown = (schema: GraphQLSchema) => {
    const { directives, ...rest } = introspectionFromSchema(schema, introspected).__schema;
    return { ...rest, directives: directives.filter(({ name }) => name !== 'apiKey') };
  };
  assert.deepEqual(
    shown(supergraph.apiSchema),
    shown(Composed.build(supergraphSdl).apiSchema().toGraphQLJSSchema()),
  );
});

const isSubscription = (document: DocumentNode): boolean =>
  getOperationAST(document)?.operation === 'subscription';
const namedOf = (document: DocumentNode): readonly (readonly [string, DocumentNode])[] =>
  Object.entries(separateOperations(document)).filter(([, one]) => !isSubscription(one));

/** A caller that may call every root field of the operation. */
const callerOf = (document: DocumentNode): Principal => {
  const operation = getOperationAST(document);
  const root = operation?.operation === 'mutation' ? 'Mutation' : 'Query';
  const fields = (operation?.selectionSet.selections ?? []).flatMap((selection) =>
    selection.kind === Kind.FIELD ? [`${root}.${selection.name.value}`] : [],
  );
  const caller = principals.find((principal) =>
    fields.every((field) => accessRefusal(field, principal) === null),
  );
  assert(caller, `no caller may call ${fields.join(', ')}`);
  return caller;
};

/** Values of an input type, valid ones; what may be absent sometimes is. */
const inputOf = (type: GraphQLInputType): fc.Arbitrary<unknown> =>
  isNonNullType(type) ? presentOf(type.ofType) : fc.option(presentOf(type), { nil: undefined });

const presentOf = (type: GraphQLInputType): fc.Arbitrary<unknown> => {
  const bare = getNullableType(type);
  if (isListType(bare)) return fc.array(inputOf(bare.ofType), { minLength: 1, maxLength: 2 });
  const named = getNamedType(bare);
  if (isEnumType(named)) return fc.constantFrom(...named.getValues().map(({ name }) => name));
  if (isInputObjectType(named))
    return fc.record(
      Object.fromEntries(
        Object.values(named.getFields()).map((field) => [field.name, inputOf(field.type)]),
      ),
    );
  switch (named.name) {
    case 'Int':
      return fc.integer({ min: 1, max: 100 });
    case 'Boolean':
      return fc.boolean();
    case 'MinorUnits':
      return fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    case 'StringMap':
      return fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 });
    default:
      return fc.string({ maxLength: 8 });
  }
};

const variablesOf = (document: DocumentNode): fc.Arbitrary<Record<string, unknown>> => {
  const variables: Record<string, fc.Arbitrary<unknown>> = {};
  const requiredKeys: string[] = [];
  for (const { variable, type: node, defaultValue } of getOperationAST(document)
    ?.variableDefinitions ?? []) {
    const type = typeFromAST(supergraph.apiSchema, node);
    assert(type && isInputType(type));
    variables[variable.name.value] = inputOf(type);
    if (isNonNullType(type) && !defaultValue) requiredKeys.push(variable.name.value);
  }
  return fc.record(variables, { requiredKeys });
};

const notify = ({ message, path, extensions }: GraphQLError): string =>
  JSON.stringify([message, path, extensions['code'], extensions['serviceName']]);

/**
 * An answer as text, fields in their order; errors in any order, since subgraphs are asked at once.
 */
const received = ({ data, errors, extensions }: ExecutionResult): object => {
  const violations = extensions?.['valueCompletion'];
  return {
    data: JSON.stringify(data),
    errors: errors?.map(notify).toSorted(),
    violations: Array.isArray(violations) ? violations.map(notify).toSorted() : undefined,
  };
};

/** What the comparisons saw: a comparison that saw nothing proves nothing. */
const seen = { answers: 0, whole: 0, errors: 0, below: 0, violations: 0, nothing: 0 };

const note = ({ data, errors, extensions }: ExecutionResult): void => {
  seen.answers += 1;
  seen.errors += errors?.length ?? 0;
  seen.below += errors?.filter((error) => (error.path?.length ?? 0) > 3).length ?? 0;
  if (extensions?.['valueCompletion']) seen.violations += 1;
  if (data === null) seen.nothing += 1;
  else if (!errors && !extensions) seen.whole += 1;
};

const compareAnswers = async (
  document: DocumentNode,
  compiled: PreparedDocument,
): Promise<void> => {
  const principal = callerOf(document);
  const input = fc.record({
    seed: fc.nat(),
    faults: fc.constantFrom(0, 17, 41, 97),
    caller: fc.constantFrom(...Array.from({ length: 8 }, () => principal), ...principals),
    variables: variablesOf(document),
  });
  await fc.assert(
    fc.asyncProperty(input, async ({ seed, faults, caller, variables }) => {
      Object.assign(fixture, { seed, faults });
      const call: Call = { principal: caller, requestId: 'test', isInLane: true };
      const answer = await compiled(variables, call);
      assert.deepEqual(
        received(answer),
        received(await stock.execute({ document, variables }, call)),
      );
      note(answer);
    }),
    { numRuns: size(20, 60), ...(isLong ? {} : { seed: 20_260_506 }) },
  );
};

describe('a compiled operation answers as the stock executor does', { concurrency: false }, () => {
  for (const [name, document] of namedOf(readOperations())) {
    test(`REST operation ${name}`, async () => {
      const operation = supergraph.operation(name as never);
      await compareAnswers(document, (variables, call) => operation.run(variables as never, call));
    });
  }
  for (const [name, document] of namedOf(federated)) {
    test(`across subgraphs: ${name}`, async () => {
      assert.deepEqual(validate(supergraph.apiSchema, document), []);
      await compareAnswers(document, compile(document));
    });
  }
  test('and the comparison saw whole answers, errors at every depth, violations and empty answers', () => {
    assert.ok(seen.answers > size(500, 1_500), `answers: ${seen.answers}`);
    assert.ok(seen.whole > size(250, 800), `whole: ${seen.whole}`);
    assert.ok(seen.errors > size(300, 1_000), `errors: ${seen.errors}`);
    assert.ok(seen.below > size(50, 150), `errors below lists: ${seen.below}`);
    assert.ok(seen.violations > size(6, 20), `violations: ${seen.violations}`);
    assert.ok(seen.nothing > size(16, 50), `nothing: ${seen.nothing}`);
  });
});

test('an ad-hoc document that comes again answers as the first time, one with a condition or with wrong variables too', async () => {
  Object.assign(fixture, { seed: 5, faults: 0 });
  const texts = [
    'query ($first: Int! = 3) { payments(first: $first) { nodes { id shop { name } merchant { id } } } }',
    'query ($first: Int! = 3) { payments(first: $first) { nodes { id shop @include(if: false) { name } } } }',
    '{ __schema { queryType { name } } }',
    'query One { rates { method } } query Two { rates { rateBps } }',
  ];
  let answered = 0;
  for (const document of texts.map((text) => parse(text))) {
    assert.deepEqual(validate(stock.apiSchema, document), []);
    const caller = principals[0] ?? { kind: 'service', name: 'none' };
    for (const variables of [
      {},
      { first: 2 },
      { first: 'two' },
      {},
      { first: 2 },
      { first: 'two' },
    ]) {
      const request = {
        document,
        variables,
        ...(getOperationAST(document) ? {} : { operationName: 'Two' }),
      };
      const call: Call = { principal: caller, requestId: 'test', isInLane: true };
      const answer = await supergraph.execute(request, call);
      assert.deepEqual(received(answer), received(await stock.execute(request, call)));
      if (answer.data) answered += 1;
    }
  }
  assert.ok(answered >= 20, `answered: ${answered}`);
});

describe('what is not understood is not compiled', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['a condition', 'query ($deep: Boolean!) { rates { method rateBps @include(if: $deep) } }'],
    ['introspection', '{ __schema { queryType { name } } }'],
    ['a response name that every object has', '{ rates { constructor: method } }'],
    ['a subscription', 'subscription { events { id } }'],
  ];
  for (const [what, text] of refused) {
    test(what, () => assert.throws(() => compile(parse(text)), CannotCompile));
  }

  test('the stock executor runs it instead, introspection included, and refuses a subscription', async () => {
    const call: Call = {
      principal: principals[0] ?? { kind: 'service', name: 'none' },
      requestId: 'test',
      isInLane: true,
    };
    Object.assign(fixture, { seed: 1, faults: 0 });
    const shown = await supergraph.execute(
      {
        document: parse('{ __schema { subscriptionType { name } } rates { method } }'),
        variables: {},
      },
      call,
    );
    assert.equal(shown.errors, undefined);
    assert.deepEqual(Object.keys(shown.data ?? {}), ['__schema', 'rates']);
    const refusedRun = await supergraph.execute(
      { document: parse('subscription { events { id } }'), variables: {} },
      call,
    );
    assert.match(refusedRun.errors?.[0]?.message ?? '', /subscription/);
  });
});

test('a refused variable is named and its place told, and its value never repeated', async () => {
  const document = parse(
    'mutation ($input: PayoutCreateInput!) { payoutCreate(input: $input) { __typename } }',
  );
  const call: Call = { principal: callerOf(document), requestId: 'test', isInLane: true };
  const { errors } = await supergraph.execute(
    { document, variables: { input: { amount: 5, cardPan: { number: '4111111111111111' } } } },
    call,
  );
  assert.deepEqual(
    errors?.map(({ message, extensions }) => [message, extensions['code']]),
    [['Variable "$input" has an invalid value at "input.cardPan".', 'BAD_USER_INPUT']],
  );
});

test('Apollo Server runs on the same gateway', async () => {
  Object.assign(fixture, { seed: 3, faults: 0 });
  const server = new ApolloServer<Call>({ gateway: supergraph.apolloGateway });
  await server.start();
  const query = '{ billingSubscriptions { customerRef shop { name } } }';
  const contextValue: Call = {
    principal: callerOf(parse(query)),
    requestId: 'test',
    isInLane: true,
  };
  const { body } = await server.executeOperation({ query }, { contextValue });
  assert(body.kind === 'single');
  assert.equal(
    JSON.stringify(body.singleResult.data),
    JSON.stringify((await compile(parse(query))({}, contextValue)).data),
  );
  assert.notEqual(body.singleResult.data?.['billingSubscriptions'], undefined);
  await server.stop();
});
