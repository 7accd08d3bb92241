/**
 * The roles of a process, wired together: PostgreSQL, migrations, bus, queues, subgraphs, worker, and the public edge. What was started last is taken
 * down first, also when starting fails half way.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { SubgraphName } from './schema/sources.ts';
import { withAlerts } from './gateway/alert-subscriptions.ts';
import { openAuthenticator } from './gateway/authenticate.ts';
import { openAddressOf } from './gateway/caller-address.ts';
import { openLiveEvents } from './gateway/live-events.ts';
import { openLiveSubscriptions } from './gateway/live-subscriptions.ts';
import { readOidcToken } from './gateway/oidc.ts';
import { openRateLimiter } from './gateway/rate-limit.ts';
import { remoteExecutor } from './gateway/remote-subgraph.ts';
import { registerGateway } from './gateway/server.ts';
import { storedEvents } from './gateway/stored-events.ts';
import { openSupergraph } from './gateway/supergraph.ts';
import { registerCheckout } from './rest-facade/checkout/register-checkout.ts';
import { openEventStream } from './rest-facade/event-stream.ts';
import { registerRestFacade } from './rest-facade/server.ts';
import { openEveryBank } from './subgraphs/kernel/banks/open-every-bank.ts';
import { readNotification } from './subgraphs/kernel/banks/tbank/read-notification.ts';
import { migrateAll, openRecord, type Progress, type RecordStore } from './subgraphs/kernel/database/open-record.ts';
import { watchWorker } from './subgraphs/kernel/observability/watch-worker.ts';
import { isMigrated } from './subgraphs/kernel/database/orm.ts';
import { openBus } from './subgraphs/kernel/queue/bus.ts';
import { openPolicies } from './subgraphs/kernel/policies/policies.ts';
import { openQueues } from './subgraphs/kernel/queue/queues.ts';
import { startRelay } from './subgraphs/kernel/queue/relay.ts';
import { openTestClocks } from './subgraphs/kernel/clock/test-clocks.ts';
import type { Bus } from './subgraphs/kernel/rules/event.ts';
import { ConfigError, deriveSecrets, type Config, type Secrets } from './subgraphs/kernel/service/config.ts';
import { openHttp } from './subgraphs/kernel/service/http.ts';
import { localOperatorToken, localSecretKey } from './subgraphs/kernel/service/local-secrets.ts';
import { serveSubgraph, subgraphPath } from './subgraphs/kernel/service/serve-subgraph.ts';
import type { SubgraphExecutor } from './subgraphs/kernel/service/subgraph.ts';
import type { Logger } from './subgraphs/kernel/service/telemetry.ts';
import { startTracing } from './subgraphs/kernel/service/start-tracing.ts';
import { backgroundJobs, entities, followRecurringPayments, openSubgraph, wakeableJobs, wakeLanes, type SubgraphsParts } from './subgraphs/open-subgraphs.ts';
import { ensureDemoMerchant, type DemoMerchant } from './subgraphs/merchants/demo-merchant.ts';
import { makeDeliveries } from './subgraphs/merchants/make-deliveries.ts';
import { watchWebhookBacklog } from './subgraphs/merchants/webhook-backlog.ts';

import type { Roles } from './main.ts';

/** The configuration with what an embedded installation makes for itself. */
export interface Settled extends Config {
  readonly publicUrl: string;
  readonly secrets: Secrets;
}

/** Whether this process works on the record: the edge has its neighbours' addresses instead. */
const isOnRecord = (roles: Roles): boolean => roles.subgraphs.length > 0 || roles.worker || roles.migrate;

/** Whether this is an installation of its own, which keeps everything in DATA_DIR. */
export const isEmbedded = (config: Config, roles: Roles): boolean => config.databaseUrl === null && isOnRecord(roles);

/** Completes the configuration; an embedded installation keeps what it made in DATA_DIR. Throws when there is no key and nowhere to keep one. */
export const settle = (config: Config, roles: Roles): Settled => {
  const embedded = isEmbedded(config, roles);
  if (!embedded && !config.secretKey) throw new ConfigError(['SECRET_KEY is required: every process must have the same']);
  return {
    ...config,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    operatorToken: config.operatorToken ?? (embedded ? localOperatorToken(config.dataDir) : null),
    secrets: deriveSecrets(config.secretKey ?? localSecretKey(config.dataDir)),
  };
};

