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
  readonly debianPackage: string;
  /** What is not tested without it. */
  readonly half: string;
}

const programs: readonly OutsideProgram[] = [
  {
    variable: 'REDIS_SERVER',
    names: ['redis-server'],
    debianPackage: 'redis-server',
    half: 'everything on Redis: queues, bus, the service as separate processes',
  },
  {
    variable: 'HAPROXY',
    names: ['haproxy'],
    debianPackage: 'haproxy',
    half: 'the service as a fleet behind a balancer',
  },
  {
    variable: 'PGBOUNCER',
    names: ['pgbouncer'],
    debianPackage: 'pgbouncer',
    half: 'the service as a fleet behind a pooler',
  },
  {
    variable: 'CHROMIUM',
    names: ['chromium', 'chromium-browser', 'google-chrome'],
    debianPackage: 'chromium',
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

const install = (packages: readonly string[]): void => {
  process.stdout.write(`installing ${packages.join(' and ')} with apt-get ...\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-q'],
    ['install', '-q', '-y', ...packages],
  ]) {
    const { status, stdout, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    if (status !== 0)
      process.stdout.write(
        `apt-get ${args[0]} failed:\n${`${stdout}\n${stderr}`.trim().split('\n').slice(-10).join('\n')}\n`,
      );
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
  if (mayInstall && missing().length > 0 && canInstall())
    install(missing().map(({ debianPackage }) => debianPackage));
  for (const { variable, names } of programs) {
    const found = process.env[variable] || findInPath(names);
    if (found) process.env[variable] = found;
  }
  return missing().map(({ debianPackage, half }) => `${debianPackage} is not installed: ${half}`);
};
