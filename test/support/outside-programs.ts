/**
 * The programs that tests need and npm does not bring: redis-server, HAProxy, PgBouncer, Chromium,
 * Python, PHP, an older PostgreSQL, Patroni and etcd. Taken from PATH, else installed where that is possible.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isLong } from './size.ts';

interface OutsideProgram {
  /** The environment variable that gives the tests its place. */
  readonly variable:
    | 'REDIS_SERVER'
    | 'HAPROXY'
    | 'PGBOUNCER'
    | 'CHROMIUM'
    | 'PYTHON'
    | 'PHP'
    | 'OLDER_POSTGRES'
    | 'PATRONI'
    | 'ETCD';
  readonly names: readonly string[];
  /** Where it is, too, or instead of PATH. */
  readonly folders?: readonly string[];
  /** Of Debian, in the order in which they are tried. */
  readonly packages: readonly string[];
  /** What is not tested without it. */
  readonly half: string;
  /** Only `npm run test:long` needs it. */
  readonly onlyLong?: boolean;
}

const programs: readonly OutsideProgram[] = [
  {
    variable: 'REDIS_SERVER',
    names: ['redis-server'],
    packages: ['redis-server'],
    half: 'everything on Redis: queues, bus, the service as separate processes',
  },
  {
    variable: 'HAPROXY',
    names: ['haproxy'],
    packages: ['haproxy'],
    half: 'the service as a fleet behind a balancer',
  },
  {
    variable: 'PGBOUNCER',
    names: ['pgbouncer'],
    packages: ['pgbouncer'],
    half: 'the service as a fleet behind a pooler',
  },
  {
    variable: 'CHROMIUM',
    // The headless shell is the same engine without the windows of a browser around each page,
    // which take five times the CPU of the page.
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    packages: ['chromium-headless-shell', 'chromium'],
    half: 'the hosted page in a real browser',
  },
  {
    variable: 'PYTHON',
    names: ['python3'],
    packages: ['python3'],
    half: 'the examples and the copyable files for Python',
  },
  {
    variable: 'PHP',
    names: ['php'],
    packages: ['php-cli'],
    half: 'the examples and the copyable files for PHP',
  },
  {
    variable: 'OLDER_POSTGRES',
    names: ['postgres'],
    // Debian has each version in a folder of its own and none in PATH.
    folders: [15, 16, 17].map((version) => `/usr/lib/postgresql/${version}/bin`),
    // Some 50 MB to fetch and 200 MB on the disk, most of it LLVM: not for every `npm test`.
    packages: ['postgresql-15', 'postgresql-17'],
    half: 'the service on an older PostgreSQL',
    onlyLong: true,
  },
  {
    variable: 'PATRONI',
    names: ['patroni'],
    packages: ['patroni'],
    half: 'a standby that Patroni promotes',
    onlyLong: true,
  },
  {
    variable: 'ETCD',
    names: ['etcd'],
    packages: ['etcd-server'],
    half: 'a standby that Patroni promotes',
    onlyLong: true,
  },
];

// Debian keeps servers where only root's PATH looks.
const usualFolders = (): readonly string[] => [
  ...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean),
  '/usr/sbin',
];

const findInPath = ({ names, folders = usualFolders() }: Wanted): string | null => {
  return (
    names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable) ?? null
  );
};

type Wanted = Pick<OutsideProgram, 'names' | 'folders'>;

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const canInstall = (): boolean =>
  process.getuid?.() === 0 &&
  existsSync('/etc/debian_version') &&
  findInPath({ names: ['apt-get'] }) !== null;

const runApt = (...args: readonly string[]): void => {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stdout, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' });
  if (status !== 0)
    process.stdout.write(
      `apt-get ${args.join(' ')} failed:\n${`${stdout}\n${stderr}`.trim().split('\n').slice(-10).join('\n')}\n`,
    );
};

const install = (wanted: readonly OutsideProgram[]): void => {
  runApt('update', '-q');
  for (const program of wanted)
    for (const name of program.packages) {
      if (findInPath(program) !== null) break;
      process.stdout.write(`installing ${name} with apt-get ...\n`);
      runApt('install', '-q', '-y', name);
    }
};

/**
 * Sets REDIS_SERVER, HAPROXY, PGBOUNCER, CHROMIUM, PYTHON, PHP, OLDER_POSTGRES, PATRONI and ETCD for
 * the tests, each to a path that exists, and gives what cannot be tested here. With `mayInstall`, root on a
 * Debian installs what is missing. A variable that is set already is left alone. `npm run
 * test:long` needs them all.
 */
export const findOutsidePrograms = (mayInstall: boolean): readonly string[] => {
  const needed = programs.filter(({ onlyLong = false }) => isLong || !onlyLong);
  const missing = (): readonly OutsideProgram[] =>
    needed.filter((program) => !process.env[program.variable] && findInPath(program) === null);
  if (mayInstall && missing().length > 0 && canInstall()) install(missing());
  for (const program of programs) {
    const found = process.env[program.variable] || findInPath(program);
    if (found) process.env[program.variable] = found;
  }
  return missing().map(
    ({ packages, half }) => `${packages.join(' or ')} is not installed: ${half}`,
  );
};