/** What everything that starts in this process is given. */
interface Starting {
  readonly config: Settled;
  readonly roles: Roles;
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
}

const openParts = async (starting: Starting, { url, database }: RecordStore, bus: Bus): Promise<SubgraphsParts> => {
  const { config, log, stack } = starting;
  const { redisUrl, webhookPrivateTargets, eventsKept_days, publicUrl, secrets, drain_ms } = config;
  const queues = await openQueues({ redisUrl, databaseUrl: url, log, jobs: wakeableJobs, drain_ms: drain_ms / 2 });
  stack.defer(() => queues.close());
  const banks = openEveryBank(config, secrets.vault, database, stack);
  const policies = openPolicies({ pool: database.pool, bus, fingerprintKey: secrets.fingerprint });
  stack.defer(() => policies.close());
  const now = (): Temporal.Instant => Temporal.Now.instant();
  const clocks = openTestClocks({ pool: database.pool, bus, now });
  stack.defer(() => clocks.close());
  const parts = { database, banks, policies, clocks, bus, queues, secrets, publicUrl, webhookPrivateTargets, eventsKept_days, now, log, payments: null };
  return { ...parts, payments: openExecutor('payments', starting, parts) };
};

/** A subgraph: this process's own, or another's over HTTP; null when this process does not run it and has no address of it. */
const openExecutor = (name: SubgraphName, { config, roles, log, stack }: Starting, parts: SubgraphsParts | null): SubgraphExecutor | null => {
  if (parts && roles.subgraphs.includes(name)) return openSubgraph(name, parts);
  const url = config.subgraphUrls[name];
  if (!url) return null;
  const remote = remoteExecutor(`${url}${subgraphPath(name)}`, config.secrets.principal, log);
  stack.defer(() => remote.close());
  return remote;
};

/** The worker: jobs, and the relay from the outbox. What is running ends in peace. */
const startWorker = async (parts: SubgraphsParts, stack: AsyncDisposableStack): Promise<void> => {
  const { database, bus, queues, log } = parts;
  const stopping = new AbortController();
  await queues.work(backgroundJobs(parts, stopping.signal));
  stack.defer(watchWorker({ pool: database.pool, queues }));
  stack.defer(watchWebhookBacklog(database.pool));
  const relay = startRelay({ pool: database.sessions, bus, log, makeDeliveries, wake: (lanes) => wakeLanes(queues, lanes) });
  stack.defer(() => relay.stop());
  const following = followRecurringPayments(parts);
  stack.defer(() => following.stop());
  stack.defer(() => stopping.abort());
};

type Executors = Readonly<Record<SubgraphName, SubgraphExecutor>>;

/** The subgraphs of this process run in it; the others are asked over HTTP. */
const openExecutors = (starting: Starting, parts: SubgraphsParts | null): Executors => {
  const open = (name: SubgraphName): SubgraphExecutor => {
    const executor = (name === 'payments' && parts?.payments) || openExecutor(name, starting, parts);
    if (executor) return executor;
    throw new ConfigError([`SUBGRAPH_${name.toUpperCase()}_URL is required: this process does not run that subgraph itself`]);
  };
  return { payments: open('payments'), payouts: open('payouts'), recurring: open('recurring'), merchants: open('merchants') };
};

interface EdgeParts {
  readonly executors: Executors;
  readonly bus: Bus;
  readonly log: Logger;
}

