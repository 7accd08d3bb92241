/**
 * The jobs that keep partitions and statistics, and remove what has reached its age
 * (`rules/retention`).
 * Late or twice, they do no harm.
 */
import type pg from 'pg';
import { Counter } from 'prom-client';
import {
  analyzeGrown,
  expectLargeMerchants,
  makePartitions,
  partitionedTables,
} from '../database/maintain-tables.ts';
import { periodic, type Job } from '../queue/run-job.ts';
import {
  alertsKept_days,
  bankHealthKept_days,
  differencesKept_days,
  keysKept_days,
  registriesKept_days,
  deadLettersKept_days,
  testOperationsKept_days,
  tracesKept_days,
} from '../../rules/retention.ts';
import { metrics } from '../tracing/telemetry.ts';
import {
  forgetOlder,
  forgetAlerts,
  forgetBankHealth,
  forgetDeadLetters,
  forgetDifferences,
  forgetHoldOrders,
  forgetKeys,
  forgetLines,
  forgetParts,
  forgetDefaultPartitions,
  forgetTestOperations,
  forgetTraces,
  type Forgotten,
} from './forget-rows.ts';
import { keepRequests, dropPartitions } from './drop-partitions.ts';

interface RetentionJobs {
  readonly pool: pg.Pool;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
  readonly eventsKept_days: number;
}

/** Rows of a dropped month are those that PostgreSQL estimated. */
const removedRows = new Counter({
  name: 'retention_removed_rows_total',
  help: 'Rows removed at the end of their retention period, by table.',
  labelNames: ['table'],
  registers: [metrics],
});

const before = (now: Temporal.Instant, days: number): Temporal.Instant =>
  now.subtract({ hours: days * 24 });

/**
 * Makes the months to come; removes what is old in each partitioned table, in their order.
 */
export const keepEvents = async ({
  pool,
  now,
  stopping,
  eventsKept_days,
}: RetentionJobs): Promise<void> => {
  await makePartitions(pool, now());
  await expectLargeMerchants(pool);
  const cutoff = before(now(), eventsKept_days);
  await dropPartitions(pool, cutoff, (table, rows) => removedRows.inc({ table }, rows));
  for (const table of partitionedTables)
    await forgetTable({ pool, now, stopping }, forgetDefaultPartitions[table], eventsKept_days);
};

type Batches = Omit<RetentionJobs, 'eventsKept_days'>;

/** Removes the rows of a table that are older than so many days. */
const forgetTable = async (
  { pool, now, stopping }: Batches,
  rows: Forgotten,
  kept_days: number,
): Promise<void> =>
  removedRows.inc(
    { table: rows.name },
    await forgetOlder(pool, rows, before(now(), kept_days), stopping),
  );

/**
 * Removes what is old: lines, parts and resolved differences of settlement reports, operations of
 * the simulated bank, resolved alerts, how calls to banks went.
 */
export const forgetReports = async (deps: Batches): Promise<void> => {
  await forgetTable(deps, forgetLines, registriesKept_days);
  await forgetTable(deps, forgetParts, registriesKept_days);
  await forgetTable(deps, forgetDifferences, differencesKept_days);
  await forgetTable(deps, forgetTestOperations, testOperationsKept_days);
  await forgetTable(deps, forgetHoldOrders, testOperationsKept_days);
  await forgetTable(deps, forgetAlerts, alertsKept_days);
  await forgetTable(deps, forgetBankHealth, bankHealthKept_days);
};

export const retentionJobs = (deps: RetentionJobs): readonly Job[] => [
  periodic('analyze-grown-tables', 5_000, () => analyzeGrown(deps.pool)),
  periodic('keep-events', 60_000, () => keepEvents(deps)),
  periodic('keep-requests', 60_000, async () => {
    removedRows.inc({ table: 'api_request' }, await keepRequests(deps.pool, deps.now()));
  }),
  periodic('forget-reports', 3_600_000, () => forgetReports(deps)),
  periodic('forget-idempotency-keys', 60_000, () => forgetTable(deps, forgetKeys, keysKept_days)),
  periodic('forget-dead-letters', 3_600_000, () =>
    forgetTable(deps, forgetDeadLetters, deadLettersKept_days),
  ),
  periodic('forget-subject-traces', 3_600_000, () =>
    forgetTable(deps, forgetTraces, tracesKept_days),
  ),
];
