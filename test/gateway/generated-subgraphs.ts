/**
 * The four subgraphs over their real SDL with made-up data: every field of every row is drawn from
 * the seed, so that two runs see the same graph. Nullable fields are often null; rows are missing,
 * fields fail and non-null fields are null at the rate of `faults`.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  getNamedType,
  getNullableType,
  GraphQLError,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  Kind,
  parse,
  type DocumentNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { readSubgraphSdl, subgraphNames, type SubgraphName } from '../../schema/sources.ts';
import { resolvableEntities, type EntityLoaders } from '../../subgraphs/platform/graph/entities.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import type { SubgraphContext, SubgraphExecutor } from '../../subgraphs/platform/graph/subgraph.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';

/** What the data of one run follows from. */
export interface Fixture {
  seed: number;
  /** One field in so many goes wrong; 0: none. */
  faults: number;
}

interface Row {
  readonly identity: string;
  readonly __typename: string;
}

/** A number that follows from the words. */
const draw = (fixture: Fixture, ...words: readonly string[]): number =>
  createHash('md5')
    .update([fixture.seed, ...words].join('|'))
    .digest()
    .readUInt32LE(0);

export const merchants = ['m-one', 'm-two'];
const ids = ['a', 'b', 'c'];

const pick = <Value>(values: readonly Value[], number: number): Value => {
  const value = values[number % values.length];
  assertPresent(value);
  return value;
};

function assertPresent<Value>(value: Value | undefined): asserts value is Value {
  if (value === undefined) throw new Error('nothing to pick from');
}

const entityNames = new Set([
  'Payment',
  'Refund',
  'Payout',
  'Shop',
  'Merchant',
  'Token',
  'BillingSubscription',
  'WebhookDelivery',
  'WebhookEndpoint',
]);

/**
 * An entity's identity holds its key, so that every subgraph has the same row for it. Mostly it is
 * the caller's merchant's.
 */
const rowOf = (typeName: string, parent: Row, field: string, number: number): Row => {
  if (!entityNames.has(typeName))
    return { identity: `${parent.identity}.${field}.${number % 7}`, __typename: typeName };
  return {
    identity: `${typeName}/${pick(merchants, number % 11 === 0 ? 1 : 0)}/${pick(ids, number >>> 8)}`,
    __typename: typeName,
  };
};

const scalarOf = (typeName: string, row: Row, field: string, number: number): unknown => {
  const [, merchantId, id] = row.identity.split('/');
  if (entityNames.has(row.__typename) && field === 'merchantId') return merchantId;
  if (entityNames.has(row.__typename) && field === 'id')
    return row.__typename === 'Merchant' ? merchantId : id;
  switch (typeName) {
    case 'Int':
      return number % 1_000;
    case 'Float':
      return (number % 1_000) / 8;
    case 'Boolean':
      return number % 2 === 0;
    case 'MinorUnits':
      return BigInt(number);
    case 'SignedMinorUnits':
      return -BigInt(number);
    case 'DateTime':
      return Temporal.Instant.fromEpochMilliseconds(number * 500);
    case 'StringMap':
      return { order: String(number), ['__proto__x']: 'y' };
    case 'JSONObject':
      return { nested: { number, list: [1, null] } };
    default:
      return `${field}-${number % 100}`;
  }
};

const fault = (kind: number, field: string): never => {
  if (kind % 2 === 0)
    throw new GraphQLError(`no ${field} for you`, { extensions: { code: 'forbidden' } });
  throw new Error(`the database has no ${field}`);
};

const makeValue = (
  fixture: Fixture,
  type: GraphQLOutputType,
  parent: Row,
  info: GraphQLResolveInfo,
  salt: string,
): unknown => {
  // What is behind a made-up cursor is the last page, so that a list that is walked has an end.
  if (
    info.fieldName === 'hasNextPage' &&
    Object.values(info.variableValues).some((value) => String(value).startsWith('endCursor-'))
  )
    return false;
  const number = draw(fixture, parent.identity, info.fieldName, salt);
  const wrong = fixture.faults > 0 && number % fixture.faults === 0;
  if (wrong && (number >>> 4) % 3 > 0) fault(number >>> 6, info.fieldName);
  if (wrong || (!isNonNullType(type) && (number >>> 12) % 4 === 0)) return null;
  const bare = getNullableType(type);
  if (isListType(bare))
    return Array.from({ length: (number >>> 5) % 4 }, (_, index) =>
      makeItem(fixture, bare.ofType, parent, info, `${salt}${index}`),
    );
  const named = getNamedType(bare);
  if (isEnumType(named)) return pick(named.getValues(), number).name;
  if (isAbstractType(named))
    return rowOf(
      pick(info.schema.getPossibleTypes(named), number >>> 3).name,
      parent,
      info.fieldName,
      number,
    );
  if ('getFields' in named) return rowOf(named.name, parent, info.fieldName, number);
  return scalarOf(named.name, parent, info.fieldName, number);
};

