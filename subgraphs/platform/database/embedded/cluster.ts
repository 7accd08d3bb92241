/**
 * The cluster: PostgreSQL's own directory with its files and the password. It appears whole, by a
 * rename, or not at all.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { explain, wordsOf } from './explain.ts';
import { type Programs, hasName, plainEnvironment, type Owner } from './programs.ts';

export const superuser = 'payments';
const passwordFile = 'service-password';

/**
 * The path by which programs that run as `owner` name their working directory. The owner may not be
 * allowed to walk there from the root (DATA_DIR in a home directory of mode 0700); the kernel opens
 * this link without a permission check, and children inherit it.
 */
export const ownDirectory = (directory: string, owner: Owner | null): string =>
  owner !== null && process.platform === 'linux' ? '/proc/self/cwd' : directory;

/** The superuser's password, which was made with the cluster. */
export const readPassword = (cluster: string): string => {
  try {
    return readFileSync(join(cluster, passwordFile), 'utf8').trim();
  } catch (error) {
    throw explain(
      'The password of the embedded PostgreSQL cannot be read',
      cluster,
      wordsOf(error),
    );
  }
};

/** What it takes to make a cluster. */
interface NewCluster {
  readonly directory: string;
  readonly programs: Programs;
  readonly owner: Owner | null;
  readonly progress: (text: string) => void;
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Creates the cluster unless it exists. Removes what an interrupted initdb has left and starts
 * again: a cluster gets its name by a rename once it is complete. When `stopping` fires meanwhile,
 * initdb is ended, its files are removed, and the reason is thrown.
 */
export const ensureCluster = async ({
  directory: cluster,
  programs,
  owner,
  progress,
  stopping,
}: NewCluster): Promise<void> => {
  removeUnfinished(cluster);
  if (existsSync(join(cluster, 'PG_VERSION')) && existsSync(join(cluster, passwordFile)))
    return handOver(cluster, owner);
  if (existsSync(cluster))
    throw explain(
      'This directory is not a complete PostgreSQL cluster',
      cluster,
      'Move it away, or set DATA_DIR to another directory.',
    );
  progress('making a new PostgreSQL cluster');
  const draft = mkdtempSync(`${cluster}.unfinished-`);
  const password = `${draft}.password`;
  writeFileSync(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  chmodSync(draft, 0o700);
  if (owner) for (const path of [draft, password]) chownSync(path, owner.uid, owner.gid);
  try {
    await runInitdb(draft, password, { programs, owner, stopping });
  } catch (error) {
    removeUnfinished(cluster);
    stopping?.throwIfAborted();
    throw error;
  }
  renameSync(password, join(draft, passwordFile));
  renameSync(draft, cluster);
};

const removeUnfinished = (cluster: string): void => {
  for (const name of readdirSync(dirname(cluster))) {
    if (!name.startsWith(`${basename(cluster)}.unfinished-`)) continue;
    try {
      rmSync(join(dirname(cluster), name), { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // An initdb whose service was killed may still be writing there; the next start tries again.
    }
  }
};

// A copy that root made of a cluster belongs to root, and PostgreSQL insists on owning its files.
const handOver = (cluster: string, owner: Owner | null): void => {
  if (owner === null || statSync(cluster).uid === owner.uid) return;
  for (const name of readdirSync(cluster, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(cluster, name), owner.uid, owner.gid);
  lchownSync(cluster, owner.uid, owner.gid);
};

type Making = Pick<NewCluster, 'programs' | 'owner' | 'stopping'>;

const runInitdb = async (
  draft: string,
  password: string,
  { programs, owner, stopping }: Making,
): Promise<void> => {
  // We open it and pass it on, because its owner may not be able to walk to it either.
  const handle = openSync(password, 'r');
  const options = [
    `--pgdata=${ownDirectory(draft, owner)}`,
    `--username=${superuser}`,
    `--pwfile=${owner ? '/dev/fd/3' : password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
  ];
  const [program, ...args] = [...nameFor(owner), programs.initdb, ...options];
  try {
    const output = await run(program, args, { draft, handle, owner, stopping });
    if (output !== null)
      throw explain(
        'PostgreSQL could not make its cluster',
        dirname(draft),
        output.replace(noBorrowedName, namelessUser),
      );
  } finally {
    closeSync(handle);
  }
};

const noBorrowedName = /^.*\bunshare\b.*$/m;
const namelessUser = 'initdb: could not look up effective user ID';

// initdb refuses a user id that has no name. Where the kernel allows it, initdb sees itself as the
// user `nobody`; the files still get the real user id.
const nameFor = (owner: Owner | null): readonly [string, ...string[]] | readonly [] => {
  const uid = owner?.uid ?? process.getuid?.();
  return uid === undefined || process.platform !== 'linux' || hasName(uid)
    ? []
    : ['unshare', '--user', '--map-user=65534', '--map-group=65534'];
};

const hasGroups = process.platform !== 'win32';

type Running = Pick<NewCluster, 'owner' | 'stopping'> & {
  readonly draft: string;
  readonly handle: number;
};

// Null on success, else its output. It leads its own process group: only we pass Ctrl-C on to it
// and to its children.
const run = (
  program: string,
  args: readonly string[],
  { draft, handle, owner, stopping }: Running,
): Promise<string | null> =>
  new Promise((resolve) => {
    let output = '';
    const child = spawn(program, args, {
      cwd: draft,
      env: plainEnvironment,
      stdio: ['ignore', 'pipe', 'pipe', handle],
      detached: hasGroups,
      ...owner,
    });
    const kill = (): void => killGroup(child);
    stopping?.addEventListener('abort', kill);
    process.once('exit', kill);
    const end = (answer: string | null): void => {
      stopping?.removeEventListener('abort', kill);
      process.off('exit', kill);
      resolve(answer);
    };
    if (stopping?.aborted) kill();
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => (output += text.toString()));
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) =>
      end(code === 0 ? null : output || `initdb ended with ${signal ?? code}`),
    );
  });

const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(hasGroups ? -child.pid : child.pid, 'SIGKILL');
  } catch {
    // It has ended in between.
  }
};
