/**
 * PostgreSQL servers of the programs in CITUS_BIN: a coordinator with two workers, or one alone.
 * They listen on loopback and ask for no password: a worker and its coordinator connect to each
 * other as the same user.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';
import {
  chooseOwner,
  plainEnvironment,
  type Owner,
} from '../../subgraphs/platform/database/embedded/programs.ts';
import { distributingStatements } from '../database/distribution.ts';

export interface Servers {
  /** Address of the database that the service uses. */
  readonly url: string;
  /** The process ids of the servers, the coordinator's first. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
}

const superuser = 'payments';
const database = 'payments';
const patience_ms = 60_000;
const look_ms = 50;

const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  timezone: 'UTC',
  jit: 'off',
  fsync: 'off',
  full_page_writes: 'off',
};
const withCitus: Readonly<Record<string, string>> = {
  shared_preload_libraries: 'citus',
  max_prepared_transactions: '400',
  // Nothing leaves the machine, and the servers have no certificate.
  'citus.node_conninfo': 'sslmode=disable',
  'citus.enable_statistics_collection': 'off',
};

const urlOf = (port: number, name: string): string =>
  `postgres://${superuser}@127.0.0.1:${port}/${name}`;

/** Sends statements one after another on a connection of their own. */
export const ask = async (url: string, ...texts: readonly string[]): Promise<pg.QueryResult[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const answers: pg.QueryResult[] = [];
    for (const text of texts) answers.push(await client.query(text));
    return answers;
  } finally {
    await client.end();
  }
};

const untilTaking = async ({ port, child }: Server, output: () => string): Promise<void> => {
  const deadline = performance.now() + patience_ms;
  for (;;) {
    const answered = await ask(urlOf(port, 'postgres'), 'select 1').catch(() => null);
    if (answered) return;
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`PostgreSQL did not start:\n${output()}`);
    await sleep(look_ms);
  }
};

/** One server with a new cluster in `folder`. */
const startServer = async (
  bin: string,
  { folder, owner, given }: { folder: string; owner: Owner | null; given: typeof settings },
): Promise<Server> => {
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const running = { cwd: folder, env: plainEnvironment, ...owner };
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', folder, '-U', superuser, '-E', 'UTF8', '--locale=C.UTF-8', '--auth=trust', '--no-sync'],
    { ...running, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed:\n${made.stderr}`);
  const port = await freePort();
  const options = Object.entries({ ...settings, ...given, port: String(port) });
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', folder, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...running, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output = (output + text.toString()).slice(-4_000)));
  const kill = (): boolean => child.kill('SIGQUIT');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const server = { port, child };
  await untilTaking(server, () => output);
  await ask(urlOf(port, 'postgres'), `create database ${database}`);
  return server;
};

const endServer = async ({ child }: Server): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGINT');
  await once(child, 'exit');
};

const startServers = async (bin: string, names: readonly string[], given: typeof settings) => {
  const root = mkdtempSync(join(tmpdir(), 'payments-citus-'));
  const owner = chooseOwner(root, join(root, 'coordinator'));
  if (owner) chownSync(root, owner.uid, owner.gid);
  const started = await Promise.all(
    names.map((name) => startServer(bin, { folder: join(root, name), owner, given })),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(endServer));
    rmSync(root, { recursive: true, force: true });
  };
  const pids = started.flatMap(({ child }) => child.pid ?? []);
  return { ports: started.map(({ port }) => port), pids, stop };
};

/** One server without Citus, with an empty database. */
export const startPlain = async (bin: string): Promise<Servers> => {
  const { ports, pids, stop } = await startServers(bin, ['coordinator'], {});
  return { url: urlOf(ports[0] ?? 0, database), pids, stop };
};

/** A coordinator that knows its two workers, with an empty database. */
export const startCitus = async (bin: string): Promise<Servers> => {
  const names = ['coordinator', 'worker-1', 'worker-2'];
  const { ports, pids, stop } = await startServers(bin, names, withCitus);
  const [coordinator = 0, ...workers] = ports;
  for (const port of ports) await ask(urlOf(port, database), 'create extension citus');
  const url = urlOf(coordinator, database);
  await ask(
    url,
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator})`,
    ...workers.map((port) => `select citus_add_node('127.0.0.1', ${port})`),
  );
  return { url, pids, stop };
};

/** Spreads the migrated tables, by the file that operators use. */
export const distribute = async (url: string): Promise<void> =>
  void (await ask(url, ...distributingStatements()));
