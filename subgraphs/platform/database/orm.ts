/**
 * MikroORM on PostgreSQL: entities, migrations, queries and locks; and its pool for the statements
 * written by hand.
 */
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  MikroORM,
  type EntityManager,
  type EntitySchema,
  UnderscoreNamingStrategy,
  type Transaction,
} from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import pg from 'pg';
import { watchGauges } from '../tracing/telemetry.ts';
import { lazilyOf } from '../graph/lazily.ts';
import { refuseUnrecorded } from './audited.ts';
import { expectLargeMerchants, makePartitions } from './maintain-tables.ts';
import { dialectOver, knowManager } from './orm-connections.ts';
import { knowClients, onOwnClient } from './pool-of.ts';
import { makeShardFunctions } from './sql-file.ts';
import { sendUnnamed, isLockTimeout } from './statement.ts';

/*
 * Migrations on a running service. Each is its own transaction. A migration that does not get a
 * lock at once gives way, so that other sessions do not wait behind it for long, and starts again.
 */

/** How long a migration waits for a lock, and how long one of its statements may take. */
export const migrationLock_ms = 1_000;
const migrationStatement_ms = 60_000;
/** How often a migration that did not get its locks starts again, and the delay before it. */
const lockTries_max = 60;
const lockRest_ms = 1_000;

/**
 * Applies the missing migrations; returns their names. The caller ensures that no other process
 * migrates meanwhile.
 */
const applyMigrations = async (orm: MikroORM): Promise<readonly string[]> => {
  const pending = await orm.migrator.getPending();
  for (const { name } of pending) await applyPatiently(orm, name, lockTries_max);
  return pending.map(({ name }) => name);
};

const applyPatiently = async (orm: MikroORM, name: string, tries: number): Promise<void> => {
  try {
    await apply(orm, name);
  } catch (error) {
    if (!isLockTimeout(error) || tries <= 1) throw error;
    await sleep(lockRest_ms);
    await applyPatiently(orm, name, tries - 1);
  }
};

// Statements that cannot run in a transaction (an index made concurrently) run on another
// connection, without these limits: they block no other session.
const apply = (orm: MikroORM, name: string): Promise<unknown> =>
  orm.em.fork().transactional(async (em) => {
    await em.execute(
      `select set_config('lock_timeout', '${migrationLock_ms}', true), set_config('statement_timeout', '${migrationStatement_ms}', true)`,
    );
    await orm.migrator.up({
      migrations: [name],
      transaction: em.getTransactionContext<Transaction<object>>(),
    });
  });

export interface Database {
  readonly orm: MikroORM;
  /** The pool of the ORM and of the statements written by hand. */
  readonly pool: pg.Pool;
  /**
   * Connections that are real PostgreSQL sessions, for locks that outlive a transaction. They have
   * their own pool: the holder of a lock works on connections of `pool`.
   */
  readonly sessions: pg.Pool;
  readonly url: string;
  /** An entity manager with an identity map of its own. */
  fork(): EntityManager;
  /** The entity manager of a call, made when the call first needs it: one for each context. */
  emOf(call: object): EntityManager;
  close(): Promise<void>;
}

/** What works with these parts of the database alone. */
export interface OnDatabase<Parts extends keyof Database> {
  readonly database: Pick<Database, Parts>;
}

interface DatabaseOptions {
  readonly url: string;
  readonly entities: readonly EntitySchema[];
  /** Connections at most. */
  readonly pool: number;
  /** Address that bypasses a transaction pooler. Absent: `url` is PostgreSQL itself. */
  readonly directUrl?: string | null;
  /** False: the pooler does not support prepared statements. */
  readonly namedStatements?: boolean;
}

/** The relay has one, and so has each of the five test clocks that a process holds at a time. */
const sessions_max = 6;

/**
 * One plan of each statement serves all values. A plan for the values of a merchant whose rows are
 * newer than the statistics of a table expects none of them, and walks them all: after 30,000
 * creates of a new merchant its payments took twice as long, and a claim of its webhooks ten times.
 * Citus chooses the shard by the values.
 */
const planForAllValues = `select set_config('plan_cache_mode', 'force_generic_plan', false)
  where not exists (select from pg_extension where extname = 'citus')`;

/**
 * How long an unused connection stays. A new one reads the catalog and plans each statement anew,
 * 0.1 s of CPU and more, which the next buyer would wait for.
 */
const idle_ms = 600_000;
/** Networks forget a silent connection after some minutes. */
const keepAlive_ms = 30_000;

const openPool = (options: pg.PoolConfig): pg.Pool => {
  // The pool waits for it, whatever its type says.
  const onConnect = (client: pg.ClientBase): unknown => client.query(planForAllValues);
  const pool = new pg.Pool({
    ...options,
    idleTimeoutMillis: idle_ms,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAlive_ms,
    onConnect,
  });
  // The next statement on a held connection detects its loss; a lost idle connection is replaced.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  knowClients(pool);
  return pool;
};

