/** The running server: find it by its pid file, start it, wait for it, end it. */
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
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ownDirectory, superuser } from './cluster.ts';
import { explain } from './explain.ts';
import { freePort } from './free-port.ts';
import { plainEnvironment, type Owner } from './owner.ts';
import type { Programs } from './programs.ts';
import { commandLine } from './running-process.ts';

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** Everything that it takes to start the server of one cluster. */
export interface Cluster {
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
export const databaseUrl = (cluster: Cluster, port: number, database: string): string =>
  `postgres://${superuser}:${cluster.password}@127.0.0.1:${port}/${database}`;

/** Whether this very server still runs: a recycled pid and a zombie process do not count. */
export const isRunning = ({ pid, port }: Postmaster): boolean => {
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
export const ensureRunning = async (
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
  while (lives()) {
    const client = new pg.Client({
      connectionString: databaseUrl(cluster, port, 'postgres'),
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return true;
    } catch (error) {
      // Neither time nor patience makes a wrong password right.
      if (error instanceof pg.DatabaseError && error.code === '28P01')
        throw explain('PostgreSQL did not let us in', cluster.directory, error.message);
    } finally {
      await client.end().catch(() => {});
    }
    await delay(look_ms);
  }
  return false;
};

/**
 * Ends the server: sessions are cut off, committed work is safe. After 5 s it is killed, and the
 * next start recovers.
 */
export const shutDown = async (postmaster: Postmaster): Promise<void> => {
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
export const shutDownNow = (postmaster: Postmaster): void => {
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
