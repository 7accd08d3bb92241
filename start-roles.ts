/**
 * Wires the roles of a process. Code that only the edge or only the subgraphs need is loaded only
 * for such a role, which halves the memory of a subgraph. Parts are stopped in reverse order of
 * their start, also if the start fails half way.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { SubgraphName } from './schema/sources.ts';
import { remoteExecutor } from './gateway/remote-subgraph.ts';
import type { EmbeddedPostgres } from './subgraphs/platform/database/embedded-postgres.ts';
import {
  addressOf,
  isOnRecord,
  isServing,
  metricsAddressOf,
} from './subgraphs/prepare-installation.ts';
import type { Start } from './subgraphs/open-record.ts';
import { openBus } from './subgraphs/platform/queue/bus.ts';
import type { Bus } from './subgraphs/platform/bus/bus.ts';
import { ConfigError, type Config } from './subgraphs/platform/config/config.ts';
import { openHttp, type HttpDeps } from './subgraphs/platform/http/http-server.ts';
import { explainListening } from './subgraphs/platform/http/listen-address.ts';
import type { ServiceKeys } from './subgraphs/platform/access/principal.ts';
import type { Roles } from './subgraphs/platform/config/roles.ts';
import { serveSubgraph, subgraphPath } from './subgraphs/platform/graph/serve-subgraph.ts';
import { runStep } from './subgraphs/platform/http/stop-requests.ts';
import type { SubgraphExecutor } from './subgraphs/platform/graph/subgraph.ts';
import { type Logger, traceBy } from './subgraphs/platform/tracing/telemetry.ts';
import type { DemoMerchant } from './subgraphs/merchants/demo-merchant.ts';
import type { ProcessConfig } from './subgraphs/read-config.ts';
import type { Subgraphs } from './subgraphs/start-subgraphs.ts';

/**
 * Traces this process until `stack` is disposed of, which sends the last spans. Does nothing
 * without `config.tracing`.
 */
const startTracing = async (
  config: Pick<Config, 'tracing'>,
  roles: Roles,
  log: Logger,
  stack: AsyncDisposableStack,
): Promise<void> => {
  if (!config.tracing) return;
  const { openTracing } = await import('./subgraphs/platform/tracing/open-tracing.ts');
  const names = [
    ...roles.edge,
    ...roles.subgraphs.map((name) => `subgraph ${name}`),
    ...(roles.worker ? ['worker'] : []),
  ];
  const tracing = openTracing(config.tracing, roles.all ? 'all' : names.join(' '), log);
  traceBy(tracing);
  stack.defer(async () => {
    traceBy(null);
    await tracing.close();
  });
};

/** What every part of this process receives. */
interface Starting {
  readonly config: ProcessConfig;
  readonly roles: Roles;
  readonly bus: Bus;
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
}

/** A subgraph of another process over HTTP; null when no address of it is known. */
const openRemote = (
  name: SubgraphName,
  { config, log, stack }: Omit<Starting, 'bus'>,
  service: ServiceKeys | null,
): SubgraphExecutor | null => {
  const url = config.subgraphUrls[name];
  if (!url) return null;
  const remote = remoteExecutor(
    `${url}${subgraphPath(name)}`,
    { shared: config.secrets.principal, service },
    log,
  );
  stack.defer(() => remote.close());
  return remote;
};

type Executors = Readonly<Record<SubgraphName, SubgraphExecutor>>;

/** Executors: the subgraphs of this process run in it, the others are called over HTTP. */
const openExecutors = (starting: Starting, subgraphs: Subgraphs | null): Executors => {
  const open = (name: SubgraphName): SubgraphExecutor => {
    const executor =
      subgraphs && starting.roles.subgraphs.includes(name)
        ? subgraphs.open(name)
        : openRemote(name, starting, subgraphs?.service ?? null);
    if (executor) return executor;
    throw new ConfigError([
      `SUBGRAPH_${name.toUpperCase()}_URL is required: this process does not run that subgraph itself`,
    ]);
  };
  return {
    payments: open('payments'),
    payouts: open('payouts'),
    recurring: open('recurring'),
    merchants: open('merchants'),
  };
};

export interface Running {
  readonly config: ProcessConfig;
  readonly demo: DemoMerchant | null;
  /** A one-time link into the console of an embedded installation without an issuer. */
  readonly consoleLink: string | null;
  close(): Promise<void>;
}

/**
 * Serves metrics and health on a port of their own, where the configuration names one. It is closed
 * after the public one.
 */
