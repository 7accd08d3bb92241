/**
 * Whether the tables are sharded over machines (docs/operations.md, "Sharding"). One database
 * takes in one statement what is due of all merchants; a spread one takes it merchant by merchant.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { outsideOfLane } from '../access/lane.ts';
import { poolOf } from './pool-of.ts';
import { run, type Runner, type Statement } from './statement.ts';

const ask: Statement = {
  name: 'database.is_spread',
  text: `select exists (select 1 from pg_extension where extname = 'citus') as "isSharded"`,
};

const known = new WeakMap<Runner, Promise<boolean>>();

/** Whether the runner's database is sharded; queried once for each pool. */
export const isSharded = (runner: Runner): Promise<boolean> => {
  const pool = runner instanceof pg.Pool ? runner : (poolOf(runner) ?? runner);
  const found =
    known.get(pool) ??
    outsideOfLane(() => run<{ isSharded: boolean }>(runner, ask, [])).then(
      ([row]) => row?.isSharded === true,
    );
  known.set(pool, found);
  found.catch(() => known.delete(pool));
  return found;
};

/**
 * Calls `work` for the rows of each merchant, one merchant after another, so that a statement names
 * one merchant and runs on one shard. Returns all results in the order of the merchants' first rows.
 */
export const eachMerchant = async <Row extends { readonly merchantId: string }, Result>(
  rows: readonly Row[],
  work: (rows: readonly Row[], merchantId: string) => Promise<readonly Result[]>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (const [merchantId, own] of Map.groupBy(rows, (row) => row.merchantId))
    results.push(...(await work(own, merchantId)));
  return results;
};

/**
 * Runs a statement, whose `$1` is the merchant, for rows of several merchants. `valuesOf` returns
 * the values after `$1`.
 */
export const runByMerchant = <Found extends object, Row extends { readonly merchantId: string }>(
  runner: Runner,
  statement: Statement,
  rows: readonly Row[],
  valuesOf: (rows: readonly Row[]) => readonly unknown[],
): Promise<Found[]> =>
  eachMerchant(rows, (own, merchantId) =>
    run<Found>(runner, statement, [merchantId, ...valuesOf(own)]),
  );

/** A merchant, and how many rows of its are to be read. */
export interface Owner {
  readonly merchantId: string;
  readonly count: number;
}

/** Finds whose rows `some` are, SQL of their `merchant_id`, and how many each has. */
export const ownersStatement = (name: string, some: string): Statement => ({
  name,
  text: `select merchant_id as "merchantId", count(*)::int as count from (${some}) as oldest group by merchant_id`,
});

const inDoubt: Statement = {
  name: 'database.in_doubt',
  text: `select coalesce(string_agg(result, ','), '') as names from run_command_on_all_nodes(
    $$select coalesce(string_agg(gid, ','), '') from pg_prepared_xacts where database = current_database()$$)`,
};
const look_ms = 20;
const looks_max = 100;

/**
 * Waits, for two seconds at most, until the commits in progress have reached every machine. Where
 * the tables are sharded, parts of a transaction become visible one after another.
 */
export const awaitCommits = async (pool: pg.Pool): Promise<void> => {
  const look = async (): Promise<readonly string[]> => {
    const [row] = await run<{ names: string }>(pool, inDoubt, []);
    return row?.names.split(',').filter((name) => name !== '') ?? [];
  };
  let left = await look();
  for (let looks = 0; left.length > 0 && looks < looks_max; looks += 1) {
    await sleep(look_ms);
    const now = new Set(await look());
    left = left.filter((name) => now.has(name));
  }
};
