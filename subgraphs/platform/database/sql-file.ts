/**
 * Statements as files: one `.sql` file beside the code that runs it, whole, as psql takes it. Its
 * head comment names the parameters and the result. Nothing is put together at run time.
 *
 * A statement that writes rows of one merchant takes the merchant, a JSON array of rows, and whether
 * it may wait for what another transaction holds: one call may, a batch must not.
 *
 * Citus sends a statement that inserts into several tables over the coordinator. There the file
 * runs as a function that is distributed by merchant, with the same parameters, and its rows come
 * back as JSON: they consist of texts, small numbers and booleans. Statements of other kinds run
 * there merchant by merchant.
 */
import pg from 'pg';
import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { run, type Runner, type Statement } from './statement.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { outsideOfLane } from '../access/lane.ts';
import { poolOf } from './pool-of.ts';

const root = join(import.meta.dirname, '../..');

interface SqlFile extends Statement {
  /** Calls its function on Citus; null: it needs none. */
  readonly onShard: Statement | null;
}

const functionOf = (name: string): string => `shard_${name.replaceAll(/[^a-z]/g, '_')}`;

const insertsSeveral = (text: string): boolean => text.split('insert into ').length > 2;

const callOfFunction = (name: string): Statement => ({
  name: `${name}/on-shard`,
  text: `select ${functionOf(name)}($1::uuid, $2::json, $3::boolean) as rows`,
});

/** Reads the statement of a file. Its name is the path of the file. */
export const sqlFile = (folder: string, file: string): SqlFile => {
  const name = relative(root, join(folder, file))
    .replaceAll(sep, '/')
    .replace(/\.sql$/, '');
  // Of a running statement, pg_stat_activity shows the beginning: comments would fill it.
  const text = readFileSync(join(folder, file), 'utf8')
    .replaceAll(/^\s*--.*\n/gm, '')
    .trim()
    .replace(/;$/, '');
  return { name, text, onShard: insertsSeveral(text) ? callOfFunction(name) : null };
};

/**
 * Rows as JSON. Half of a surrogate pair, which PostgreSQL refuses in JSON, becomes U+FFFD, as it
 * does in a parameter.
 */
export const sentJson = (rows: readonly object[]): string => {
  const text = JSON.stringify(rows);
  return text.includes(String.raw`\ud`)
    ? text.replaceAll(/(?<!\\)((?:\\\\)*)\\ud[0-9a-f]{3}/g, '$1\ufffd')
    : text;
};

/** Runs a statement that writes rows of one merchant. */
export const runRows = async <Found extends object>(
  runner: Runner,
  statement: SqlFile,
  merchantId: string,
  rows: readonly object[],
  mayWait: boolean,
): Promise<readonly Found[]> => {
  const values = [merchantId, sentJson(rows), mayWait];
  const { onShard } = statement;
  if (!onShard || !(await isSharded(runner))) return run<Found>(runner, statement, values);
  const [made] = await run<{ rows: readonly Found[] }>(runner, onShard, values);
  return made?.rows ?? [];
};

const draw: Statement = {
  name: 'database.draw_numbers',
  text: `select nextval($1::text::regclass) as number from generate_series(1, $2::int)`,
};

/** Draws so many numbers of a sequence. */
export const drawNumbers = async (
  runner: Runner,
  sequence: string,
  count: number,
): Promise<readonly bigint[]> => {
  const drawn = await run<{ number: bigint }>(runner, draw, [sequence, count]);
  return drawn.map(({ number }) => number);
};

/**
 * Puts numbers of a sequence into rows where the tables are sharded: there is one sequence, on the
 * coordinator, and the function runs elsewhere. Otherwise the statement draws them.
 */
export const numberForShard = async (
  runner: Runner,
  rows: readonly object[],
  column: string,
  sequence: string,
): Promise<void> => {
  if (rows.length === 0 || !(await isSharded(runner))) return;
  const drawn = await drawNumbers(runner, sequence, rows.length);
  for (const [place, row] of rows.entries())
    Object.assign(row, { [column]: drawn[place]?.toString() });
};

const functionText = ({ name, text }: Statement): string => `
create or replace function ${functionOf(name)}(uuid, json, boolean) returns json language plpgsql
  set plan_cache_mode = force_generic_plan as $function$
declare
  given_row record;
  given_rows json[] := '{}';
begin
  for given_row in
${text}
  loop
    given_rows := given_rows || row_to_json(given_row);
  end loop;
  return array_to_json(given_rows);
end
$function$`;

/** Makes the functions of the files that need one on Citus, which distribute.sql distributes. */
export const makeShardFunctions = async (client: pg.ClientBase): Promise<void> => {
  const files = globSync('**/*.sql', {
    cwd: root,
    exclude: ['platform/database/migrations/**', 'platform/fleet/**'],
  });
  for (const statement of files.toSorted().map((file) => sqlFile(root, file)))
    if (statement.onShard) await client.query(functionText(statement));
};

// Whether the tables are sharded over machines (docs/operations.md, "Sharding"). One database
// takes in one statement what is due of all merchants; a spread one takes it merchant by merchant.

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
