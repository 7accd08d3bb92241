/**
 * PostgreSQL servers of a test's own, from the embedded programs: a primary, copies of it by a base
 * backup, standbys and restored ones. The embedded package has no pg_basebackup: a backup is taken
 * as that program does it, with `pg_backup_start`, a copy of the files, and `pg_backup_stop`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import {
  ensureCluster,
  ownDirectory,
  readPassword,
  superuser,
} from '../../subgraphs/platform/database/embedded/cluster.ts';
import {
  preparePrograms,
  type Programs,
  chooseOwner,
  plainEnvironment,
  type Owner,
} from '../../subgraphs/platform/database/embedded/programs.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

/** A place for servers that belong together: they have the same password. */
export interface ServerHouse {
  readonly root: string;
  readonly owner: Owner | null;
  readonly programs: Programs;
}

export interface PostgresServer {
  readonly directory: string;
  readonly port: number;
  readonly password: string;
  /** Address of the database `payments`. */
  readonly url: string;
  readonly child: ChildProcess;
}

export type Settings = Readonly<Record<string, string>>;

const usual: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '150',
  shared_buffers: '64MB',
  timezone: 'UTC',
  wal_keep_size: '256MB',
};

/** A directory that the servers' user can work in; of the embedded programs unless of others. */
export const openHouse = (programs?: Programs): ServerHouse => {
  const root = mkdtempSync(join(tmpdir(), 'payments-postgres-'));
  const owner = chooseOwner(root, join(root, 'primary'));
  if (owner) chownSync(root, owner.uid, owner.gid);
  return { root, owner, programs: programs ?? preparePrograms(owner) };
};

export const closeHouse = ({ root }: ServerHouse): void =>
  rmSync(root, { recursive: true, force: true });

/** A folder in the house that the servers may write into. */
export const addFolder = ({ root, owner }: ServerHouse, name: string): string => {
  const folder = join(root, name);
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return folder;
};

const urlOf = (port: number, password: string, database: string): string =>
  `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;

/** Asks a server one statement, on a connection of its own. */
export const askServer = async (url: string, text: string): Promise<any[]> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
};

/** Starts the server of a directory in the house, and waits until it takes connections. */
const start = async (
  { owner, programs }: ServerHouse,
  directory: string,
  settings: Settings,
  at?: number,
): Promise<PostgresServer> => {
  const port = at ?? (await freePort());
  const options = Object.entries({ ...usual, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const child = spawn(
    programs.postgres,
    ['-D', ownDirectory(directory, owner), '-p', String(port), ...options],
    {
      cwd: directory,
      env: plainEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...owner,
    },
  );
  let answered = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (answered += text.toString()));
  const kill = (): boolean => child.kill('SIGQUIT');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const password = readPassword(directory);
  const answers = (): Promise<unknown> => {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended:\n${answered}`);
    return askServer(urlOf(port, password, 'postgres'), 'select 1').catch(() => null);
  };
  await eventually(answers, () => `PostgreSQL does not answer:\n${answered}`);
  return { directory, port, password, url: urlOf(port, password, 'payments'), child };
};

/**
 * Makes a cluster with an initdb before 17, which knows no built-in locale; with the password where
 * ours has it.
 */