/** The ORM itself converts time values, from the texts that PostgreSQL writes. */
const ormTypes = (): pg.CustomTypesConfig => {
  const { DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL } = pg.types.builtins;
  const types = new pg.TypeOverrides();
  for (const oid of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL])
    types.setTypeParser(oid, (text: string) => text);
  return types;
};

const watched = new Set<pg.Pool>();

const sum = (count: (pool: pg.Pool) => number): number =>
  watched.values().reduce((total, pool) => total + count(pool), 0);

watchGauges(
  {
    name: 'database_pool_connections',
    help: 'PostgreSQL connections of this process by state: busy, idle, or available to open.',
    labelNames: ['state'],
    collect() {
      const open = sum(({ totalCount }) => totalCount);
      const idle = sum(({ idleCount }) => idleCount);
      this.set({ state: 'busy' }, open - idle);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'unmade' }, sum(({ options }) => options.max) - open);
    },
  },
  {
    name: 'database_pool_waiting',
    help: 'Calls in this process that are waiting for a PostgreSQL connection.',
    collect() {
      this.set(sum(({ waitingCount }) => waitingCount));
    },
  },
);

/** Connects to the database. Does not migrate: see `migrate`. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const migrations = fileURLToPath(new URL('./migrations', import.meta.url));
  const { url, directUrl } = options;
  const pool = openPool({ connectionString: url, max: options.pool, types: ormTypes() });
  if (options.namedStatements === false) sendUnnamed(pool);
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...options.entities],
    namingStrategy: UnderscoreNamingStrategy,
    forceUtcTimezone: true,
    extensions: [Migrator],
    subscribers: [refuseUnrecorded],
    driverOptions: () => dialectOver(pool),
    migrations: {
      path: migrations,
      pathTs: migrations,
      emit: 'ts',
      snapshot: false,
      disableForeignKeys: false,
      allOrNothing: true,
      silent: true,
    },
    schemaGenerator: {
      disableForeignKeys: false,
      ignoreSchema: ['bullmq', 'partitions'],
      // Functions are written by hand, in migrations.
      ignoreRoutines: true,
    },
  });
  knowManager(pool, orm.em);
  const sessions = openPool({ connectionString: directUrl ?? url, max: sessions_max });
  watched.add(pool);
  const close = async (): Promise<void> => {
    watched.delete(pool);
    await sessions.end();
    await orm.close(true);
    await pool.end();
  };
  const fork = (): EntityManager => orm.em.fork();
  return { orm, pool, sessions, url, fork, emOf: lazilyOf(fork), close };
};

/**
 * Applies the missing migrations on a running service. Safe to run in several processes at once: an
 * advisory lock admits one at a time. Returns the names applied.
 */
export const migrate = ({ orm, pool, url }: Database): Promise<readonly string[]> =>
  // A session outside the pool, which may have two connections only: a migration needs one for its
  // transaction and another for its other statements. The lock ends with its session.
  onOwnClient({ connectionString: url }, async (client) => {
    await client.query("select pg_advisory_lock(hashtext('payment-service/migrate'))");
    const applied = await applyMigrations(orm);
    await makePartitions(pool, Temporal.Now.instant());
    await makeShardFunctions(client);
    await expectLargeMerchants(client);
    return applied;
  });

/** Whether the database has every migration that this program knows. */
export const isMigrated = async (database: Database): Promise<boolean> =>
  (await database.orm.migrator.getPending()).length === 0;

/** The oldest version on which the tests have passed. */
const serverVersion_min = 15;
/** Time limit for an unreachable server. */
const patience_ms = 3_000;

const askVersion = (url: string): Promise<number | null> => {
  const waiting = { connectionTimeoutMillis: patience_ms, query_timeout: patience_ms };
  return onOwnClient({ connectionString: url, ...waiting }, async (client) => {
    const { rows } = await client.query<{ number: number }>(
      "select current_setting('server_version_num')::int as number",
    );
    return Math.floor((rows[0]?.number ?? 0) / 10_000);
  }).catch(() => null);
};

/**
 * Throws one readable sentence when the server is too old: it would accept the migrations and fail
 * later, in the middle of a payment. A server that does not answer is not too old; its callers
 * continue to wait.
 */
export const refuseOldServer = async (url: string): Promise<void> => {
  const version = await askVersion(url);
  if (version !== null && version < serverVersion_min)
    throw new Error(
      `DATABASE_URL leads to PostgreSQL ${version}: the service needs PostgreSQL ${serverVersion_min} or later.`,
    );
};