const listenForMetrics = async (
  { config, log, stack }: Starting,
  ready: HttpDeps['ready'],
): Promise<void> => {
  const address = metricsAddressOf(config);
  if (!address) return;
  const app = openHttp({ config, log, ready, overload: null });
  stack.defer(() => app.close());
  const { host, port } = address;
  await app
    .listen({ port, host })
    .catch((error: unknown) => Promise.reject(explainListening(error, address)));
};

/**
 * Serves the roles of this process and listens. It is ready once the database is migrated and the
 * queues answer.
 */
const listen = async (starting: Starting, subgraphs: Subgraphs | null): Promise<void> => {
  const { config, roles, bus, log, stack } = starting;
  let leaving = false;
  const ready = async (): Promise<readonly string[]> =>
    leaving ? ['shutting down'] : subgraphs ? subgraphs.unready() : [];
  const isEdge = roles.edge.size > 0;
  await listenForMetrics(starting, ready);
  const addresses = isEdge ? await import('./subgraphs/platform/access/caller-address.ts') : null;
  const app = openHttp({
    config,
    log,
    ready,
    metricsHere: config.metricsPort === null,
    overload: addresses && {
      ...config.overload,
      networkOf: addresses.openNetworkOf(config.trustedProxies),
    },
  });
  if (subgraphs && !roles.all) {
    const keys = { shared: config.secrets.principal, service: subgraphs.service };
    for (const name of roles.subgraphs)
      serveSubgraph(app, { name, executor: subgraphs.open(name), keys, log });
  }
  if (isEdge) {
    const { registerEdge } = await import('./rest-facade/register-edge.ts');
    await registerEdge(app, {
      config,
      roles: roles.edge,
      executors: openExecutors(starting, subgraphs),
      bankNotifications: config.connectors.map(({ notifications }) => notifications),
      bus,
      log,
      stack,
    });
  }
  stack.defer(() => app.close());
  await app
    .listen({ port: config.port, host: config.host })
    .catch((error: unknown) => Promise.reject(explainListening(error, addressOf(config))));
  stack.defer(async () => {
    leaving = true;
    // A process that is only a worker receives no calls.
    if (isEdge || roles.subgraphs.length > 0) await delay(config.drainDelay_ms);
  });
};

/**
 * Starts the roles of this process. A failure, or a request to stop, ends what was started before
 * it; the reason is thrown. `postgres` is the server of the installation, null with DATABASE_URL;
 * it ends last.
 */
export const startRoles = async (
  config: ProcessConfig,
  roles: Roles,
  log: Logger,
  {
    progress,
    stopping,
    postgres,
  }: Omit<Start, 'stack'> & { readonly postgres: Promise<EmbeddedPostgres> | null },
): Promise<Running> => {
  await using starting = new AsyncDisposableStack();
  const stack = starting;
  // A server that did not start has ended itself.
  stack.defer(async () => (await postgres?.catch(() => null))?.stop());
  await startTracing(config, roles, log, stack);
  const onRecord = isOnRecord(roles)
    ? await runStep(stopping, () => import('./subgraphs/start-subgraphs.ts'))
    : null;
  const databaseUrl = postgres ? (await postgres).url : config.databaseUrl;
  const opened =
    onRecord && databaseUrl !== null
      ? await onRecord.openTables({ ...config, databaseUrl }, roles.migrate, {
          stack,
          progress,
          stopping,
        })
      : null;
  let demo: DemoMerchant | null = null;
  let consoleLink: string | null = null;
  if (isServing(roles)) {
    progress('Roles ...');
    const busUrl = opened?.url ?? config.databaseDirectUrl ?? databaseUrl ?? '';
    const bus = await runStep(stopping, () =>
      openBus({ redisUrl: config.redisUrl, databaseUrl: busUrl, log }),
    );
    stack.defer(() => bus.close());
    const remote = (name: SubgraphName, service: ServiceKeys): SubgraphExecutor | null =>
      openRemote(name, { config, roles, log, stack }, service);
    const parts = { config, bus, log, stack, here: roles.subgraphs, remote };
    const subgraphs =
      onRecord && opened
        ? await runStep(stopping, () => onRecord.openSubgraphs(opened, parts))
        : null;
    if (subgraphs && roles.all && config.databaseUrl === null) {
      demo = await runStep(stopping, () => subgraphs.demoMerchant());
      if (config.oidc === null) consoleLink = await subgraphs.consoleLink();
    }
    if (subgraphs && roles.worker) await runStep(stopping, () => subgraphs.startWorker());
    await runStep(stopping, () => listen({ config, roles, bus, log, stack }, subgraphs));
  }
  const running = stack.move();
  return { config, demo, consoleLink, close: () => running.disposeAsync() };
};
