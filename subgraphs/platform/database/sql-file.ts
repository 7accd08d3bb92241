/**
 * Statements as files: one `.sql` file beside the code that runs it, whole, as psql takes it. Its
 * head comment names the parameters and the result. Nothing is put together at run time.
 *
 * A statement that writes rows of one merchant takes the merchant, a JSON array of rows, and whether
 * it may wait for what another transaction holds: one call may, a batch must not.
 *
 * Citus sends a statement that inserts into several tables over the coordinator. There the file
 * runs as a function that is distributed by merchant, with the same parameters, and its rows come
 * back as JSON: they consist of texts, small numbers and booleans.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type pg from 'pg';
import { isSharded } from './sharding.ts';
import { run, type Runner, type Statement } from './statement.ts';

const root = join(import.meta.dirname, '../..');

export interface SqlFile extends Statement {
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
