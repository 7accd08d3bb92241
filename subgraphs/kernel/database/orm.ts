/** MikroORM on PostgreSQL: entities, migrations, queries and locks; and its pool for the statements written by hand. */
import { fileURLToPath } from 'node:url';
import { MikroORM, type EntityManager, type EntitySchema, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { applyMigrations } from './migrate.ts';
import type pg from 'pg';

export interface Database {
  readonly orm: MikroORM;
  /** The ORM's own pool. */
  readonly pool: pg.Pool;
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
}

/** Connects to the database. Nothing is migrated: see `migrate`. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const migrations = fileURLToPath(new URL('./migrations', import.meta.url));
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: [...options.entities],
    namingStrategy: UnderscoreNamingStrategy,
    forceUtcTimezone: true,
    extensions: [Migrator],
    pool: { min: 0, max: options.pool },
    migrations: { path: migrations, pathTs: migrations, emit: 'ts', snapshot: false, disableForeignKeys: false, allOrNothing: true, silent: true },
    schemaGenerator: { disableForeignKeys: false, ignoreSchema: ['bullmq'] },
  });
  const pool = await orm.em.getConnection().getNativeClient();
  return { orm, pool, url: options.url, fork: () => orm.em.fork(), close: () => orm.close(true) };
};

/** Applies what is missing, beside a running service. Safe to run in several processes at once: an advisory lock lets one through at a time. Returns the names applied. */
export const migrate = async (database: Database): Promise<readonly string[]> => {
  const client = await database.pool.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext('payment-service/migrate'))");
    return await applyMigrations(database.orm);
  } finally {
    await client.query("select pg_advisory_unlock(hashtext('payment-service/migrate'))");
    client.release();
  }
};

/** Whether the database has every migration that this program knows. */
export const isMigrated = async (database: Database): Promise<boolean> => (await database.orm.migrator.getPending()).length === 0;