/** The public side: the graph, the REST API with its stream, the hosted page. */
const registerEdge = async (app: FastifyInstance, config: Settled, roles: Roles, parts: EdgeParts, stack: AsyncDisposableStack): Promise<void> => {
  const { executors, bus, log } = parts;
  const supergraphSdl = readFileSync(join(import.meta.dirname, 'schema/supergraph.graphql'), 'utf8');
  const supergraph = await openSupergraph({ supergraphSdl, executors, log });
  const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log });
  stack.defer(() => liveEvents.close());
  const addressOf = openAddressOf(config.trustedProxies);
  const otherReaders = config.oidc ? [readOidcToken(config.oidc)] : [];
  const authenticator = openAuthenticator({
    supergraph,
    bus,
    vaultKey: config.secrets.vault,
    addressOf,
    log,
    operatorToken: config.operatorToken,
    otherReaders,
  });
  stack.defer(() => authenticator.close());
  const { redisUrl, rateLimitWait_ms: wait_ms } = config;
  const limiter = await openRateLimiter({ redisUrl, wait_ms, addressOf, log });
  stack.defer(() => limiter.close());
  const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log });
  if (roles.edge.has('gateway')) {
    const { graphIntrospection: introspection, graphiql } = config;
    // Alerts are told over sockets alone: the stream of merchants below does not know of them.
    const operatorsToo = withAlerts(liveSubscriptions, { supergraph, bus });
    await registerGateway(app, { supergraph, authenticator, limiter, liveSubscriptions: operatorsToo, log, introspection, graphiql });
  }
  if (roles.edge.has('rest-facade')) {
    const openStream = openEventStream(app, { liveSubscriptions, authenticator, bus, log });
    const { yookassa, tbank } = config;
    const readTBank = tbank && ((body: unknown) => readNotification(tbank, body));
    const bankCallbacks = { addressOf, yookassaNetworks: yookassa.networks, readTBank };
    await registerRestFacade(app, { supergraph, authenticator, limiter, openStream, bankCallbacks, log });
  }
  if (roles.edge.has('checkout')) {
    registerCheckout(app, { supergraph, pageSecret: config.secrets.page, liveEvents, log });
  }
};

export interface Running {
  readonly config: Settled;
  readonly demo: DemoMerchant | null;
  close(): Promise<void>;
}

/** Serves what this process serves, and listens. Not ready until the database is migrated and the queues answer. */
const listen = async (
  config: Settled,
  roles: Roles,
  parts: SubgraphsParts | null,
  { bus, log }: Pick<EdgeParts, 'bus' | 'log'>,
  stack: AsyncDisposableStack,
): Promise<void> => {
  let leaving = false;
  const ready = async (): Promise<readonly string[]> => {
    if (leaving) return ['shutting down'];
    if (!parts) return [];
    const [migrated, queued] = await Promise.all([isMigrated(parts.database).catch(() => false), parts.queues.ready()]);
    return [...(migrated ? [] : ['database']), ...(queued ? [] : ['queues'])];
  };
  const app = openHttp({ config, log, ready, ...(roles.edge.size > 0 ? { overload: config.overload } : {}) });
  const executors = roles.edge.size > 0 ? openExecutors({ config, roles, log, stack }, parts) : null;
  if (parts && !roles.all) {
    for (const name of roles.subgraphs) serveSubgraph(app, { name, executor: openSubgraph(name, parts), principalSecret: config.secrets.principal });
  }
  if (executors) await registerEdge(app, config, roles, { executors, bus, log }, stack);
  stack.defer(() => app.close());
  await app.listen({ port: config.port, host: config.host });
  stack.defer(async () => {
    leaving = true;
    // Nobody sends calls to a process that is a worker alone.
    if (roles.edge.size > 0 || roles.subgraphs.length > 0) await delay(config.drainDelay_ms);
  });
};

/** Starts the roles of this process. Whatever fails on the way takes down what was started before it. */
export const startRoles = async (config: Settled, roles: Roles, log: Logger, progress: Progress): Promise<Running> => {
  await using starting = new AsyncDisposableStack();
  const stack = starting;
  await startTracing(config, roles, log, stack);
  const opened = isOnRecord(roles) ? await openRecord(config, entities, stack, progress) : null;
  if (opened && roles.migrate) await migrateAll(config, entities, opened, progress);
  let demo: DemoMerchant | null = null;
  if (roles.edge.size > 0 || roles.subgraphs.length > 0 || roles.worker) {
    progress('Roles ...');
    const databaseUrl = opened?.url ?? config.databaseDirectUrl ?? config.databaseUrl ?? '';
    const bus = await openBus({ redisUrl: config.redisUrl, databaseUrl, log });
    stack.defer(() => bus.close());
    const parts = opened && (await openParts({ config, roles, log, stack }, opened, bus));
    if (parts && roles.all && config.databaseUrl === null) demo = await ensureDemoMerchant(parts.database, config.secrets.vault, config.dataDir, parts.now());
    if (parts && roles.worker) await startWorker(parts, stack);
    await listen(config, roles, parts, { bus, log }, stack);
  }
  const running = stack.move();
  return { config, demo, close: () => running.disposeAsync() };
};
