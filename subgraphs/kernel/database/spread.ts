/**
 * Whether the tables are spread over machines (OPERATIONS "Sharding by merchant"). One database
 * takes in one statement what is due of all merchants; a spread one takes it merchant by merchant.
 */
import type pg from 'pg';
import { run, type Statement } from './statement.ts';

const ask: Statement = {
  name: 'database.is_spread',
  text: `select exists (select 1 from pg_extension where extname = 'citus') as "isSpread"`,
};

const known = new WeakMap<pg.Pool, Promise<boolean>>();

/** Whether the pool's database is spread; asked once. */
export const isSpread = (pool: pg.Pool): Promise<boolean> => {
  const found =
    known.get(pool) ??
    run<{ isSpread: boolean }>(pool, ask, []).then(([row]) => row?.isSpread === true);
  known.set(pool, found);
  found.catch(() => known.delete(pool));
  return found;
};
