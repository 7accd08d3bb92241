/**
 * Starts the parts that use the database: the subgraphs and the worker. Edge-only processes never
 * load it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { SubgraphName } from '../schema/sources.ts';
import { realNow, TestClocks } from './platform/clock/test-clocks.ts';
import { announceListChanges } from './platform/database/list-changes.ts';
import { openKeptKeys, type KeptKeys, type CustomerVault } from './platform/database/kept-keys.ts';
import { migrateAll, openRecord, type RecordStore, type Start } from './open-record.ts';
import { isMigrated, type Database } from './platform/database/orm.ts';
import { Policies } from './platform/policies/policies.ts';
import { openQueues, type Queues } from './platform/queue/queues.ts';
import { startRelay } from './platform/events/relay.ts';
import type { Bus, WebhookLane } from './platform/bus/bus.ts';
import type { SettledConfig } from './platform/config/config.ts';
import { makeConsoleLink } from './platform/access/link-person.ts';
import type { ServiceKeys } from './platform/access/principal.ts';
import type { SubgraphExecutor } from './platform/graph/subgraph.ts';
import { watchGauges, type Logger } from './platform/tracing/telemetry.ts';
import { ensureDemoMerchant, type DemoMerchant } from './merchants/demo-merchant.ts';
import { makeLink } from './merchants/sessions/sessions.ts';
import { openDevelopmentTargets } from './merchants/webhooks/webhook-target.ts';
import { watchWebhookBacklog } from './merchants/webhooks/webhook-backlog.ts';
import { Deliverer } from './merchants/webhooks/deliverer.ts';
import { backgroundJobs, consumeRecurringPayments, wakeableJobs } from './background-jobs.ts';
import { entities } from './entities.ts';
import { openSubgraph, type SubgraphsDeps } from './open-subgraphs.ts';
import { openPageOpenings } from './payments/checkout/page-openings.ts';
import type { ProcessConfig } from './read-config.ts';
import type { Bank } from './acquirers/bank.ts';
import { openCallRecorder } from './acquirers/calls.ts';
import { openReadTerms } from './acquirers/receipt-terms.ts';
import { openBanks, type Banks } from './acquirers/route.ts';
import { openSimulator } from './acquirers/simulator/simulator.ts';
import { watchAlerts } from './platform/alerts/alerts.ts';
import { watchBooks } from './ledger/books/check-books.ts';
import { queueNames } from './platform/queue/run-job.ts';
import { watchUnsettledMoney } from './ledger/unsettled-money.ts';

/**
 * Adds the gauge `queue_jobs_waiting`, by queue: jobs that wait for a free worker. While the store
 * is away it keeps its last value.
 */
const watchQueues = (queues: Pick<Queues, 'depths'>): (() => void) =>
  watchGauges({
    name: 'queue_jobs_waiting',
    help: 'Jobs waiting for a free worker, by queue.',
    labelNames: ['queue'],
    async collect() {
      const depths = await queues.depths().catch(() => null);
      for (const queue of depths ? queueNames : []) this.set({ queue }, depths?.[queue] ?? 0);
    },
  });

/**
 * Opens the banks of this process: the simulator for test mode, and for live mode the acquirers that
 * this installation can reach; `stack` closes their connections.
 */
const openEveryBank = async (
  database: Database,
  { connectors, secrets: { vault: vaultKey }, publicUrl }: ProcessConfig,
  customers: CustomerVault,
  stack: AsyncDisposableStack,
): Promise<Banks> => {
  const { pool } = database;
  const banks: Bank[] = [];
  for (const connector of connectors) {
    const bank = await connector.open({ pool, vaultKey, publicUrl });
    stack.defer(() => bank.close());
    banks.push(bank);
  }
  const recorder = openCallRecorder(pool);
  stack.defer(() => recorder.close());
  const readTerms = openReadTerms(pool, customers);
  return openBanks(openSimulator(database), pool, banks, readTerms, recorder);
};

/** The subgraphs of a process, and what runs beside them. */
export interface Subgraphs {
  /** A subgraph in this process. */
  open(name: SubgraphName): SubgraphExecutor;
  /**
   * Runs the jobs, and the relay from the outbox, until `stack` is disposed of; running work is
   * completed.
   */
  startWorker(): Promise<void>;
  /**
   * What is not ready: the database until it is migrated and its stored keys are read, the queues
   * until they answer. After that, a process with subgraphs does not need the queues: calls work
   * without them, and a sweep finds due work.
   */
  unready(): Promise<readonly string[]>;
  /** What this process signs and reads services with. */
  readonly service: ServiceKeys;
  /** The merchant whose test key an embedded installation prints. */
  demoMerchant(): Promise<DemoMerchant>;
  /** The address of a new one-time link into the console. */
  consoleLink(): Promise<string>;
}

interface SubgraphsOptions {
  readonly config: ProcessConfig;
  readonly bus: Bus;
  readonly log: Logger;
  /** Closes what is opened here. */
  readonly stack: AsyncDisposableStack;
  /** The subgraphs that this process runs itself. */
  readonly here: readonly SubgraphName[];
  /** A subgraph of another process; null when its address is not configured. */
  readonly remote: (name: SubgraphName, service: ServiceKeys) => SubgraphExecutor | null;
}

