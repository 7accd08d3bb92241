/**
 * Statements written by hand: the hot writes, and what the ORM cannot express. They run as named
 * prepared statements on the ORM's own pool, and their rows have the ORM's shapes: bigint for int8,
 * Temporal.Instant for timestamptz, camelCase names by `columns`. The ids of their new rows are made
 * here as well, at the end.
 */
import { hash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { rfc3339 } from '../../../schema/scalars.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { currentSpan, spanned, type SpanStart } from '../tracing/telemetry.ts';
import { errorCode } from '../tracing/error-code.ts';
import { inTurn } from '../access/lane.ts';
import { endListChanges } from './list-changes.ts';

export interface Statement {
  /** Unique in the program: PostgreSQL stores the plan under it. */
  readonly name: string;
  readonly text: string;
}

/** An entity as a whole row: every column is there, null where it has no value. */
export type Row<Entity> = {
  [Name in keyof Entity as Name extends string ? Name : never]-?: Exclude<Entity[Name], undefined>;
};

/** Anything that runs a query: the pool, or a client in a transaction. */
export type Runner = pg.Pool | pg.PoolClient;

const int8 = pg.types.builtins.INT8;
const timestamptz = pg.types.builtins.TIMESTAMPTZ;

const readInt8 = (text: string): bigint => BigInt(text);
const readTimestamptz = (text: string): Temporal.Instant =>
  Temporal.Instant.from(text.replace(' ', 'T'));

const types: pg.CustomTypesConfig = {
  // Read for every column of every answer.
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === int8) return readInt8;
    if (oid === timestamptz) return readTimestamptz;
    // The package types its parsers as any; the row type that the caller of `run` names types their
    // results.
    return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
  },
};

const parameter = (value: unknown): unknown => {
  if (value instanceof Temporal.Instant) return rfc3339(value);
  if (Array.isArray(value)) return value.map(parameter);
  return typeof value === 'bigint' ? value.toString() : value;
};

const unnamed = new WeakSet<Runner>();

/**
 * Makes this pool send its statements without names, so that each is planned anew: for a
 * transaction pooler that does not support prepared statements.
 */
export const sendUnnamed = (pool: pg.Pool): void => {
  unnamed.add(pool);
  pool.on('connect', (client) => unnamed.add(client));
};

/** Runs a statement. The caller names the row's shape: it is the list of columns in the text. */
export const run = <Found extends object>(
  runner: Runner,
  statement: Statement,
  values: readonly unknown[],
): Promise<Found[]> => {
  if (!currentSpan()) return send<Found>(runner, statement, values);
  return spanned(spanOf(statement), async (span) => {
    const rows = await send<Found>(runner, statement, values);
    span?.note({ 'db.response.returned_rows': rows.length });
    return rows;
  });
};

/** The span of a statement: neither values nor rows, which may be personal data. */
export const spanOf = ({ name }: Pick<Statement, 'name'>): SpanStart => ({
  kind: 'client',
  name: `sql ${name}`,
  values: { 'db.system.name': 'postgresql', 'db.query.summary': name },
});

