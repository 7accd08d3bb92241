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
