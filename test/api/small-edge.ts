/**
 * The REST edge on a real port, over the four real schemas, with resolvers of the test's own: for
 * what the service itself does only by accident.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind } from 'graphql';
import type { Authenticator } from '../../gateway/callers/authenticate.ts';
import { type Authenticated, openCheckRequest } from '../../gateway/callers/caller.ts';
import { openAddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import { limitBy, openBucketsInMemory } from '../../gateway/callers/admit-caller.ts';
import { openSupergraph } from '../../gateway/supergraph.ts';
import { noBankCallbacks } from '../support/no-bank-callbacks.ts';
import { registerRestFacade, type OpenStream } from '../../rest-facade/server.ts';
import { authenticatorParts, unprotected } from '../gateway/small-graph.ts';
import { readSubgraphSdl, subgraphNames, type SubgraphName } from '../../schema/sources.ts';
import { refuse } from '../../subgraphs/rules/refusal.ts';
import { resolvableEntities } from '../../subgraphs/platform/graph/entities.ts';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import { scopes, type Call, type KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { SubgraphContext, SubgraphExecutor } from '../../subgraphs/platform/graph/subgraph.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';

/** What a root field answers: by `Query.payment`, with its arguments. */
export type RootAnswers = Readonly<Record<string, (args: object, call: Call) => unknown>>;

const limiter = limitBy(openBucketsInMemory(), openAddressOf([]));
const log = openLog({ logLevel: 'silent' }, 'test');

const notMeant = () => {
  throw new Error('the test does not expect this field to be asked');
};

const resolversOf = (name: SubgraphName, answers: RootAnswers): Record<string, unknown> =>
  Object.fromEntries(
    readSubgraphSdl(name).definitions.flatMap((definition) => {
      if (
        definition.kind !== Kind.OBJECT_TYPE_DEFINITION ||
        !['Query', 'Mutation'].includes(definition.name.value)
      )
        return [];
      const type = definition.name.value;
      const fields = (definition.fields ?? []).map(({ name: { value: field } }) => {
        const answer = answers[`${type}.${field}`] ?? notMeant;
        return [
          field,
          (_source: unknown, args: object, context: SubgraphContext) => answer(args, context),
        ];
      });
      return [[type, Object.fromEntries(fields)]];
    }),
  );

const executorOf = (name: SubgraphName, answers: RootAnswers): SubgraphExecutor => {
  const entities = Object.fromEntries(
    resolvableEntities(readSubgraphSdl(name)).map((type) => [type, async () => []]),
  );
  // No resolver of these tests reads the database.
  const contextOf = (call: Call): SubgraphContext => ({
    ...call,
    now: () => Temporal.Now.instant(),
  });
  return localExecutor(
    buildSubgraph({
      name,
      resolvers: resolversOf(name, answers),
      areMerchants: async () => true,
      entities,
    }),
    contextOf,
    log,
  );
};

/**
 * Keys of the tests: `test` has every scope, `bare` none, `sbp` one, and `live` belongs to a
 * merchant without live mode.
 */
const granted = { test: scopes, bare: [], sbp: ['api:payouts:sbp'], live: scopes } as const;

const callerOf = (bearer: keyof typeof granted): Authenticated => {
  const mode = bearer === 'live' ? 'live' : 'test';
  const principal: KeyPrincipal = {
    kind: 'key',
    keyId: bearer,
    merchantId: 'm',
    shopId: 's',
    mode,
    scopes: granted[bearer],
  };
  return {
    principal,
    holder: {
      ...principal,
      scopes: [...principal.scopes],
      liveEnabled: false,
      rateLimit: { perSecond: 10_000, burst: 100_000 },
      ...unprotected,
    },
  };
};

const authenticator: Pick<Authenticator, 'ofHeader' | 'isKnown' | 'checkRequest'> = {
  isKnown: () => false,
  checkRequest: openCheckRequest(authenticatorParts.vaultKey),
  ofHeader: async (header) => {
    const bearer = String(header).replace('Bearer ', '');
    return bearer === 'test' || bearer === 'bare' || bearer === 'sbp' || bearer === 'live'
      ? callerOf(bearer)
      : refuse('unauthorized', 'no such key');
  },
};

export interface SmallEdge {
  readonly url: string;
  close(): Promise<void>;
}

/** Opens the edge on a free port of loopback. */
export const openSmallEdge = async (
  answers: RootAnswers,
  openStream: OpenStream = (_request, reply) => reply.send(''),
): Promise<SmallEdge> => {
  const executors = Object.fromEntries(
    subgraphNames.map((name) => [name, executorOf(name, answers)]),
  ) as Record<SubgraphName, SubgraphExecutor>;
  const supergraphSdl = readFileSync(
    join(import.meta.dirname, '../../schema/supergraph.graphql'),
    'utf8',
  );
  const supergraph = await openSupergraph({ supergraphSdl, executors, log });
  const app = openHttp({
    config: { publicUrl: null },
    log,
    ready: async () => true,
    overload: null,
  });
  await registerRestFacade(app, {
    supergraph,
    authenticator,
    limiter,
    openStream,
    publicUrl: 'https://api.example',
    bankCallbacks: noBankCallbacks,
    log,
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url, close: () => app.close() };
};

/** A payment as the payments subgraph resolves it. */
export const payment = {
  id: '8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11',
  publicId: 'P-1',
  merchantId: 'm',
  shopId: 's',
  terminalId: 't',
  terminalName: 'Main',
  shopName: 'Tea',
  mode: 'test',
  orderId: 'A-1',
  amount: 10_000n,
  capture: 'automatic',
  amountCapturable: 0n,
  amountCaptured: 0n,
  amountRefunded: 0n,
  amountUsdt: null,
  currency: 'RUB',
  method: 'sbp',
  status: 'pending',
  createdAt: Temporal.Instant.from('2026-05-06T10:00:00Z'),
  expiresAt: Temporal.Instant.from('2026-05-06T11:00:00Z'),
  metadata: { mode: 'test' },
  refunds: [],
  onDecline: 'return',
  paymentUrl: 'https://pay.example/1',
};
