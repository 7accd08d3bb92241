/**
 * The ORM's way to PostgreSQL: through the pool of the handwritten statements, with the same
 * tracing. A transaction of the ORM holds one of the pool's clients; `clientOf` returns it, so both
 * ways of writing share the transaction.
 */
import {
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  type QueryResult,
  Transaction,
} from 'kysely';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { currentSpan, spanned } from '../tracing/telemetry.ts';
import { inTurn } from '../access/lane.ts';
import { poolOf } from './pool-of.ts';
import { sendCommand, spanOf, type Runner } from './statement.ts';

/** Commands that PostgreSQL counts rows for. */
const writes: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** The beginnings of statements, in which no values stand. */
const statementForm =
  /^(?:(?<verb>insert) into|(?<verb>update)|(?<verb>delete) from|(?<verb>select) .*?\bfrom) "(?<table>\w+)"/s;

/**
 * `<table>.<verb>` of a statement of the ORM, such as `shop.select`. The statement itself cannot be
 * the name: the ORM writes values into it.
 */
const nameOf = (sql: string): string => {
  const { verb, table } = statementForm.exec(sql)?.groups ?? {};
  return verb && table ? `${table}.${verb}` : 'orm.statement';
};

const wrongKind = (): Error => new Error('a connection of the ORM is not one of its own driver');

/** An error as the ORM may have it: the ORM would copy a row's values into its message. */
const withoutRows = (error: unknown): unknown => {
  if (error instanceof pg.DatabaseError) {
    error.detail = undefined;
    error.hint = undefined;
  }
  return error;
};

/**
 * A connection as the ORM holds it. It has a client of the pool in a transaction and during a
 * query; while a query waits for its turn, it has none.
 */
class PoolConnection implements DatabaseConnection {
  readonly #pool: pg.Pool;
  #client: pg.PoolClient | null;
  /** Why the client cannot be used again; undefined while it can. */
  broken: Error | true | undefined;

  constructor(pool: pg.Pool, client: pg.PoolClient | null = null) {
    this.#pool = pool;
    this.#client = client;
  }

  /** The client of the transaction. */
  get client(): pg.PoolClient {
    if (!this.#client) throw new Error('the ORM has begun no transaction on this connection');
    return this.#client;
  }

  async begin(): Promise<void> {
    this.#client = await this.#pool.connect();
    await sendCommand(this.#client, 'begin');
  }

  release(): void {
    this.#client?.release(this.broken);
    this.#client = null;
  }

  async executeQuery<Found>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Found>> {
    if (!currentSpan()) return this.#send<Found>(sql, parameters);
    return spanned(spanOf({ name: nameOf(sql) }), async (span) => {
      const result = await this.#send<Found>(sql, parameters);
      span?.note({ 'db.response.returned_rows': result.rows.length });
      return result;
    });
  }

  async #send<Found>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<Found>> {
    // For a text with several statements the package returns a list; the ORM reads nothing from it.
    const result: Partial<pg.QueryResult> = await this.#query(sql, [...parameters]).catch(
      (error: unknown) => Promise.reject(withoutRows(error)),
    );
    const { command = '', rowCount, rows = [] } = result;
    return {
      rows: rows as Found[],
      ...(writes.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}),
    };
  }

  async #query(sql: string, parameters: unknown[]): Promise<pg.QueryResult> {
    if (this.#client) return this.#client.query(sql, parameters);
    return inTurn(async () => {
      const client = await this.#pool.connect();
      return client.query(sql, parameters).finally(() => client.release());
    });
  }

  streamQuery<Found>(): AsyncIterableIterator<QueryResult<Found>> {
    throw new Error('nothing is streamed through the ORM');
  }
}

/** A transaction within another one is a savepoint, as in the driver of the package. */
class PoolDriver extends PostgresDriver {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new PoolConnection(this.#pool);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await clientIn(connection).begin();
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await sendCommand(clientIn(connection).client, 'commit');
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const held = clientIn(connection);
    try {
      await sendCommand(held.client, 'rollback');
    } catch (error) {
      // Its transaction ends with the client, which is thrown away. Kysely releases a connection
      // only after a rollback that did not reject; what failed before is reported anyway.
      held.broken = error instanceof Error ? error : true;
    }
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    clientIn(connection).release();
  }

  /** The opener of the pool closes it. */
  override async destroy(): Promise<void> {}
}

const clientIn = (connection: DatabaseConnection): PoolConnection => {
  if (!(connection instanceof PoolConnection)) throw wrongKind();
  return connection;
};

/** How the ORM reaches PostgreSQL through a pool. */
export const dialectOver = (pool: pg.Pool): Dialect => ({
  createDriver: () => new PoolDriver(pool),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
});

const managers = new WeakMap<pg.Pool, EntityManager>();

/** Has `emOn` find the ORM of a pool. */
export const knowManager = (pool: pg.Pool, em: EntityManager): void => void managers.set(pool, em);

/**
 * An entity manager on what runs statements: on a pool, or in the transaction that a client of it
 * holds. It tracks no entity: write with `insert`, `nativeUpdate` and `nativeDelete`.
 */
export const emOn = (runner: Runner): EntityManager => {
  const pool = runner instanceof pg.Pool ? runner : poolOf(runner);
  const em = pool && managers.get(pool)?.fork();
  if (!em) throw new Error('the ORM does not know the pool');
  if (!(runner instanceof pg.Pool)) {
    const dialect = dialectOver(pool);
    const connection = new PoolConnection(pool, runner);
    const executor = em
      .getConnection()
      .getClient<Kysely<object>>()
      .getExecutor()
      .withConnectionProvider({ provideConnection: (use) => use(connection) });
    const config = { dialect };
    em.setTransactionContext(
      new Transaction<object>({ config, dialect, driver: dialect.createDriver(), executor }),
    );
  }
  return em;
};

/** Locks the found row against changes until the transaction ends. */
export const forUpdate = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
/** The same, under a lock that others may share. */
export const forShare = { lockMode: LockMode.PESSIMISTIC_READ } as const;

/**
 * The client of the ORM's current transaction, for statements written by hand that take part in it.
 * Throws outside of one. What is changed in entities must be flushed first if they are to see it.
 */
export const clientOf = async (em: EntityManager): Promise<pg.PoolClient> => {
  const transaction = em.getTransactionContext<Transaction<object>>();
  if (!transaction) throw new Error('there is no transaction whose client could be given');
  return transaction
    .getExecutor()
    .provideConnection(async (connection) => clientIn(connection).client);
};
