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
  exists,
  makePartition,
  monthOf,
  partitionOf,
  type PartitionedTable,
  withLockTimeout,
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
  requestsKept_days,
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

// Partitions in which everything has reached its age are dropped.

/** Old data that must not be dropped, as queries over a partition: it is still needed. */
const stillNeeded: Readonly<Record<PartitionedTable, (partition: string) => readonly string[]>> = {
  event: (partition) => [
    `select 1 from ${partition} where sequence is null`,
    `select 1 from ${partition} where follower is not null and sequence > (select min(sequence) from consumer_offset)`,
    `select 1 from ${partition} where sequence > (select sequence from consumer_offset where consumer = 'totals')`,
  ],
  webhook_delivery: (partition) => [`select 1 from ${partition} where status = 'pending'`],
  bank_call: () => [],
  page_opening: () => [],
  // Attempts go after the deliveries of their month.
  webhook_attempt: (partition) => [
    `select 1 from pg_class where oid = to_regclass('${partition.replace('attempt', 'delivery')}')`,
  ],
};

/**
 * The partitions of a table before one of them, oldest first, with how many rows PostgreSQL thinks
 * they have.
 */
const partitionsBefore = async (
  pool: pg.Pool,
  table: string,
  partition: string,
): Promise<readonly { name: string; rows: number }[]> => {
  const { rows } = await pool.query<{ name: string; rows: number }>(
    `select 'partitions.' || child.relname as name, greatest(child.reltuples, 0)::float8 as rows
     from pg_inherits join pg_class as child on child.oid = inhrelid
     where inhparent = '${table}'::regclass and child.relname ~ '^${table}_[0-9_]+$' and child.relname < $1 order by 1`,
    [partition.replace('partitions.', '')],
  );
  return rows;
};

// The table before its partition, as every statement takes them.
const dropPartition = (
  pool: pg.Pool,
  table: string,
  partition: string,
  needs: readonly string[],
): Promise<boolean> =>
  withLockTimeout(pool, async (client) => {
    await client.query(`lock table only ${table} in access exclusive mode`);
    for (const needed of needs) if (await exists(client, needed)) return false;
    await client.query(`drop table ${partition}`);
    return true;
  });

/**
 * Drops the partitions whose last row is older than `cutoff`. A partition that is still needed
 * stays. `dropped` is called for each with about how many rows it had.
 */
export const dropPartitions = async (
  pool: pg.Pool,
  cutoff: Temporal.Instant,
  dropped: (table: PartitionedTable, rows: number) => void,
): Promise<void> => {
  for (const table of partitionedTables) {
    // A month is over at the beginning of the month of the cutoff.
    const first = partitionOf(table, monthOf(cutoff));
    for (const { name, rows } of await partitionsBefore(pool, table, first))
      if (await dropPartition(pool, table, name, stillNeeded[table](name))) dropped(table, rows);
  }
};

// The days of the log of requests: each has a partition, made before it begins and dropped when its
// last row has reached its age. Nothing depends on this being in time: a row without a partition is
// in the default one, which is emptied of what is old.

/** Today and so many days that follow have a partition. */
const daysAhead = 2;

const partitionOfDay = (day: Temporal.PlainDate): string =>
  `partitions.api_request_${day.toString().replaceAll('-', '_')}`;

const dayOf = (at: Temporal.Instant): Temporal.PlainDate =>
  at.toZonedDateTimeISO('UTC').toPlainDate();

/** Makes the coming days and drops the old ones; returns about how many rows were deleted. */
export const keepRequests = async (pool: pg.Pool, now: Temporal.Instant): Promise<number> => {
  for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
    const day = dayOf(now).add({ days: ahead });
    await makePartition(pool, {
      table: 'api_request',
      partition: partitionOfDay(day),
      column: 'created_at',
      since: `${day.toString()}T00:00:00Z`,
      until: `${day.add({ days: 1 }).toString()}T00:00:00Z`,
      movesRows: false,
    });
  }
  const cutoff = now.subtract({ hours: 24 * requestsKept_days });
  let removed = 0;
  const first = partitionOfDay(dayOf(cutoff));
  for (const { name, rows } of await partitionsBefore(pool, 'api_request', first))
    if (await dropPartition(pool, 'api_request', name, [])) removed += rows;
  const { rowCount } = await pool.query(
    'delete from partitions.api_request_default where created_at < $1',
    [cutoff.toString()],
  );
  return removed + (rowCount ?? 0);
};

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
