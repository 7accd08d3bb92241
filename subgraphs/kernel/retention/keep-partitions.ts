/**
 * The partitions of events, deliveries and attempts, a month each: made before their month begins,
 * dropped when all that is in them has reached its age. Nothing depends on this being in time: a
 * row without a partition lands in the default one, and what is old there is deleted in batches.
 *
 * Making and dropping lock the table for some milliseconds; who does not get the lock at once gives
 * way and comes again with the next run.
 */
import type pg from 'pg';
import { inTransaction } from '../database/statement.ts';

/**
 * In the order in which they are dropped: a delivery without its event is history, an event without
 * its delivery would be a mistake.
 */
export const partitionedTables = ['event', 'webhook_delivery', 'webhook_attempt'] as const;
export type PartitionedTable = (typeof partitionedTables)[number];

/** This month and so many that follow have a partition. */
const monthsAhead = 2;
/** Who wants to write waits behind us as long as we wait. */
const lockPatience_ms = 200;
const statement_ms = 20_000;
/**
 * More rows than these are not moved out of the default partition while everybody waits: their
 * month stays there.
 */
const moved_max = 2_000;

/**
 * What must not be dropped although it is old, as SQL over a partition: somebody still has to do
 * something with it.
 */
const stillNeeded: Readonly<Record<PartitionedTable, (partition: string) => string>> = {
  event: (partition) => `select from ${partition} where sequence is null
    union all select from ${partition} where follower is not null and sequence > (select min(sequence) from follower_position)`,
  webhook_delivery: (partition) => `select from ${partition} where status = 'pending'`,
  // Attempts go after the deliveries of their month.
  webhook_attempt: (partition) =>
    `select from pg_class where oid = to_regclass('${partition.replace('attempt', 'delivery')}')`,
};

const monthOf = (moment: Temporal.Instant): Temporal.PlainYearMonth =>
  moment.toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth();
const startOf = (month: Temporal.PlainYearMonth): Temporal.Instant =>
  month.toPlainDate({ day: 1 }).toZonedDateTime('UTC').toInstant();
const partitionOf = (table: PartitionedTable, month: Temporal.PlainYearMonth): string =>
  `partitions.${table}_${month.toString().replace('-', '_')}`;

/** PostgreSQL's lock_not_available. */
const wasLockedOut = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03';

/**
 * Does `work` in a transaction; false, with nothing done, when a lock was not to be had at once.
 */
const inPatience = async (
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<boolean>,
): Promise<boolean> => {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query(
        `select set_config('lock_timeout', '${lockPatience_ms}', true), set_config('statement_timeout', '${statement_ms}', true)`,
      );
      return work(client);
    });
  } catch (error) {
    if (wasLockedOut(error)) return false;
    throw error;
  }
};

const exists = async (client: pg.Pool | pg.PoolClient, query: string): Promise<boolean> => {
  const { rows } = await client.query<{ found: boolean }>(`select exists (${query}) as found`);
  return rows[0]?.found === true;
};

/**
 * Makes one partition and moves into it what waited for it in the default one. What is moved nobody
 * may read meanwhile: who had looked up the partitions before would find the rows in neither.
 */
const makePartition = async (
  pool: pg.Pool,
  table: PartitionedTable,
  month: Temporal.PlainYearMonth,
): Promise<boolean> => {
  const [partition, fallback] = [partitionOf(table, month), `partitions.${table}_default`];
  const [since, until] = [startOf(month).toString(), startOf(month.add({ months: 1 })).toString()];
  const within = `from ${fallback} where created_at >= '${since}' and created_at < '${until}'`;
  const hasRows = await exists(pool, `select ${within}`);
  return inPatience(pool, async (client) => {
    await client.query(
      `lock table only ${table} in ${hasRows ? 'access' : 'share update'} exclusive mode`,
    );
    if (await exists(client, `select from pg_class where oid = to_regclass('${partition}')`))
      return false;
    await client.query(`lock table ${fallback} in access exclusive mode`);
    if (await exists(client, `select ${within} offset ${hasRows ? moved_max : 0}`)) return false;
    await client.query(`create table ${partition} (like ${table} including defaults including constraints)
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    await client.query(
      `with moved as (delete ${within} returning *) insert into ${partition} select * from moved`,
    );
    await client.query(
      `alter table ${table} attach partition ${partition} for values from ('${since}') to ('${until}')`,
    );
    return true;
  });
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
  inPatience(pool, async (client) => {
    await client.query(`lock table only ${table} in access exclusive mode`);
    if (await exists(client, stillNeeded[table](partition))) return false;
    await client.query(`drop table ${partition}`);
    return true;
  });

/**
 * Makes the partitions of this month and of those to come that are missing. Gives how many it made.
 */
export const makePartitions = async (pool: pg.Pool, now: Temporal.Instant): Promise<number> => {
  let made = 0;
  for (const table of partitionedTables) {
    for (let ahead = 0; ahead <= monthsAhead; ahead += 1) {
      const month = monthOf(now).add({ months: ahead });
      const isThere = await exists(
        pool,
        `select from pg_class where oid = to_regclass('${partitionOf(table, month)}')`,
      );
      if (!isThere && (await makePartition(pool, table, month))) made += 1;
    }
  }
  return made;
};

/**
 * Drops the partitions whose last row is older than `cutoff`. One that somebody still needs stays.
 * `dropped` is called for each with about how many rows it had.
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
