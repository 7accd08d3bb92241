/**
 * The small fixture's graph on a loopback port, as a process of the service has it, and clients of
 * its sockets.
 */
import type { TestContext } from 'node:test';
import fastify from 'fastify';
import { liveSubscribers } from '../../subgraphs/platform/tracing/telemetry.ts';
import { createClient, type Client, type FormattedExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { openAuthenticator } from '../../gateway/callers/authenticate.ts';
import type { BearerReader } from '../../gateway/callers/caller.ts';
import { openAddressOf, openOrigins } from '../../subgraphs/platform/access/caller-address.ts';
import { openLiveEvents, storedEvents } from '../../gateway/live/events.ts';
import { openLiveSubscriptions } from '../../gateway/live/subscriptions.ts';
import { limitBy, openBucketsInMemory } from '../../gateway/callers/admit-caller.ts';
import { registerGateway } from '../../gateway/graphql/server.ts';
import {
  authenticatorParts,
  openSmallGraph,
  operatorToken,
  silent,
  testKey,
  Fixture,
} from './small-graph.ts';

interface Limits {
  readonly socketsPerCaller?: number;
  readonly connectionInit_ms?: number;
  readonly recentEvents?: number;
  readonly readerBuffer?: number;
  readonly otherReaders?: readonly BearerReader[];
  readonly introspection?: boolean;
  readonly graphiql?: boolean;
  /** The clock of the buckets. */
  readonly now_us?: () => number;
}

/** Buckets gain nothing, however long a busy machine takes. */
export const stoppedClock = { now_us: () => 0 };

/** Everything that the graph's public side is made of, over a fixture of its own. */
export const openParts = async (limits: Limits = {}) => {
  const fixture = new Fixture();
  const { bus } = fixture;
  const supergraph = await openSmallGraph(fixture);
  const authenticator = openAuthenticator({
    ...authenticatorParts,
    supergraph,
    bus,
    operatorToken,
    otherReaders: limits.otherReaders ?? [],
  });
  const liveEvents = openLiveEvents({
    bus,
    readEventsAfter: storedEvents(supergraph),
    log: silent,
    ...limits,
  });
  const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log: silent });
  const limiter = limitBy(openBucketsInMemory(limits.now_us), openAddressOf([]));
  return {
    fixture,
    bus,
    supergraph,
    authenticator,
    limiter,
    liveEvents,
    liveSubscriptions,
    log: silent,
    origins: openOrigins(null, []),
    introspection: true,
    graphiql: true,
    ...limits,
  };
};

/** Serves a new fixture until the test ends. */
export const serveGraph = async (t: TestContext, limits: Limits = {}) => {
  const parts = await openParts(limits);
  const app = fastify();
  await registerGateway(app, parts);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  return { ...parts, app, url, socketUrl: `${url.replace('http', 'ws')}/graphql` };
};

/** A client of the sockets; without a key the test key's. It does not come back by itself. */
export const connect = (
  t: TestContext,
  url: string,
  connectionParams: Record<string, unknown> = { authorization: `Bearer ${testKey}` },
): Client => {
  const client = createClient({
    url,
    webSocketImpl: WebSocket,
    connectionParams,
    lazy: true,
    retryAttempts: 0,
  });
  t.after(() => client.dispose());
  return client;
};

/** How many subscriptions the server reads events for. */
export const readers = async (): Promise<number> =>
  (await liveSubscribers.get()).values[0]?.value ?? 0;

/**
 * Gives back once the server, which is in this process, has one reader more than before, or once
 * the subscription has ended: it has no message of its own for that. One at a time: two that begin
 * together could take each other's reader for their own.
 */
export const listening = async (before: number, ended: Promise<unknown>): Promise<void> => {
  let over = false;
  ended.then(
    () => (over = true),
    () => (over = true),
  );
  await eventually(async () => over || (await readers()) > before, 'the server listens');
};

/** Subscribes, and gives back once the server has begun to listen. */
export const listen = async (
  client: Client,
  query: string,
  variables: Record<string, unknown> = {},
) => {
  const before = await readers();
  const results = client.iterate<Record<string, unknown>, Record<string, unknown>>({
    query,
    variables,
  });
  const first = results.next();
  first.catch(() => {});
  await listening(before, first);
  let pending: typeof first | null = first;
  return {
    next: async (): Promise<FormattedExecutionResult> => {
      const answer = await (pending ?? results.next());
      pending = null;
      if (answer.done) throw new Error('the subscription has ended');
      return answer.value;
    },
    stop: () => results.return?.(),
  };
};
