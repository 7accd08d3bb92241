/**
 * The partitions of events, deliveries, attempts, calls to banks, openings of pages and of the
 * audit log, one for each month, made before their month begins. Nothing depends on this being in
 * time: a row without a partition is stored in the default one, and old rows there are deleted in
 * batches (`platform/retention`).
 * Making and dropping a partition lock the table for some milliseconds. A run that does not get the
 * lock at once gives way; the next run repeats it.
 */
import type pg from 'pg';
import { inTransaction, isLockTimeout } from './statement.ts';

/**
 * In the order in which they are dropped: a delivery without its event is history, an event without
 * its delivery would be a mistake.
 */
export const partitionedTables = [
  'event',
  'webhook_delivery',
  'webhook_attempt',
  'bank_call',
  'page_opening',
] as const;
export type PartitionedTable = (typeof partitionedTables)[number];
/** Never dropped: its months keep its indexes small. Its rows are never changed or moved. */
const kept = 'audit_entry';
type MonthlyTable = PartitionedTable | typeof kept;

/** This month and so many that follow have a partition. */
const monthsAhead = 2;
/** Writers queue behind a waiting lock request. */
const lockPatience_ms = 200;
const statement_ms = 20_000;
/**
 * Larger months stay in the default partition: moving more rows would block everyone for too long.
 */
const moved_max = 2_000;

/** The month, in UTC, of the partition for a row of this time. */
export const monthOf = (instant: Temporal.Instant): Temporal.PlainYearMonth =>
  instant.toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth();
const startOf = (month: Temporal.PlainYearMonth): Temporal.Instant =>
  month.toPlainDate({ day: 1 }).toZonedDateTime('UTC').toInstant();
/** The name of a partition, with its schema. */
export const partitionOf = (table: MonthlyTable, month: Temporal.PlainYearMonth): string =>
  `partitions.${table}_${month.toString().replace('-', '_')}`;

/** Does `work` in a transaction; false, with no effect, when a lock was not available at once. */
export const withLockTimeout = async (
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
    if (isLockTimeout(error)) return false;
    throw error;
  }
};

/** SQL: makes a partition of the audit log itself refuse what the log refuses. */
const refusesChanges = (partition: string): string =>
  `create trigger append_only before update or delete on ${partition} for each statement execute function audit_entry_append_only_fn();
   create trigger append_only_whole before truncate on ${partition} for each statement execute function audit_entry_append_only_fn()`;

/** Whether a query has a row. */
export const exists = async (client: pg.Pool | pg.PoolClient, query: string): Promise<boolean> => {
  const { rows } = await client.query<{ found: boolean }>(`select exists (${query}) as found`);
  return rows[0]?.found === true;
};

/** SQL: a row when the partition exists. */
const isMade = (partition: string): string =>
  `select 1 from pg_class where oid = to_regclass('${partition}')`;

interface NewPartition {
  readonly table: string;
  readonly partition: string;
  /** The column that decides a row's partition, with its bounds. */
  readonly column: string;
  readonly since: string;
  readonly until: string;
  /** False: rows that are in the default partition already stay there, and so do later ones. */
  readonly movesRows: boolean;
  /** SQL that the partition needs besides. */
  readonly also?: string;
}

/**
 * Makes one partition unless it exists, and moves its rows there from the default one. The moved
 * rows are locked against reads meanwhile: a reader that had looked up the partitions before would
 * find the rows in neither.
 */