/** Opens the database with the tables of every subgraph; migrates it when `migrating`. */
export const openTables = async (
  config: SettledConfig & { readonly databaseUrl: string },
  migrating: boolean,
  start: Start,
): Promise<RecordStore> => {
  const opened = await openRecord(config, entities, start);
  if (migrating) await migrateAll(config, entities, opened, start);
  return opened;
};

type SharedDeps = Omit<SubgraphsDeps, 'payments'>;

/** Opens what all subgraphs of a process share. */
const openShared = async (
  { url, database }: RecordStore,
  { config, bus, log, stack }: SubgraphsOptions,
): Promise<{ readonly shared: SharedDeps; readonly kept: KeptKeys }> => {
  const { pool } = database;
  stack.defer(announceListChanges(pool, bus));
  const { alertChannels, eventsKept_days, publicUrl } = config;
  const queues = await openQueues({
    redisUrl: config.redisUrl,
    databaseUrl: url,
    log,
    jobs: wakeableJobs,
    drain_ms: config.drain_ms / 2,
  });
  stack.defer(() => queues.close());
  const kept = await openKeptKeys({ database, secrets: config.secrets, log });
  stack.defer(() => kept.close());
  const secrets = { ...config.secrets, fingerprint: kept.fingerprint };
  const banks = await openEveryBank(database, config, kept.customers, stack);
  const policies = new Policies({ pool, bus, fingerprintKey: secrets.fingerprint });
  stack.defer(() => policies.close());
  const openings = openPageOpenings(pool);
  stack.defer(() => openings.close());
  const clocks = new TestClocks({ pool, bus, now: realNow });
  stack.defer(() => clocks.close());
  const targets = await openDevelopmentTargets({
    setting: config.webhookPrivateTargets,
    publicUrl,
    database,
    bus,
  });
  stack.defer(() => targets.close());
  const shared = {
    database,
    banks,
    policies,
    clocks,
    openings,
    bus,
    queues,
    secrets,
    customers: kept.customers,
    publicUrl,
    privateTargets: targets.areAllowed,
    alertChannels,
    issuer: config.consoleLogin === null ? null : (config.oidc?.issuer ?? null),
    eventsKept_days,
    now: realNow,
    log,
  };
  return { shared, kept };
};

/** Opens the dependencies of the subgraphs. Nothing runs yet. */
export const openSubgraphs = async (
  record: RecordStore,
  options: SubgraphsOptions,
): Promise<Subgraphs> => {
  const { config, stack, here, remote } = options;
  const { shared, kept } = await openShared(record, options);
  const { database, queues, secrets, now } = shared;
  const payments = here.includes('payments')
    ? openSubgraph('payments', { ...shared, payments: null })
    : remote('payments', kept.service);
  const parts: SubgraphsDeps = { ...shared, payments };
  let hadQueues = false;
  return {
    open: (name) =>
      (name === 'payments' && here.includes(name) && payments) || openSubgraph(name, parts),
    service: kept.service,
    startWorker: () => startWorker(parts, stack, config.drain_ms / 2),
    unready: async () => {
      const [migrated, queued] = await Promise.all([
        isMigrated(database).catch(() => false),
        (here.length > 0 && hadQueues) || queues.ready(),
      ]);
      hadQueues ||= queued;
      return [...(migrated && kept.ready() ? [] : ['database']), ...(queued ? [] : ['queues'])];
    },
    consoleLink: async () => {
      const { url, digest } = makeConsoleLink(config.publicUrl);
      await makeLink({ database }, digest, null, now());
      return url;
    },
    demoMerchant: () => ensureDemoMerchant(database, secrets.vault, config.dataDir, now()),
  };
};

const startWorker = async (
  deps: SubgraphsDeps,
  stack: AsyncDisposableStack,
  patience_ms: number,
): Promise<void> => {
  const { database, bus, queues, log } = deps;
  const stopping = new AbortController();
  const deliverer = new Deliverer({
    pool: database.pool,
    vaultKey: deps.secrets.vault,
    privateTargets: deps.privateTargets,
    log,
    now: deps.now,
  });
  // Interrupted deliveries are sent again when their lease ends.
  stack.defer(() =>
    Promise.race([deliverer.close(), delay(patience_ms, undefined, { ref: false })]),
  );
  stack.defer(bus.subscribe('webhooks', (lanes) => deliverer.wake(lanes)));
  const wakeAll = (lanes: readonly WebhookLane[]): void => void bus.publish('webhooks', lanes);
  await queues.work(backgroundJobs(deps, stopping.signal, wakeAll));
  stack.defer(watchBooks(database.pool));
  stack.defer(watchAlerts(database));
  stack.defer(watchUnsettledMoney(database.pool));
  stack.defer(watchQueues(queues));
  stack.defer(watchWebhookBacklog(database.pool));
  const consumer = consumeRecurringPayments(deps);
  stack.defer(() => consumer.stop());
  const relay = startRelay({
    pool: database.sessions,
    bus,
    log,
    wake: (lanes) => (deliverer.isBusy ? wakeAll(lanes) : deliverer.wake(lanes)),
    wakeConsumers: () => consumer.wake(),
  });
  stack.defer(() => relay.stop());
  stack.defer(() => stopping.abort());
};