const makeOlderCluster = ({ owner, programs }: ServerHouse, directory: string): void => {
  const password = `${directory}.password`;
  write({ owner }, password, randomBytes(24).toString('base64url'));
  const { status, stderr } = spawnSync(
    programs.initdb,
    [
      `--pgdata=${directory}`,
      `--username=${superuser}`,
      `--pwfile=${password}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ],
    { cwd: dirname(directory), env: plainEnvironment, encoding: 'utf8', ...owner },
  );
  if (status !== 0) throw new Error(`initdb did not work:\n${stderr}`);
  renameSync(password, join(directory, 'service-password'));
};

/** Starts a new primary with an empty database `payments`. */
export const startPrimary = async (
  house: ServerHouse,
  settings: Settings = {},
  isOlder = false,
): Promise<PostgresServer> => {
  const directory = join(house.root, 'primary');
  if (isOlder) makeOlderCluster(house, directory);
  else
    await ensureCluster({
      directory,
      programs: house.programs,
      owner: house.owner,
      progress: () => {},
    });
  const server = await start(house, directory, settings);
  await askServer(urlOf(server.port, server.password, 'postgres'), 'create database payments');
  return server;
};

/** A file that goes away while it is copied is in the write-ahead log. */
const copy = async (from: string, to: string): Promise<void> => {
  const copying = spawn('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'] });
  let answered = '';
  copying.stderr.on('data', (text: Buffer) => (answered += text.toString()));
  const [code] = await once(copying, 'close');
  if (code !== 0 && !/No such file/.test(answered)) throw new Error(answered);
};

/** Takes a base backup of a running server into a new directory of the house, and gives it. */
export const takeBackup = async (
  house: ServerHouse,
  from: PostgresServer,
  name: string,
): Promise<string> => {
  const directory = join(house.root, name);
  const client = new pg.Client({ connectionString: from.url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('${name}', true)`);
    await copy(from.directory, directory);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(true)',
    );
    for (const left of ['postmaster.pid', 'postmaster.opts', 'standby.signal', 'recovery.signal'])
      rmSync(join(directory, left), { force: true });
    spawnSync('find', [join(directory, 'pg_wal'), '-type', 'f', '-delete']);
    write(house, join(directory, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  return directory;
};

const write = ({ owner }: Pick<ServerHouse, 'owner'>, path: string, text: string): void => {
  writeFileSync(path, text);
  if (owner) chownSync(path, owner.uid, owner.gid);
};

/**
 * Starts a backup as a standby that streams from its primary, on a port that another server has had
 * before or on a new one.
 */
export const startStandby = async (
  house: ServerHouse,
  directory: string,
  primary: PostgresServer,
  port?: number,
): Promise<PostgresServer> => {
  write(house, join(directory, 'standby.signal'), '');
  const primary_conninfo = `host=127.0.0.1 port=${primary.port} user=${superuser} password=${primary.password} application_name=standby`;
  return start(house, directory, { primary_conninfo }, port);
};

/**
 * Starts a backup as a server of its own that has recovered to a moment from an archive of
 * write-ahead logs.
 */
export const startRestored = async (
  house: ServerHouse,
  directory: string,
  archive: string,
  until: Temporal.Instant,
): Promise<PostgresServer> => {
  write(house, join(directory, 'recovery.signal'), '');
  appendFileSync(join(directory, 'postgresql.auto.conf'), "\narchive_mode = 'off'\n");
  const settings = {
    restore_command: `cp "${archive}/%f" "%p"`,
    recovery_target_time: until.toString().replace('T', ' ').replace('Z', '+00'),
    recovery_target_action: 'promote',
    archive_mode: 'off',
  };
  const server = await start(house, directory, settings);
  const isRecovered = async (): Promise<boolean> =>
    (await askServer(server.url, 'select pg_is_in_recovery() as recovering'))[0]?.recovering ===
    false;
  await eventually(isRecovered, 'the end of the recovery');
  return server;
};

/** Ends a server: at once, as a crash would, or as its operator does. */
export const endServer = async (
  { child }: PostgresServer,
  signal: 'SIGKILL' | 'SIGINT',
): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (signal === 'SIGKILL' && child.pid) killChildren(child.pid);
  child.kill(signal);
  await once(child, 'exit');
};

// A machine that dies takes the server's processes along, which alone would go on to the end of
// their statements.
export const killChildren = (postmaster: number): void => {
  process.kill(postmaster, 'SIGSTOP');
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], {
    encoding: 'utf8',
  });
  for (const pid of stdout.split(/\s+/).filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
};
