/** Drops the partitions in which everything has reached its age. */
import type pg from 'pg';
import {
  exists,
  monthOf,
  partitionedTables,
  partitionOf,
  type PartitionedTable,
  withLockTimeout,
} from '../database/partitions.ts';

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
 * The partitions whose whole month is before `cutoff`, oldest first, with how many rows PostgreSQL
 * thinks they have.
 */
const agedPartitions = async (
  pool: pg.Pool,
  table: PartitionedTable,
  cutoff: Temporal.Instant,
): Promise<readonly { name: string; rows: number }[]> => {
  const { rows } = await pool.query<{ name: string; rows: number }>(
    `select 'partitions.' || child.relname as name, greatest(child.reltuples, 0)::float8 as rows
     from pg_inherits join pg_class as child on child.oid = inhrelid
     where inhparent = '${table}'::regclass and child.relname ~ '^${table}_[0-9]{4}_[0-9]{2}$' and child.relname < $1 order by 1`,
    // A month is over at the beginning of the month of the cutoff.
    [partitionOf(table, monthOf(cutoff)).replace('partitions.', '')],
  );
  return rows;
};

// The table before its partition, as every statement takes them.
const dropPartition = (
  pool: pg.Pool,
  table: PartitionedTable,
  partition: string,
): Promise<boolean> =>
  withLockTimeout(pool, async (client) => {
    await client.query(`lock table only ${table} in access exclusive mode`);
    for (const needed of stillNeeded[table](partition))
      if (await exists(client, needed)) return false;
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
    for (const { name, rows } of await agedPartitions(pool, table, cutoff)) {
      if (await dropPartition(pool, table, name)) dropped(table, rows);
    }
  }
};
