/** Drops the partitions in which everything has reached its age. */
import type pg from 'pg';
import { requestsKept_days } from '../../rules/retention.ts';
import {
  exists,
  makePartition,
  monthOf,
  partitionedTables,
  partitionOf,
  type PartitionedTable,
  withLockTimeout,
} from '../database/maintain-tables.ts';

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
