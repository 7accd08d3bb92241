/**
 * The public side of a process: the graph, the REST API with its stream, the hosted page. Processes
 * without it never load it.
 */
import type { FastifyInstance } from 'fastify';
import { withHints } from '../gateway/live/hints.ts';
import { openAuthenticator } from '../gateway/callers/authenticate.ts';
import { openAddressOf, openOrigins } from '../subgraphs/platform/access/caller-address.ts';
import {
  withSessions,
  openSessionCookie,
  openConsoleSessions,
} from '../gateway/callers/with-sessions.ts';
import { openLiveEvents, storedEvents } from '../gateway/live/events.ts';
import { openLiveSubscriptions } from '../gateway/live/subscriptions.ts';
import { readOidcToken } from '../gateway/callers/oidc.ts';
import { openRateLimiter } from '../gateway/callers/redis-buckets.ts';
import { registerGateway } from '../gateway/graphql/server.ts';
import { openSupergraph, type SupergraphDeps } from '../gateway/supergraph.ts';
import { readSupergraph } from '../schema/generated-files.ts';
import type { NotificationRoute } from '../subgraphs/platform/http/bank-notifications.ts';
import type { Bus } from '../subgraphs/platform/bus/bus.ts';
import type { SettledConfig } from '../subgraphs/platform/config/config.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { openIssuerLogin } from './console/login.ts';
import { registerConsole } from './console/register-console.ts';
import { registerCheckout } from './checkout/register-checkout.ts';
import { openEventStream } from './event-stream.ts';
import { serveExports } from './exports/serve-exports.ts';
import { registerRestFacade } from './server.ts';

interface EdgeOptions {
  readonly config: SettledConfig;
  /** Which of the public roles the process has. */
  readonly roles: ReadonlySet<'gateway' | 'rest-facade' | 'checkout'>;
  readonly executors: SupergraphDeps['executors'];
  /** Where the acquirers of the installation notify us. */
  readonly bankNotifications: readonly NotificationRoute[];
  readonly bus: Bus;
  readonly log: Logger;
  /** Closes what is opened here. */
  readonly stack: AsyncDisposableStack;
}

/**
 * Adds the public roles to the server of a process. It starts although Redis is named and cannot be
 * reached: what it counts is not limited until it can be.
 */
export const registerEdge = async (
  app: FastifyInstance,
  { config, roles, executors, bankNotifications, bus, log, stack }: EdgeOptions,
): Promise<void> => {
  const supergraph = await openSupergraph({ supergraphSdl: readSupergraph(), executors, log });
  const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log });
  stack.defer(() => liveEvents.close());
  const { operatorToken, secrets, publicUrl, redisUrl, rateLimitWait_ms: wait_ms } = config;
  const addressOf = openAddressOf(config.trustedProxies);
  const readToken = config.oidc ? readOidcToken(config.oidc) : null;
  const authenticator = openAuthenticator({
    supergraph,
    bus,
    vaultKey: secrets.vault,
    addressOf,
    log,
    operatorToken,
    otherReaders: readToken ? [readToken] : [],
  });
  stack.defer(() => authenticator.close());
  const limiter = await openRateLimiter({ redisUrl, wait_ms, addressOf, log });
  stack.defer(() => limiter.close());
  const sessions = openConsoleSessions({ supergraph, bus, publicUrl, log });
  stack.defer(() => sessions.close());
  const origins = openOrigins(publicUrl, config.graphqlOrigins);
  // People with the console's cookie.
  const callers = { sessions, cookie: openSessionCookie(publicUrl), origins };
  const people = withSessions(authenticator, callers);
  const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log });
  if (roles.has('gateway')) {
    const { graphIntrospection: introspection, graphiql } = config;
    await registerGateway(app, {
      supergraph,
      authenticator: people,
      origins,
      limiter,
      // For people over sockets alone: the stream of merchants below does not know of them.
      liveSubscriptions: withHints(liveSubscriptions, { supergraph, bus }),
      log,
      introspection,
      graphiql,
    });
  }
  if (roles.has('rest-facade')) {
    const live = { liveSubscriptions, liveEvents };
    const openStream = openEventStream(app, { ...live, authenticator, bus, log });
    const bankCallbacks = { addressOf, routes: bankNotifications };
    const parts = { supergraph, authenticator, limiter, openStream, bankCallbacks, publicUrl, log };
    await registerRestFacade(app, parts);
    const { oidc, consoleLogin: login } = config;
    // Null where the console is not known to the issuer.
    const issuerLogin =
      readToken &&
      oidc &&
      login &&
      openIssuerLogin({ oidc, login, publicUrl, keys: secrets.console, readToken });
    const ways = { issuerLogin, hasLinks: oidc === null };
    await registerConsole(app, { ...callers, ...ways, authenticator, limiter, publicUrl, log });
    serveExports(app, { supergraph, authenticator: people, limiter, log });
  }
  if (roles.has('checkout'))
    registerCheckout(app, { supergraph, pageSecret: secrets.page, liveEvents, addressOf, log });
};
