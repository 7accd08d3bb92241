/**
 * A small fixture behind the real schema and the real gateway: the four subgraphs over their SDL
 * with rows in memory, a bus inside the process and one shop with its keys. Requests to it are
 * counted.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { GraphQLError, Kind } from 'graphql';
import type { ApiKeyHolder } from '../../gateway/callers/caller.ts';
import { openAddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import { openSupergraph, type Supergraph, loadedGateway } from '../../gateway/supergraph.ts';
import { readSubgraphSdl, subgraphNames, type SubgraphName } from '../../schema/sources.ts';
import { graphKindOf, type LiveKind, type StreamedEvent } from '../../subgraphs/rules/event.ts';
import type { Bus, BusMessages, BusTopic } from '../../subgraphs/platform/bus/bus.ts';
import { resolvableEntities, type EntityLoaders } from '../../subgraphs/platform/graph/entities.ts';
import { localExecutor } from '../../subgraphs/platform/graph/local-executor.ts';
import { scopes, type Call, type Principal } from '../../subgraphs/platform/access/principal.ts';
import type { SubgraphContext, SubgraphExecutor } from '../../subgraphs/platform/graph/subgraph.ts';
import { buildSubgraph } from '../../subgraphs/platform/graph/build-subgraph.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';

export const silent = openLog({ logLevel: 'silent' }, 'test');
export const operatorToken = 'operator-token-of-the-test';
export const testKey = 'sk_test_abc123_0123456789abcdef';
export const liveKey = 'sk_live_abc123_0123456789abcdef';
export const otherShopKey = 'sk_test_def456_0123456789abcdef';
export const otherMerchantKey = 'sk_test_ghi789_0123456789abcdef';

/** A bus within the process. Listeners are called at once. */
export const localBus = (): Bus => {
  const listeners = new Map<BusTopic, Set<(message: never) => void>>();
  return {
    publish: async <Topic extends BusTopic>(topic: Topic, message: BusMessages[Topic]) => {
      for (const listener of listeners.get(topic) ?? []) listener(message as never);
    },
    subscribe: (topic, listener) => {
      const group = listeners.get(topic) ?? new Set<(message: never) => void>();
      listeners.set(topic, group.add(listener));
      return () => void group.delete(listener);
    },
  };
};

/** What an authenticator of a test needs beside its graph. */
export const authenticatorParts = {
  vaultKey: Buffer.alloc(32, 7),
  addressOf: openAddressOf([]),
  log: silent,
};

/** A request that says nothing of itself. */
export const bareRequest = new IncomingMessage(new Socket());

/** A holder whose shop asks for neither signatures nor addresses. */
export const unprotected = {
  requireSignature: false,
  requireBoundSignature: false,
  signingSecretSealed: null,
  allowList: [],
  receiptsRequired: false,
  hasTestClock: false,
  expiresInMs: null,
};

const holder = (
  keyId: string,
  merchantId: string,
  shopId: string,
  mode: 'test' | 'live',
  liveEnabled: boolean,
): ApiKeyHolder => ({
  keyId,
  merchantId,
  shopId,
  mode,
  scopes: [...scopes],
  liveEnabled,
  rateLimit: { perSecond: 50, burst: 100 },
  ...unprotected,
});

export class Fixture {
  readonly bus = localBus();
  readonly holders = new Map<string, ApiKeyHolder>();
  readonly events: StreamedEvent[] = [];
  /** Ids of events that can no longer be read. */
  readonly gone = new Set<string>();
  /** How often each root field was asked for. */
  readonly asked = new Map<string, number>();
  /** What stands in the way of an answer, by root field. */
  readonly obstacles = new Map<string, () => Promise<void>>();

  constructor() {
    this.setKey(testKey, holder('key-1', 'm1', 's1', 'test', true));
    this.setKey(liveKey, holder('key-2', 'm1', 's1', 'live', false));
    this.setKey(otherShopKey, holder('key-3', 'm1', 's2', 'test', true));
    this.setKey(otherMerchantKey, holder('key-4', 'm2', 's3', 'test', true));
  }

  setKey(key: string, held: ApiKeyHolder): void {
    this.holders.set(createHash('sha256').update(key).digest('hex'), held);
  }

  holderOf(key: string): ApiKeyHolder {
    const held = this.holders.get(createHash('sha256').update(key).digest('hex'));
    if (!held) throw new Error('no caller holds this key');
    return held;
  }