export const makePartition = async (
  pool: pg.Pool,
  { table, partition, column, since, until, movesRows, also }: NewPartition,
): Promise<boolean> => {
  const fallback = `partitions.${table}_default`;
  const within = `from ${fallback} where ${column} >= '${since}' and ${column} < '${until}'`;
  if (await exists(pool, isMade(partition))) return false;
  const hasRows = await exists(pool, `select 1 ${within}`);
  if (hasRows && !movesRows) return false;
  return withLockTimeout(pool, async (client) => {
    await client.query(
      `lock table only ${table} in ${hasRows ? 'access' : 'share update'} exclusive mode`,
    );
    if (await exists(client, isMade(partition))) return false;
    await client.query(`lock table ${fallback} in access exclusive mode`);
    if (await exists(client, `select 1 ${within} offset ${hasRows ? moved_max : 0}`)) return false;
    await client.query(`create table ${partition} (like ${table} including defaults including constraints)
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    if (also) await client.query(also);
    if (hasRows)
      await client.query(
        `with moved as (delete ${within} returning *) insert into ${partition} select * from moved`,
      );
    await client.query(
      `alter table ${table} attach partition ${partition} for values from ('${since}') to ('${until}')`,
    );
    return true;
  });
};

/** Makes the missing partitions of this month and of the coming ones. Returns the number made. */
export const makePartitions = async (pool: pg.Pool, now: Temporal.Instant): Promise<number> => {
  let made = 0;
  for (const table of [...partitionedTables, kept] as const) {
    for (let ahead = 0; ahead <= monthsAhead; ahead += 1) {
      const month = monthOf(now).add({ months: ahead });
      const partition = partitionOf(table, month);
      const isMadeNow = await makePartition(pool, {
        table,
        partition,
        since: startOf(month).toString(),
        until: startOf(month.add({ months: 1 })).toString(),
        ...(table === kept
          ? { column: 'written_at', movesRows: false, also: refusesChanges(partition) }
          : { column: 'created_at', movesRows: true }),
      });
      if (isMadeNow) made += 1;
    }
  }
  return made;
};

// Statistics for tables that grow faster than autovacuum checks, which is once a minute. A plan
// made while a table is empty may read the whole table and is kept until the table is analyzed: a
// burst of creates on a new installation would slow everything after it.

/** Of fewer rows, any plan is good. */
const rows_min = 1_000;
/** A plan made for so many times fewer rows is out of date. Autovacuum analyzes what grows less. */
const growth_min = 4;

/**
 * Analyzes each table that has grown enough since its last analysis. Returns the number of tables.
 */
export const analyzeGrown = async (pool: pg.Pool): Promise<number> => {
  const { rows } = await pool.query<{ table: string }>(
    `select relid::regclass::text as table
       from pg_stat_user_tables join pg_class on pg_class.oid = relid
      where n_live_tup >= $1 and n_live_tup > $2 * greatest(reltuples, 0)`,
    [rows_min, growth_min],
  );
  // The holder of the lock analyzes a locked table, or the next run does.
  for (const { table } of rows) await pool.query(`analyze (skip_locked) ${table}`);
  return rows.length;
};

/** Tables whose rows are found by their keys. */
const keyedTables = [
  'payment',
  'payout',
  'receipt_terms',
  'shop',
  'simulator_operation',
  ...partitionedTables,
];

/** SQL: the column of the merchant in these tables and in all partitions. */
const merchantColumns = `pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
      where attname = 'merchant_id' and (nspname = 'partitions' or (nspname = 'public' and relname = any ($1)))`;

/**
 * Makes plans for the largest merchant of a table. Statistics say how many rows a merchant has on
 * average; where that is few, all rows of a merchant cost no more than one by its key, and such a
 * plan reads all of a large merchant's. Each new partition needs it. Citus has statistics of each
 * shard.
 */
export const expectLargeMerchants = async (client: pg.Pool | pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ table: string }>(
    `select attrelid::regclass::text as table
       from ${merchantColumns} and relkind in ('r', 'p') and attoptions is null
        and not exists (select from pg_extension where extname = 'citus')`,
    [keyedTables],
  );
  for (const { table } of rows)
    await client.query(
      `alter table only ${table} alter column merchant_id set (n_distinct = 1, n_distinct_inherited = 1)`,
    );
  await expectThemAtOnce(client);
};

/**
 * The same for tables that were never analyzed: PostgreSQL assumes 200 merchants there. Versions
 * before 18 lack the function, and a burst on a new installation is slow until `analyzeGrown`.
 */
const expectThemAtOnce = async (client: pg.Pool | pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ known: boolean }>(
    `select to_regproc('pg_catalog.pg_restore_attribute_stats') is not null as known`,
  );
  if (!rows[0]?.known) return;
  await client.query(
    `select pg_restore_attribute_stats('schemaname', nspname::text, 'relname', relname::text, 'attname', attname::text,
        'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real)
       from ${merchantColumns} and relkind = 'r'
        and not exists (select 1 from pg_statistic where starelid = attrelid and staattnum = attnum)`,
    [keyedTables],
  );
};