/** An item that fails makes the whole field fail in a resolver; in a list it is simply null. */
const makeItem = async (
  fixture: Fixture,
  type: GraphQLOutputType,
  parent: Row,
  info: GraphQLResolveInfo,
  salt: string,
): Promise<unknown> => {
  try {
    return makeValue(fixture, type, parent, info, salt);
  } catch {
    return null;
  }
};

const resolverOf =
  (fixture: Fixture) =>
  async (source: Row | undefined, args: object, _context: unknown, info: GraphQLResolveInfo) => {
    const parent = source ?? { identity: 'root', __typename: 'Root' };
    const salt =
      Object.keys(args).length > 0
        ? JSON.stringify(args, (_key, value: unknown) =>
            typeof value === 'bigint' ? `${value}n` : value,
          )
        : '';
    // None fails at once: where one item of a list does, graphql-js forsakes the promises of the
    // others, and one that rejects after that fails the test file.
    const turns = draw(fixture, parent.identity, info.fieldName, 'when') % 3;
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    return makeValue(fixture, info.returnType, parent, info, salt);
  };

const resolversOf = (name: SubgraphName, fixture: Fixture): Record<string, unknown> =>
  Object.fromEntries(
    readSubgraphSdl(name).definitions.flatMap((definition) => {
      if (
        definition.kind !== Kind.OBJECT_TYPE_DEFINITION ||
        definition.name.value === 'Subscription'
      )
        return [];
      return [
        [
          definition.name.value,
          Object.fromEntries(
            (definition.fields ?? []).map((field) => [field.name.value, resolverOf(fixture)]),
          ),
        ],
      ];
    }),
  );

const loadersOf = (name: SubgraphName, fixture: Fixture): EntityLoaders =>
  Object.fromEntries(
    resolvableEntities(readSubgraphSdl(name)).map((typeName) => [
      typeName,
      async (references) => {
        if (
          fixture.faults > 0 &&
          draw(fixture, name, typeName, 'loader') % (fixture.faults * 2) === 0
        )
          fault(draw(fixture, typeName), typeName);
        return references.map(({ merchantId, id }) =>
          fixture.faults > 0 && draw(fixture, name, typeName, id) % fixture.faults === 0
            ? null
            : { identity: `${typeName}/${merchantId}/${id}`, __typename: typeName },
        );
      },
    ]),
  );

// The generated resolvers read nothing of the database.
const contextOf = (call: Call): SubgraphContext => ({
  ...call,
  now: () => Temporal.Instant.fromEpochMilliseconds(0),
});

/** An executor of each subgraph. The fixture may be changed between calls. */
export const generatedExecutors = (fixture: Fixture): Record<SubgraphName, SubgraphExecutor> => {
  const log = openLog({ logLevel: 'silent' }, 'test');
  const open = (name: SubgraphName): SubgraphExecutor =>
    localExecutor(
      buildSubgraph({
        name,
        resolvers: resolversOf(name, fixture),
        areMerchants: async () => true,
        entities: loadersOf(name, fixture),
      }),
      contextOf,
      log,
    );
  const [payments, payouts, recurring, merchantsGraph] = subgraphNames.map(open);
  assertPresent(payments);
  assertPresent(payouts);
  assertPresent(recurring);
  assertPresent(merchantsGraph);
  return { payments, payouts, recurring, merchants: merchantsGraph };
};

/** Operations of the test's own, which cross subgraphs in more ways than the REST routes do. */
export const readFederatedOperations = (): DocumentNode => {
  const folder = join(import.meta.dirname, 'federated');
  return parse(
    readdirSync(folder)
      .toSorted()
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n'),
  );
};
