/**
 * Statistics for tables that grow faster than autovacuum checks, which is once a minute. A plan
 * made while a table is empty may read the whole table and is kept until the table is analyzed: a
 * burst of creates on a new installation would slow everything after it.
 */
import type pg from 'pg';

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

/** Those whose rows the statements of files find by their keys. */
const keyedTables = ['payment', 'payout', 'receipt_terms', 'shop', 'simulator_operation'];

/**
 * Tells the planner that a merchant says little about which row is meant, for tables that were
 * never analyzed. Without statistics it takes a merchant for one of 200, so that all rows of a
 * merchant cost no more than one row by its key, and keeps that plan until the first analysis.
 * PostgreSQL has the function from 18 on; before, a burst on a new installation is slow until
 * `analyzeGrown`.
 */
export const expectLargeMerchants = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ known: boolean }>(
    `select to_regproc('pg_catalog.pg_restore_attribute_stats') is not null as known`,
  );
  if (!rows[0]?.known) return;
  await client.query(
    `select pg_restore_attribute_stats('schemaname', nspname::text, 'relname', relname::text, 'attname', attname::text,
        'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real)
       from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relname = any ($1) and attname = 'merchant_id'
        and not exists (select 1 from pg_statistic where starelid = attrelid and staattnum = attnum)`,
    [keyedTables],
  );
};