const send = async <Found extends object>(
  runner: Runner,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Found[]> => {
  const query: pg.QueryConfig = {
    ...(unnamed.has(runner) ? {} : { name }),
    text,
    values: values.map(parameter),
    types,
  };
  const { rows } = await (runner instanceof pg.Pool
    ? inTurn(() => queryPool<Found>(runner, query))
    : runner.query<Found>(query));
  return rows;
};

/**
 * Sends a query on a connection of the pool. When PostgreSQL refuses it, its transaction is over
 * and its locks are released before this rejects: PostgreSQL reports the error earlier. The
 * connection is kept; the pool's own `query` would end it.
 */
const queryPool = async <Found extends object>(
  pool: pg.Pool,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Found>> => {
  const client = await pool.connect();
  try {
    const result = await client.query<Found>(query);
    client.release();
    return result;
  } catch (error) {
    const over = error instanceof pg.DatabaseError ? client.query('') : Promise.reject(error);
    await releaseFailed(client, error, over);
    throw error;
  }
};

/**
 * PostgreSQL's error codes for a statement that this connection can no longer run: its plan is
 * older than a table, or a pooler does not have it. A new connection plans it anew.
 */
const staleStates: ReadonlySet<string> = new Set(['0A000', '26000']);

/**
 * Releases a client on which something failed, when that is over; one on which the end fails, too,
 * is in an unknown state and is thrown away.
 */
const releaseFailed = (
  client: pg.PoolClient,
  error: unknown,
  over: Promise<unknown>,
): Promise<void> =>
  over.then(
    () => client.release(staleStates.has(errorCode(error))),
    () => client.release(true),
  );

/**
 * Begins or ends a transaction: a commit may take longer than everything that it commits. Watchers
 * of lists are notified of committed changes.
 */
export const sendCommand = async (
  client: pg.PoolClient,
  command: 'begin' | 'commit' | 'rollback',
): Promise<void> => {
  await spanned(
    { kind: 'client', name: `sql ${command}`, values: { 'db.system.name': 'postgresql' } },
    () => client.query(command),
  );
  if (command !== 'begin') endListChanges(client, command === 'commit');
};

/**
 * Runs `work` in one transaction on one client; rolls back when it throws, and when `keep` returns
 * false for its result. A refusal leaves nothing behind, unless `keep` is another.
 */
export const inTransaction = async <Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  keep: (result: Result) => boolean = (result) => !isRefusal(result),
): Promise<Result> => {
  const client = await pool.connect();
  try {
    await sendCommand(client, 'begin');
    const result = await work(client);
    await sendCommand(client, keep(result) ? 'commit' : 'rollback');
    client.release();
    return result;
  } catch (error) {
    await releaseFailed(client, error, sendCommand(client, 'rollback'));
    throw error;
  }
};

const snakes = new Map<string, string>();

/** The column of a property; read for every column of every row that is sent as JSON. */
const snake = (name: string): string => {
  const known = snakes.get(name);
  if (known !== undefined) return known;
  const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakes.set(name, column);
  return column;
};

/** `public_id as "publicId", ...` for a list of property names, with an optional table alias. */
export const columns = (names: readonly string[], alias?: string): string =>
  names.map((name) => `${alias ? `${alias}.` : ''}${snake(name)} as "${name}"`).join(', ');

/** The same names as plain columns, for an insert. */
export const columnNames = (names: readonly string[]): string => names.map(snake).join(', ');

/** The property names of an entity, in the order of its definition: what `columns` takes. */
export const propertyNames = (entity: {
  readonly meta: { readonly properties: object };
}): readonly string[] => Object.keys(entity.meta.properties);

/**
 * A row as JSON for `jsonb_populate_recordset`: its properties under their columns, with bigint and
 * moments as PostgreSQL reads them.
 */
export const asRow = (properties: object): object =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [snake(name), parameter(value)]),
  );

/** The same of the named properties; null where the row has none. */
export const rowJson = (names: readonly string[], row: object): object => {
  const values = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(
    names.map((name) => [snake(name), parameter(values.get(name) ?? null)]),
  );
};

/** PostgreSQL's lock_not_available: the statement reached its lock timeout. */
export const isLockTimeout = (error: unknown): boolean => errorCode(error) === '55P03';

/** The same batch; one call is `left` when a row stays locked for longer than a batch waits. */
export const unlessHeld =
  <Call, Result>(batch: (pool: pg.Pool, calls: readonly Call[]) => Promise<readonly Result[]>) =>
  async (pool: pg.Pool, calls: readonly Call[]): Promise<readonly (Result | 'left')[]> => {
    try {
      return await batch(pool, calls);
    } catch (error) {
      if (calls.length === 1 && isLockTimeout(error)) return ['left'];
      throw error;
    }
  };

// Ids of rows that come in large numbers: payments and their rows, events, postings, deliveries.
// They have the form of a UUIDv4. The first 48 bits are the time, so that the rows of one moment
// share the pages of an index; the other 74 bits are random. Do not use them for ids that grant
// access (a link, a session, a secret).

/** A new id; `at_ms` is the machine's time in milliseconds since 1970, never a test clock's. */
export const newRowId = (at_ms: number = Date.now()): string => {
  const time = at_ms.toString(16).padStart(12, '0');
  // Joined, for the reason that `rfc3339` has.
  return [time.slice(0, 8), time.slice(8), randomUUID().slice(14)].join('-');
};

/** An id that follows from a text: a UUIDv8 of its SHA-256. */
export const idFrom = (text: string): string =>
  hash('sha256', text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
