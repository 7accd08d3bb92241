/**
 * The programs that tests need and npm does not bring: redis-server, HAProxy, PgBouncer and
 * Chromium. Taken from PATH, else installed where that is possible.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

interface OutsideProgram {
  /** The environment variable that gives the tests its place. */
  readonly variable: 'REDIS_SERVER' | 'HAPROXY' | 'PGBOUNCER' | 'CHROMIUM';
  readonly names: readonly string[];
  /** Of Debian, in the order in which they are tried. */
  readonly packages: readonly string[];
  /** What is not tested without it. */
  readonly half: string;
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
];

const findInPath = (names: readonly string[]): string | null => {
  // Debian keeps servers where only root's PATH looks.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), '/usr/sbin'];
  return (
    names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable) ?? null
  );
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const canInstall = (): boolean =>
  process.getuid?.() === 0 && existsSync('/etc/debian_version') && findInPath(['apt-get']) !== null;

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
  for (const { names, packages } of wanted)
    for (const name of packages) {
      if (findInPath(names) !== null) break;
      process.stdout.write(`installing ${name} with apt-get ...\n`);
      runApt('install', '-q', '-y', name);
    }
};

/**
 * Sets REDIS_SERVER, HAPROXY, PGBOUNCER and CHROMIUM for the tests, each to a path that exists, and
 * gives what cannot be tested here. With `mayInstall`, root on a Debian installs what is missing. A
 * variable that is set already is left alone.
 */
export const findOutsidePrograms = (mayInstall: boolean): readonly string[] => {
  const missing = (): readonly OutsideProgram[] =>
    programs.filter(({ variable, names }) => !process.env[variable] && findInPath(names) === null);
  if (mayInstall && missing().length > 0 && canInstall()) install(missing());
  for (const { variable, names } of programs) {
    const found = process.env[variable] || findInPath(names);
    if (found) process.env[variable] = found;
  }
  return missing().map(
    ({ packages, half }) => `${packages.join(' or ')} is not installed: ${half}`,
  );
};
