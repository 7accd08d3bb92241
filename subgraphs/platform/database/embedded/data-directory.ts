/**
 * DATA_DIR: created when missing, tested before anything is stored there, and one service per
 * directory: a lock file names its holder. Another service takes it over when that
 * process is gone.
 */
import { randomBytes } from 'node:crypto';
import {
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  existsSync,
  mkdirSync,
  statSync,
} from 'node:fs';
import { join, dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { spawnSync } from 'node:child_process';
import { errorCode } from '../../tracing/error-code.ts';
import { adviceFor, wordsOf } from './explain.ts';

/*
 * What the system knows of another process. A pid alone proves nothing: the system reuses it, in
 * containers within seconds.
 */

const proc = existsSync('/proc/self/stat');

const readProc = (path: string): string | null => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return null;
  }
};

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
};

const askPs = (pid: number, column: 'lstart' | 'command'): string | null => {
  if (!alive(pid)) return null;
  // Windows has no ps: there a living pid has to be enough.
  if (process.platform === 'win32') return '';
  const answer = spawnSync('ps', ['-o', `${column}=`, '-p', `${pid}`], { encoding: 'utf8' });
  return answer.stdout?.trim() || null;
};

/**
 * A text unique to this process (its start time, on this boot of the machine), or null when there
 * is no such process. A zombie counts as gone.
 */
export const processStart = (pid: number): string | null => {
  if (!proc) return askPs(pid, 'lstart');
  const stat = readProc(`${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in brackets and may itself hold spaces and brackets;
  // state and start time are 3rd and 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${fields[19]} ${readProc('sys/kernel/random/boot_id')?.trim()}`;
};

/**
 * The arguments of a living program's command line, empty on a system that does not show them; null
 * when there is no such process.
 */
export const commandLine = (pid: number): readonly string[] | null => {
  if (!proc) return askPs(pid, 'command')?.split(' ').filter(Boolean) ?? null;
  if (processStart(pid) === null) return null;
  // The kernel's own threads, and a process on its way out, have none.
  const words = readProc(`${pid}/cmdline`)?.split('\0').filter(Boolean) ?? [];
  return words.length > 0 ? words : null;
};

const lockFile = 'service.lock';
const look_ms = 50;

export interface Handover {
  /**
   * How long another living service on the same directory may take to finish, 12 s unless given: it
   * may be draining after its terminal was killed.
   */
  readonly handover_ms?: number;
  /** Receives what takes long or went wrong, as text for a person. */
  readonly progress: (text: string) => void;
  /** Ends the wait: its reason is thrown. */
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Resolves when no living service holds DATA_DIR. Rejects with a readable message after waiting
 * `handover_ms`. Writes nothing.
 */
export const untilReleased = async (
  dataDir: string,
  { handover_ms = 12_000, progress, stopping }: Handover,
): Promise<void> => {
  const path = join(dataDir, lockFile);
  const deadline = performance.now() + handover_ms;
  let announced = false;
  for (let holder = read(path); holder !== null && holds(holder); holder = read(path)) {
    stopping?.throwIfAborted();
    if (performance.now() >= deadline) throw new Error(refusal(dataDir, holder));
    if (!announced)
      progress(
        `${dataDir} is in use by the service with process id ${Number.parseInt(holder)}; waiting for it to finish`,
      );
    announced = true;
    await delay(look_ms);
  }
};

/**
 * Takes DATA_DIR for this process, after `untilReleased`, and returns the function that releases it.
 */
export const claimDirectory = async (dataDir: string, handover: Handover): Promise<() => void> => {
  const path = join(dataDir, lockFile);
  const claim = `${process.pid} ${processStart(process.pid)}\n`;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, claim, { mode: 0o644 });
  try {
    while (!linked(draft, path)) {
      const holder = read(path);
      if (holder !== null && !holds(holder)) removeStale(path, holder);
      else await untilReleased(dataDir, handover);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (read(path) === claim) rmSync(path, { force: true });
  };
};

const refusal = (dataDir: string, holder: string): string =>
  `${dataDir} is in use by the service with process id ${Number.parseInt(holder)}. Stop that service, or set another DATA_DIR for this one.`;

const holds = (holder: string): boolean => {
  const [pid, ...mark] = holder.trim().split(' ');
  return processStart(Number(pid)) === mark.join(' ');
};

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

// A link appears together with its content, so a reader never sees half a claim.
const linked = (draft: string, path: string): boolean => {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
};

// Two services may find the same stale lock; the slower one must not remove the claim that the
// faster one has just made.
const removeStale = (path: string, stale: string): void => {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (read(aside) !== stale) linked(aside, path);
  rmSync(aside, { force: true });
};

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Makes a directory, readable by its owner alone, and its missing parents. Node's own `recursive`
 * never returns where the kernel answers ENOENT below an existing directory (/proc).
 */
const makeDirectory = (path: string): void => {
  if (isDirectory(path)) return;
  const above = dirname(path);
  if (above !== path) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(path)) throw error;
  }
};

/**
 * Makes DATA_DIR and tries to write there. Throws one sentence for a person when that cannot be
 * done.
 */
export const ensureWritable = (dataDir: string): void => {
  const directory = resolve(dataDir);
  const trial = join(directory, `.trial-${randomBytes(6).toString('hex')}`);
  try {
    makeDirectory(directory);
    writeFileSync(trial, '', { flag: 'wx' });
    rmSync(trial);
  } catch (error) {
    const advice =
      adviceFor(wordsOf(error)) ?? 'Set DATA_DIR to a directory that can be written to.';
    throw new Error(
      `The data directory ${directory} cannot be used (${codeOf(error)}). ${advice}`,
      { cause: error },
    );
  }
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : wordsOf(error);

// Secrets that an embedded installation creates for itself and stores next to its data, readable by
// its owner alone.

/**
 * The text stored in `<dataDir>/<name>`; `make` creates it when there is none. A crash leaves
 * either no text or a complete one.
 */
const kept = (dataDir: string, name: string, make: () => string): string => {
  const path = join(dataDir, name);
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  makeDirectory(resolve(dataDir));
  const made = make();
  writeFileSync(`${path}.new`, `${made}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
};

/** The secret key of this data directory, 32 bytes. */
export const localSecretKey = (dataDir: string): Buffer =>
  Buffer.from(
    kept(dataDir, 'secret-key', () => randomBytes(32).toString('base64')),
    'base64',
  );

export const localOperatorToken = (dataDir: string): string =>
  kept(dataDir, 'operator-token', () => `op_${randomBytes(24).toString('base64url')}`);
