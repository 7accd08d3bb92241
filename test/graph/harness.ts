/**
 * The whole graph in this process: the four real subgraphs on a migrated PostgreSQL behind the real
 * gateway. SQL statements are counted.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSupergraph } from '../../gateway/supergraph.ts';
import { subgraphNames } from '../../schema/sources.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { migrate, openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { TestClocks } from '../../subgraphs/platform/clock/test-clocks.ts';
import { Policies } from '../../subgraphs/platform/policies/policies.ts';
import { openBus } from '../../subgraphs/platform/queue/bus.ts';
import { migrateQueues } from '../../subgraphs/platform/queue/queue-stores.ts';
import { openQueues } from '../../subgraphs/platform/queue/queues.ts';
import { deriveSecrets } from '../../subgraphs/platform/config/config.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { wakeableJobs } from '../../subgraphs/background-jobs.ts';
import { entities } from '../../subgraphs/entities.ts';
import { openSubgraph, type SubgraphsDeps } from '../../subgraphs/open-subgraphs.ts';
import { countStatements } from '../support/count-statements.ts';
import { startTestDatabase } from '../support/database.ts';
import { testCustomers } from '../support/customers.ts';
import { openPageOpenings } from '../../subgraphs/payments/checkout/page-openings.ts';

export const log = openLog(
  { logLevel: process.env['TEST_LOG'] === 'debug' ? 'debug' : 'silent' },
  'test',
);

/**
 * Whether a statement is of a call. The list of merchants with test clocks is read when it is old,
 * for each caller: on a slow machine within any count.
 */
export const isOfCall = (text: string): boolean =>
  text !== 'select distinct merchant_id as "merchantId" from test_clock' &&
  !text.startsWith('insert into page_opening');

/**
 * Opens a graph of the test file's own; `close` removes everything that was made here, and so does
 * a failure on the way.
 */
export const openGraphHarness = async () => {
  await using opening = new AsyncDisposableStack();
  const postgres = await startTestDatabase({ migrated: true });
  opening.defer(() => postgres.stop());
  const database = await openDatabase({ url: postgres.url, entities, pool: 8 });
  opening.defer(() => database.close());
  const counted = countStatements(database.pool);
  await migrate(database);
  await migrateQueues(postgres.url);
  const bus = await openBus({ redisUrl: null, databaseUrl: postgres.url, log });
  opening.defer(() => bus.close());
  const queues = await openQueues({
    redisUrl: null,
    databaseUrl: postgres.url,
    log,
    jobs: wakeableJobs,
    drain_ms: 1_000,
  });
  opening.defer(() => queues.close());
  const secrets = deriveSecrets(randomBytes(32));
  const policies = new Policies({ pool: database.pool, bus, fingerprintKey: secrets.fingerprint });
  opening.defer(() => policies.close());
  const now = (): Temporal.Instant => Temporal.Now.instant();
  const clocks = new TestClocks({ pool: database.pool, bus, now });
  opening.defer(() => clocks.close());
  const openings = openPageOpenings(database.pool);
  opening.defer(() => openings.close());
  const alone: SubgraphsDeps = {
    database,
    banks: openBanks(openSimulator(database), database.pool),
    policies,
    clocks,
    openings,
    bus,
    queues,
    secrets,
    customers: testCustomers,
    publicUrl: 'https://pay.example',
    privateTargets: () => true,
    alertChannels: { webhook: null, mail: null },
    issuer: null,
    eventsKept_days: 90,
    now,
    log,
    payments: null,
  };
  const parts = { ...alone, payments: openSubgraph('payments', alone) };
  const [payments, payouts, recurring, merchants] = subgraphNames.map((name) =>
    openSubgraph(name, parts),
  );
  if (!payments || !payouts || !recurring || !merchants) throw new Error('a subgraph is missing');
  const executors = { payments, payouts, recurring, merchants };
  const supergraphSdl = readFileSync(
    join(import.meta.dirname, '../../schema/supergraph.graphql'),
    'utf8',
  );
  const supergraph = await openSupergraph({ supergraphSdl, executors, log });
  const opened = opening.move();
  return { database, executors, supergraph, bus, counted, close: () => opened.disposeAsync() };
};