  revoke(key: string): Promise<void> {
    this.holders.delete(createHash('sha256').update(key).digest('hex'));
    return this.bus.publish('keys', { merchantId: 'm1' });
  }

  /** Makes an event with the next sequence number without publishing it. */
  store(parts: Partial<StreamedEvent> & { readonly kind?: LiveKind } = {}): StreamedEvent {
    const event: StreamedEvent = {
      sequence: String(this.events.length * 10 + 10),
      kind: 'payment.created',
      merchantId: 'm1',
      shopId: 's1',
      mode: 'test',
      subjectId: `payment-${this.events.length + 1}`,
      at: '2026-05-06T10:00:00.000Z',
      payload: {},
      ...parts,
    };
    const received = {
      ...event,
      payload: { id: event.subjectId, amount: 100, status: 'pending', ...event.payload },
    };
    this.events.push(received);
    return received;
  }

  /** Publishes on the bus, as the relay does, what has been made. */
  notify(...events: readonly StreamedEvent[]): Promise<void> {
    const newest = this.events.at(-1)?.sequence ?? '0';
    const [first, last] = [events[0], events.at(-1)];
    const behind =
      this.events.findLast(({ sequence }) => BigInt(sequence) < BigInt(first?.sequence ?? 0))
        ?.sequence ?? '0';
    return this.bus.publish('events', {
      behind: first ? behind : newest,
      last: last?.sequence ?? newest,
      events,
    });
  }

  /** Makes an event and publishes it on the bus. */
  async happen(parts: Partial<StreamedEvent> = {}): Promise<StreamedEvent> {
    const event = this.store(parts);
    await this.notify(event);
    return event;
  }

  count(field: string): number {
    return this.asked.get(field) ?? 0;
  }
}

/** The fields of a live event that subgraphs give: its entity by key alone. */
const graphEvent = ({
  sequence,
  kind,
  subjectId,
  at,
  ...event
}: StreamedEvent): Record<string, unknown> => {
  const subject = { merchantId: event.merchantId, id: subjectId };
  const [field = ''] = kind.split('.');
  const typeName = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
  const change = kind.endsWith('.created') ? 'Created' : 'StatusChanged';
  return {
    ...event,
    __typename: `${typeName}${change}Event`,
    id: sequence,
    kind: graphKindOf(kind),
    at: Temporal.Instant.from(at),
    [field]: subject,
  };
};

const mayReceive = (principal: Principal, event: StreamedEvent): boolean => {
  switch (principal.kind) {
    case 'key':
      return principal.shopId === event.shopId && principal.mode === event.mode;
    case 'buyer':
      return principal.paymentId === event.subjectId;
    case 'operator':
    case 'edge':
    case 'service':
      return true;
  }
};

type Resolve = (args: Record<string, unknown>, context: SubgraphContext) => unknown;

const rootFields = (fixture: Fixture): Readonly<Record<string, Resolve>> => ({
  apiKeyHolder: ({ digest }) => fixture.holders.get(String(digest)) ?? null,
  merchant: ({ id }) =>
    id === 'm1' ? { id, name: 'Merchant of the test', liveEnabled: false } : null,
  liveEvent: ({ id }, { principal }) => {
    const event = fixture.events.find(({ sequence }) => sequence === id);
    return event && !fixture.gone.has(event.sequence) && mayReceive(principal, event)
      ? graphEvent(event)
      : null;
  },
  liveEventsAfter: ({ after, first, kinds, ...narrowing }) => {
    if (!fixture.events.some(({ sequence }) => sequence === after)) return null;
    const matches = (event: StreamedEvent): boolean =>
      BigInt(event.sequence) > BigInt(String(after)) &&
      Object.entries(narrowing).every(([name, value]) =>
        Object.entries(event).some(([field, is]) => field === name && is === value),
      ) &&
      (!Array.isArray(kinds) || kinds.includes(graphKindOf(event.kind)));
    return fixture.events.filter(matches).slice(0, Number(first)).map(graphEvent);
  },
  merchantCreate: ({ name }) => ({ id: 'm9', name, liveEnabled: false }),
  ledger: () => {
    throw new Error('the secret of the database is hunter2');
  },
  rates: () => {
    throw new GraphQLError('no rates here', { extensions: { code: 'not_found' } });
  },
});

