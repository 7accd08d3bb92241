/**
 * The merchants subgraph with resolvers that give, refuse and fail in all the ways that a test asks
 * about.
 */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import {
  GraphQLError,
  Kind,
  parse,
  type ExecutionResult,
  type ObjectTypeDefinitionNode,
} from 'graphql';
import { pino } from 'pino';
import { readSubgraphSdl } from '../../schema/sources.ts';
import type { EntityLoaders, EntityReference } from '../../subgraphs/platform/graph/entities.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import {
  scopes,
  type Call,
  type KeyPrincipal,
  type OperatorPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import type { SubgraphContext } from '../../subgraphs/platform/graph/subgraph.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';

const refusedBy = (code: string, message: string) => () => {
  throw new GraphQLError(message, { extensions: { code } });
};

const shop = (reference: EntityReference) => ({
  ...reference,
  name: `shop ${reference.id}`,
  terminalId: 't',
  terminalName: 'T',
  createdAt: Temporal.Instant.from('2026-05-06T10:00:00Z'),
});

/** What the tests change and look at. */
export const state = { loads: [] as (readonly EntityReference[])[], seen: [] as unknown[] };

/** The root fields that no test here asks for. */
const others = (root: 'Query' | 'Mutation'): Record<string, () => never> => {
  const type = readSubgraphSdl('merchants').definitions.find(
    (definition): definition is ObjectTypeDefinitionNode =>
      definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === root,
  );
  const unasked = (): never => assert.fail('no test asks for this');
  return Object.fromEntries((type?.fields ?? []).map(({ name }) => [name.value, unasked]));
};

export const merchantsResolvers = {
  Query: {
    ...others('Query'),
    merchant: (_source: unknown, { id }: { id: string }) => ({
      id,
      name: 'M',
      liveEnabled: true,
      createdAt: Temporal.Instant.from('2026-05-06T10:00:00.1234Z'),
      shops: [],
    }),
    balance: () => ({
      balance: -5n,
      available: 9_007_199_254_740_991n,
      currency: 'RUB',
      shops: [],
    }),
    rates: () => {
      throw new Error('password=hunter2 at 10.0.0.1');
    },
    ledger: (_source: unknown, args: unknown) => {
      state.seen.push(args);
      return { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
    },
    apiKeyHolder: () => ({
      keyId: 'k',
      merchantId: 'm',
      shopId: null,
      mode: 'test',
      scopes: [],
      liveEnabled: true,
      rateLimit: { perSecond: 50, burst: 100 },
      requireSignature: false,
      requireBoundSignature: false,
      allowList: [],
      receiptsRequired: false,
      hasTestClock: false,
    }),
    liveEvent: () => ({ id: '1' }),
    liveEventsAfter: () => [],
  },
  Mutation: {
    ...others('Mutation'),
    merchantCreate: refusedBy('name_taken', 'there is one of that name'),
    merchantRateLimitSet: () => null,
    shopCreate: () => ({ __typename: 'Refused', code: 'not_found', message: 'no such merchant' }),
    apiKeyIssue: () => Promise.reject(new Error('no')),
    webhookEndpointCreate: () => null,
  },
};

export const loader: EntityLoaders[string] = async (references) => {
  state.loads.push(references);
  if (references.some(({ id }) => id === 'broken')) throw new Error('connection lost to 10.0.0.1');
  return references.map((reference) => (reference.id === 'gone' ? null : shop(reference)));
};
export const entities: EntityLoaders = {
  Shop: loader,
  Merchant: loader,
  WebhookEndpoint: loader,
  WebhookDelivery: loader,
  Payment: loader,
};

export const lines: string[] = [];
export const log = pino(
  new Writable({
    write: (chunk, _encoding, next) => {
      lines.push(String(chunk));
      next();
    },
  }),
);
const contextOf = (call: Call): SubgraphContext => ({
  ...call,
  now: () => Temporal.Instant.fromEpochMilliseconds(0),
});
export const schema = buildSubgraph({
  name: 'merchants',
  resolvers: merchantsResolvers,
  areMerchants: async () => true,
  entities,
});
const executor = localExecutor(schema, contextOf, log);

export const key: KeyPrincipal = {
  kind: 'key',
  keyId: 'k',
  merchantId: 'm',
  shopId: 's',
  mode: 'test',
  scopes,
};
export const operator: OperatorPrincipal = {
  kind: 'operator',
  subject: 'o',
  role: 'admin',
  merchantId: null,
};
export const facade: Principal = { kind: 'edge', name: 'rest-facade' };

export const ask = (
  text: string,
  principal: Principal,
  variables: Record<string, unknown> = {},
): Promise<ExecutionResult> =>
  executor.prepare(parse(text))(variables, { principal, requestId: 'req-1', isInLane: true });

export const firstError = (
  result: ExecutionResult,
): { message: string; code: unknown; path: unknown } => {
  const [error] = result.errors ?? [];
  assert(error, `no error in ${JSON.stringify(result)}`);
  return { message: error.message, code: error.extensions['code'], path: error.path };
};
