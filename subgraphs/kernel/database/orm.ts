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
import { makePartitions } from './partitions.ts';
import { refuseUnrecorded } from './audited.ts';
import { applyMigrations } from './migrate.ts';
import { dialectOver } from './orm-connections.ts';
import pg from 'pg';
import { knowClients } from './pool-of.ts';
import { watchPool } from './watch-pool.ts';
import { sendUnnamed } from './statement.ts';

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

export interface DatabaseOptions {
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

const openPool = (options: pg.PoolConfig): pg.Pool => {
  const pool = new pg.Pool(options);
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
  const sessions = openPool({
    connectionString: directUrl ?? url,
    max: sessions_max,
    keepAlive: true,
  });
  const forget = watchPool(pool);
  const managers = new WeakMap<object, EntityManager>();
  const emOf = (call: object): EntityManager => {
    const em = managers.get(call) ?? orm.em.fork();
    managers.set(call, em);
    return em;
  };
  const close = async (): Promise<void> => {
    forget();
    await sessions.end();
    await orm.close(true);
    await pool.end();
  };
  return { orm, pool, sessions, url, fork: () => orm.em.fork(), emOf, close };
};

/**
 * Applies the missing migrations on a running service. Safe to run in several processes at once: an
 * advisory lock admits one at a time. Returns the names applied.
 */
export const migrate = async (database: Database): Promise<readonly string[]> => {
  // A session outside the pool, which may have two connections only: a migration needs one for its
  // transaction and another for its other statements.
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