const rowsOf: Readonly<
  Record<string, Record<string, (key: { merchantId: string; id: string }) => object>>
> = {
  payments: {
    Payment: ({ merchantId, id }) => ({
      merchantId,
      id,
      amount: 100n,
      status: 'pending',
      shop: { merchantId, id: 's1' },
    }),
  },
  merchants: {
    Payment: (key) => key,
    Shop: ({ merchantId, id }) => ({ merchantId, id, name: `Shop ${id}` }),
  },
};

const fieldsOf: Readonly<
  Record<
    string,
    Record<string, Record<string, (key: { merchantId: string; id: string }) => unknown>>
  >
> = {
  merchants: {
    Payment: {
      webhookDeliveries: ({ merchantId, id }) => [
        { merchantId, id: `delivery-of-${id}`, status: 'delivered' },
      ],
    },
  },
};

/** The fixture of the call that is under way. */
const calls = new AsyncLocalStorage<Fixture>();

const called = (): Fixture => {
  const fixture = calls.getStore();
  if (!fixture) throw new Error('a subgraph was called past the graph of a fixture');
  return fixture;
};

const executorOf = (name: SubgraphName): SubgraphExecutor => {
  const sdl = readSubgraphSdl(name);
  const resolve =
    (field: string) =>
    async (_source: unknown, args: Record<string, unknown>, context: SubgraphContext) => {
      const fixture = called();
      fixture.asked.set(field, fixture.count(field) + 1);
      await fixture.obstacles.get(field)?.();
      const answer = rootFields(fixture)[field];
      if (!answer) throw new Error(`${field} is not of this test`);
      return answer(args, context);
    };
  const resolvers = Object.fromEntries(
    sdl.definitions.flatMap((definition) => {
      if (
        definition.kind !== Kind.OBJECT_TYPE_DEFINITION ||
        !['Query', 'Mutation'].includes(definition.name.value)
      )
        return [];
      return [
        [
          definition.name.value,
          Object.fromEntries(
            (definition.fields ?? []).map((field) => [field.name.value, resolve(field.name.value)]),
          ),
        ],
      ];
    }),
  );
  const loaderOf =
    (typeName: string): EntityLoaders[string] =>
    async (references) =>
      references.map((key) => rowsOf[name]?.[typeName]?.(key) ?? null);
  const entities = Object.fromEntries(
    resolvableEntities(sdl).map((typeName) => [typeName, loaderOf(typeName)]),
  );
  // Nothing of this fixture is in a database.
  const contextOf = (call: Call): SubgraphContext => ({
    ...call,
    now: () => Temporal.Instant.fromEpochMilliseconds(0),
  });
  return localExecutor(
    buildSubgraph({
      name,
      resolvers: { ...resolvers, ...fieldsOf[name] },
      areMerchants: async () => true,
      entities,
    }),
    contextOf,
    silent,
  );
};

const supergraphSdl = readFileSync(
  join(import.meta.dirname, '../../schema/supergraph.graphql'),
  'utf8',
);

const openShared = async () => {
  const [payments, payouts, recurring, merchants] = subgraphNames.map(executorOf);
  if (!payments || !payouts || !recurring || !merchants) throw new Error('a subgraph is missing');
  const graph = await openSupergraph({
    supergraphSdl,
    executors: { payments, payouts, recurring, merchants },
    log: silent,
  });
  const { executor } = await graph.apolloGateway.load({ apollo: {} });
  if (!executor) throw new Error('the gateway gave no executor');
  return { graph, executor };
};

let shared: ReturnType<typeof openShared> | null = null;

/**
 * The real gateway over the fixture. It is opened once for all fixtures of a process; each of its
 * calls knows the fixture through which it came.
 */
export const openSmallGraph = async (fixture: Fixture): Promise<Supergraph> => {
  const { graph, executor } = await (shared ??= openShared());
  return {
    mistakesIn: graph.mistakesIn,
    get apiSchema() {
      return graph.apiSchema;
    },
    execute: (request, call) => calls.run(fixture, () => graph.execute(request, call)),
    apolloGateway: loadedGateway(
      () => graph.apiSchema,
      supergraphSdl,
      (context) => calls.run(fixture, () => executor(context)),
    ),
    operation: (name) => {
      const { run, ...operation } = graph.operation(name);
      return {
        ...operation,
        run: (variables, call) => calls.run(fixture, () => run(variables, call)),
      };
    },
  };
};
