/**
 * MikroORM on PostgreSQL: entities, migrations, queries and locks; and its pool for the statements
 * written by hand.
 */
import { fileURLToPath } from 'node:url';
import {
  MikroORM,
  type EntityManager,
  type EntitySchema,
  UnderscoreNamingStrategy,
} from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { makePartitions } from '../retention/keep-partitions.ts';
import { applyMigrations } from './migrate.ts';
import pg from 'pg';
import { watchPool } from '../observability/watch-pool.ts';
import { sendUnnamed } from './statement.ts';

export interface Database {
  readonly orm: MikroORM;
  /** The ORM's own pool. */
  readonly pool: pg.Pool;
  /**
   * Connections that are sessions of PostgreSQL itself, for locks that outlive a transaction: the
   * same pool, unless there is a pooler in between.
   */
  readonly sessions: pg.Pool;
  readonly url: string;
  /** An entity manager with an identity map of its own: one per call. */
  fork(): EntityManager;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly entities: readonly EntitySchema[];
  /** Connections at most. */
  readonly pool: number;
  /** Address that leads past a pooler of transactions. Absent: `url` is PostgreSQL itself. */
  readonly directUrl?: string | null;
  /** False: the pooler does not know prepared statements. */
  readonly namedStatements?: boolean;
}

/** The relay has one, and each run of a job that keeps a test clock. */
const sessions_max = 12;

const openSessions = (url: string): pg.Pool => {
  const pool = new pg.Pool({ connectionString: url, max: sessions_max, keepAlive: true });
  // Who holds a session sees by its next statement that it is lost; an idle one is made anew.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
};

/** Connects to the database. Nothing is migrated: see `migrate`. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const migrations = fileURLToPath(new URL('./migrations', import.meta.url));
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: [...options.entities],
    namingStrategy: UnderscoreNamingStrategy,
    forceUtcTimezone: true,
    extensions: [Migrator],
    // Before the first connection is made.
    ...(options.namedStatements === false ? { driverOptions: { onPoolCreated: sendUnnamed } } : {}),
    pool: { min: 0, max: options.pool },
    migrations: {
      path: migrations,
      pathTs: migrations,
      emit: 'ts',
      snapshot: false,
      disableForeignKeys: false,
      allOrNothing: true,
      silent: true,
    },
    schemaGenerator: { disableForeignKeys: false, ignoreSchema: ['bullmq', 'partitions'] },
  });
  const pool = await orm.em.getConnection().getNativeClient();
  const { url, directUrl } = options;
  const sessions = directUrl && directUrl !== url ? openSessions(directUrl) : pool;
  const forget = watchPool(pool);
  const close = async (): Promise<void> => {
    forget();
    if (sessions !== pool) await sessions.end();
    await orm.close(true);
  };
  return { orm, pool, sessions, url, fork: () => orm.em.fork(), close };
};

/**
 * Applies what is missing, beside a running service. Safe to run in several processes at once: an
 * advisory lock lets one through at a time. Returns the names applied.
 */
export const migrate = async (database: Database): Promise<readonly string[]> => {
  // A session beside the pool, which may have two connections only: a migration needs one, and what
  // it does outside of its transaction another.
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext('payment-service/migrate'))");
    const applied = await applyMigrations(database.orm);
    await makePartitions(database.pool, Temporal.Now.instant());
    return applied;
  } finally {
    // The lock ends with its session.
    await client.end();
  }
};

/** Whether the database has every migration that this program knows. */
export const isMigrated = async (database: Database): Promise<boolean> =>
  (await database.orm.migrator.getPending()).length === 0;
