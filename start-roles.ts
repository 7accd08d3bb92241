/**
 * The roles of a process, wired together. What only the edge or only the subgraphs need is loaded where a process has such a role: a subgraph is then half
 * as large. What was started last is taken down first, also when starting fails half way.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { SubgraphName } from './schema/sources.ts';
import { remoteExecutor } from './gateway/remote-subgraph.ts';
import { readNotification } from './subgraphs/kernel/banks/tbank/read-notification.ts';
import type { Progress } from './subgraphs/kernel/database/open-record.ts';
import { openBus } from './subgraphs/kernel/queue/bus.ts';
import type { Bus } from './subgraphs/kernel/rules/event.ts';
import { ConfigError, deriveSecrets, type Config, type SettledConfig } from './subgraphs/kernel/service/config.ts';
import { openHttp } from './subgraphs/kernel/service/http.ts';
import { localOperatorToken, localSecretKey } from './subgraphs/kernel/service/local-secrets.ts';
import { serveSubgraph, subgraphPath } from './subgraphs/kernel/service/serve-subgraph.ts';
import { startTracing } from './subgraphs/kernel/service/start-tracing.ts';
import type { SubgraphExecutor } from './subgraphs/kernel/service/subgraph.ts';
import type { Logger } from './subgraphs/kernel/service/telemetry.ts';
import type { DemoMerchant } from './subgraphs/merchants/demo-merchant.ts';
import type { Subgraphs } from './subgraphs/start-subgraphs.ts';

import type { Roles } from './main.ts';

/** Whether this process works on the record: the edge has its neighbours' addresses instead. */
const isOnRecord = (roles: Roles): boolean => roles.subgraphs.length > 0 || roles.worker || roles.migrate;

/** Whether this is an installation of its own, which keeps everything in DATA_DIR. */
export const isEmbedded = (config: Config, roles: Roles): boolean => config.databaseUrl === null && isOnRecord(roles);

/** Completes the configuration; an embedded installation keeps what it made in DATA_DIR. Throws when there is no key and nowhere to keep one. */
export const settle = (config: Config, roles: Roles): SettledConfig => {
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
  readonly config: SettledConfig;
  readonly roles: Roles;
  readonly bus: Bus;
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
}

/** A subgraph of another process over HTTP; null when no address of it is known. */
const openRemote = (name: SubgraphName, { config, log, stack }: Omit<Starting, 'bus'>): SubgraphExecutor | null => {
  const url = config.subgraphUrls[name];
  if (!url) return null;
  const remote = remoteExecutor(`${url}${subgraphPath(name)}`, config.secrets.principal, log);
  stack.defer(() => remote.close());
  return remote;
};

type Executors = Readonly<Record<SubgraphName, SubgraphExecutor>>;

/** The subgraphs of this process run in it; the others are asked over HTTP. */
const openExecutors = (starting: Starting, subgraphs: Subgraphs | null): Executors => {
  const open = (name: SubgraphName): SubgraphExecutor => {
    const executor = subgraphs && starting.roles.subgraphs.includes(name) ? subgraphs.open(name) : openRemote(name, starting);
    if (executor) return executor;
    throw new ConfigError([`SUBGRAPH_${name.toUpperCase()}_URL is required: this process does not run that subgraph itself`]);
  };
  return { payments: open('payments'), payouts: open('payouts'), recurring: open('recurring'), merchants: open('merchants') };
};

export interface Running {
  readonly config: SettledConfig;
  readonly demo: DemoMerchant | null;
  close(): Promise<void>;
}

/** Serves what this process serves, and listens. Not ready until the database is migrated and the queues answer. */
const listen = async (starting: Starting, subgraphs: Subgraphs | null): Promise<void> => {
  const { config, roles, bus, log, stack } = starting;
  let leaving = false;
  const ready = async (): Promise<readonly string[]> => (leaving ? ['shutting down'] : subgraphs ? subgraphs.unready() : []);
  const isEdge = roles.edge.size > 0;
  const app = openHttp({ config, log, ready, ...(isEdge ? { overload: config.overload } : {}) });
  if (subgraphs && !roles.all) {
    for (const name of roles.subgraphs) serveSubgraph(app, { name, executor: subgraphs.open(name), principalSecret: config.secrets.principal });
  }
  if (isEdge) {
    const { registerEdge } = await import('./rest-facade/register-edge.ts');
    const { tbank } = config;
    const readTBank = tbank && ((body: unknown) => readNotification(tbank, body));
    await registerEdge(app, { config, roles: roles.edge, executors: openExecutors(starting, subgraphs), readTBank, bus, log, stack });
  }
  stack.defer(() => app.close());
  await app.listen({ port: config.port, host: config.host });
  stack.defer(async () => {
    leaving = true;
    // Nobody sends calls to a process that is a worker alone.
    if (isEdge || roles.subgraphs.length > 0) await delay(config.drainDelay_ms);
  });
};

/** Starts the roles of this process. Whatever fails on the way takes down what was started before it. */
export const startRoles = async (config: SettledConfig, roles: Roles, log: Logger, progress: Progress): Promise<Running> => {
  await using starting = new AsyncDisposableStack();
  const stack = starting;
  await startTracing(config, roles, log, stack);
  const onRecord = isOnRecord(roles) ? await import('./subgraphs/start-subgraphs.ts') : null;
  const opened = onRecord && (await onRecord.openTables(config, roles.migrate, stack, progress));
  let demo: DemoMerchant | null = null;
  if (roles.edge.size > 0 || roles.subgraphs.length > 0 || roles.worker) {
    progress('Roles ...');
    const databaseUrl = opened?.url ?? config.databaseDirectUrl ?? config.databaseUrl ?? '';
    const bus = await openBus({ redisUrl: config.redisUrl, databaseUrl, log });
    stack.defer(() => bus.close());
    const remote = (name: SubgraphName): SubgraphExecutor | null => openRemote(name, { config, roles, log, stack });
    const subgraphs = onRecord && opened && (await onRecord.openSubgraphs(opened, { config, bus, log, stack, here: roles.subgraphs, remote }));
    if (roles.all && config.databaseUrl === null) demo = (await subgraphs?.demoMerchant()) ?? null;
    if (roles.worker) await subgraphs?.startWorker();
    await listen({ config, roles, bus, log, stack }, subgraphs);
  }
  const running = stack.move();
  return { config, demo, close: () => running.disposeAsync() };
};
