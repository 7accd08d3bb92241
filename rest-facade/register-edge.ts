/**
 * The public side of a process: the graph, the REST API with its stream, the hosted page. Processes
 * without it never load it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { withAlertSubscription } from '../gateway/live/alerts.ts';
import { openAuthenticator } from '../gateway/callers/authenticate.ts';
import { openAddressOf } from '../gateway/callers/caller-address.ts';
import { openLiveEvents } from '../gateway/live/events.ts';
import { openLiveSubscriptions } from '../gateway/live/subscriptions.ts';
import { readOidcToken } from '../gateway/callers/oidc.ts';
import { openRateLimiter } from '../gateway/callers/rate-limit.ts';
import { registerGateway } from '../gateway/graphql/server.ts';
import { storedEvents } from '../gateway/live/stored-events.ts';
import { openSupergraph, type SupergraphParts } from '../gateway/supergraph.ts';
import type { NotificationRoute } from '../subgraphs/kernel/service/bank-notifications.ts';
import type { Bus } from '../subgraphs/kernel/service/bus.ts';
import type { SettledConfig } from '../subgraphs/kernel/service/config/config.ts';
import type { Logger } from '../subgraphs/kernel/service/tracing/telemetry.ts';
import { registerCheckout } from './checkout/register-checkout.ts';
import { openEventStream } from './event-stream.ts';
import { registerRestFacade } from './server.ts';

export interface EdgeOptions {
  readonly config: SettledConfig;
  /** Which of the public roles the process has. */
  readonly roles: ReadonlySet<'gateway' | 'rest-facade' | 'checkout'>;
  readonly executors: SupergraphParts['executors'];
  /** Where the acquirers of the installation notify us. */
  readonly bankNotifications: readonly NotificationRoute[];
  readonly bus: Bus;
  readonly log: Logger;
  /** Closes what is opened here. */
  readonly stack: AsyncDisposableStack;
}

/**
 * Adds the public roles to the server of a process. Rejects when Redis is named and cannot be
 * reached.
 */
export const registerEdge = async (
  app: FastifyInstance,
  { config, roles, executors, bankNotifications, bus, log, stack }: EdgeOptions,
): Promise<void> => {
  const supergraphSdl = readFileSync(
    join(import.meta.dirname, '../schema/supergraph.graphql'),
    'utf8',
  );
  const supergraph = await openSupergraph({ supergraphSdl, executors, log });
  const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log });
  stack.defer(() => liveEvents.close());
  const { operatorToken, secrets, redisUrl, rateLimitWait_ms: wait_ms } = config;
  const addressOf = openAddressOf(config.trustedProxies);
  const otherReaders = config.oidc ? [readOidcToken(config.oidc)] : [];
  const authenticator = openAuthenticator({
    supergraph,
    bus,
    vaultKey: secrets.vault,
    addressOf,
    log,
    operatorToken,
    otherReaders,
  });
  stack.defer(() => authenticator.close());
  const limiter = await openRateLimiter({ redisUrl, wait_ms, addressOf, log });
  stack.defer(() => limiter.close());
  const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log });
  if (roles.has('gateway')) {
    const { graphIntrospection: introspection, graphiql } = config;
    // Alerts are published over sockets alone: the stream of merchants below does not know of them.
    const operatorsToo = withAlertSubscription(liveSubscriptions, { supergraph, bus });
    await registerGateway(app, {
      supergraph,
      authenticator,
      limiter,
      liveSubscriptions: operatorsToo,
      log,
      introspection,
      graphiql,
    });
  }
  if (roles.has('rest-facade')) {
    const openStream = openEventStream(app, { liveSubscriptions, authenticator, bus, log });
    const bankCallbacks = { addressOf, routes: bankNotifications };
    await registerRestFacade(app, {
      supergraph,
      authenticator,
      limiter,
      openStream,
      bankCallbacks,
      log,
    });
  }
  if (roles.has('checkout'))
    registerCheckout(app, { supergraph, pageSecret: secrets.page, liveEvents, addressOf, log });
};
