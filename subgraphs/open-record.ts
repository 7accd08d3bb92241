/** Opens and migrates PostgreSQL when a process starts. */
import { isSharded } from './platform/database/sql-file.ts';
import { migrateQueues } from './platform/queue/queue-stores.ts';
import type { Config } from './platform/config/config.ts';
import { runStep } from './platform/http/stop-requests.ts';
import { migrate, openDatabase, type Database, refuseOldServer } from './platform/database/orm.ts';

/** Progress while starting. */
export type Progress = (text: string) => void;

/** The arguments of every start step. */
export interface Start {
  /** Closes what was opened. */
  readonly stack: AsyncDisposableStack;
  readonly progress: Progress;
  /** Aborted when the process must stop: the start ends with its reason. */
  readonly stopping: AbortSignal;
}

/** The database of this process. */
export interface RecordStore {
  /** Of PostgreSQL itself, past any pooler. */
  readonly url: string;
  readonly database: Database;
}

type RecordConfig = Pick<
  Config,
  'databaseDirectUrl' | 'databasePool' | 'namedStatements' | 'redisUrl'
> & { readonly databaseUrl: string };
type Entities = Parameters<typeof openDatabase>[0]['entities'];

/** Opens the database after checking its version. Does not migrate. */
export const openRecord = async (
  config: RecordConfig,
  entities: Entities,
  { stack, stopping }: Pick<Start, 'stack' | 'stopping'>,
): Promise<RecordStore> => {
  const { databaseUrl: url, databaseDirectUrl: directUrl, namedStatements } = config;
  const database = await runStep(stopping, () =>
    openDatabase({ url, entities, pool: config.databasePool, directUrl, namedStatements }),
  );
  stack.defer(() => database.close());
  await runStep(stopping, () => refuseOldServer(directUrl ?? url));
  // A transaction that checked first would need a second connection.
  await runStep(stopping, () => isSharded(database.pool));
  return { url: directUrl ?? url, database };
};

/** One connection for the migration's transaction, one for statements that cannot run in it. */
const migrationPool = 2;

/**
 * Applies the migrations on direct connections to PostgreSQL: their locks and settings belong to
 * sessions. Returns their names.
 */
const migrateDirectly = async (
  { url, database }: RecordStore,
  entities: Entities,
): Promise<readonly string[]> => {
  if (url === database.url) return migrate(database);
  const direct = await openDatabase({ url, entities, pool: migrationPool });
  try {
    return await migrate(direct);
  } finally {
    await direct.close();
  }
};

/** Brings the database and the queues' tables up to date. */
export const migrateAll = async (
  config: RecordConfig,
  entities: Entities,
  record: RecordStore,
  { progress, stopping }: Start,
): Promise<void> => {
  progress('Migrations ...');
  const applied = await runStep(stopping, () => migrateDirectly(record, entities));
  if (config.redisUrl === null) await runStep(stopping, () => migrateQueues(record.url));
  progress(
    applied.length === 0
      ? 'Migrations: up to date'
      : `Migrations: applied ${applied.length > 3 ? `${applied.length}, the last ${applied.at(-1)}` : applied.join(', ')}`,
  );
};
