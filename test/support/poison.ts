/**
 * Rows of one merchant that make every statement fail which writes them, as a corrupted row or a
 * constraint that only they break would.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { errorCode } from '../../subgraphs/platform/tracing/error-code.ts';

/** Changes a table that the service works on; where the two stand in each other's way, again. */
const change = async (pool: pg.Pool, text: string): Promise<void> => {
  const deadlock_code = '40P01';
  for (let done = false; !done;)
    done = await pool.query(text).then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) !== deadlock_code) throw error;
        return false;
      },
    );
};

type Written = 'insert' | 'update' | 'delete';

/** Poisons a table for one merchant; returns what takes the poison off again. */
export const poison = (
  pool: pg.Pool,
  table: string,
  written: Written,
  merchantId: string,
): Promise<() => Promise<void>> => poisonRow(pool, table, written, { merchant_id: merchantId });

/** The same for rows with these values, in a table whose rows are not a merchant's. */
export const poisonRow = async (
  pool: pg.Pool,
  table: string,
  written: Written,
  values: Readonly<Record<string, string | number>>,
): Promise<() => Promise<void>> => {
  const name = `poison_${randomUUID().replaceAll('-', '')}`;
  const row = written === 'delete' ? 'old' : 'new';
  const isPoisoned = Object.entries(values).map(
    ([column, value]) => `${row}.${column} = '${value}'`,
  );
  await pool.query(
    `create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'this row is poisoned'; end; $$`,
  );
  await change(
    pool,
    `create trigger ${name} before ${written} on ${table} for each row when (${isPoisoned.join(' and ')}) execute function ${name}()`,
  );
  return () => change(pool, `drop function ${name}() cascade`);
};

/** What a task has set aside of a merchant, and the tasks that its alerts name. */
export const deadLettersOf = async (
  pool: pg.Pool,
  merchantId: string,
): Promise<{ readonly subjects: readonly string[]; readonly alerts: readonly string[] }> => {
  const { rows } = await pool.query<{ subjects: string[] | null; alerts: string[] | null }>(
    `select (select array_agg(task || ' ' || subject_id order by task, subject_id) from dead_letter where merchant_id = $1) as subjects,
      (select array_agg(subject_id order by subject_id) from alert where merchant_id = $1 and kind = 'dead_letter') as alerts`,
    [merchantId],
  );
  assert.ok(rows[0]);
  return { subjects: rows[0].subjects ?? [], alerts: rows[0].alerts ?? [] };
};

/** Lets the time of everything that was set aside come. */
export const retryDeadLetters = async (pool: pg.Pool): Promise<void> => {
  await pool.query(`update dead_letter set due_at = now() - interval '1 second'`);
};
