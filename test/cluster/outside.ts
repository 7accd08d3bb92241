/** HAProxy and PgBouncer as child processes, on the sample configurations. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseOwner } from '../../subgraphs/platform/database/embedded/programs.ts';
import { superuser } from '../../subgraphs/platform/database/embedded/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { samples, readSample } from './sample-config.ts';

/**
 * Why the fleet cannot be tested here, or false. `npm test` looks for the programs and says where
 * they are.
 */
export const noFleet: string | false =
  process.env['REDIS_SERVER'] && process.env['HAPROXY'] && process.env['PGBOUNCER']
    ? false
    : 'redis-server, haproxy or pgbouncer is not installed';

/** A program between the others that can be killed and started again. */
export interface Outside {
  readonly port: number;
  /** kill -9, and a new one on the same port. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve((socket.destroy(), true)));
    socket.once('error', () => resolve(false));
  });

/**
 * Keeps a program running whose configuration is in a directory of its own. A test file that ends
 * early leaves neither behind.
 */
const keep = async (
  port: number,
  directory: string,
  launch: () => ChildProcess,
): Promise<Outside> => {
  let child: ChildProcess;
  const leave = (): void => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  const begin = async (): Promise<void> => {
    let answered = '';
    child = launch();
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => (answered += text.toString()));
    const isThere = (): Promise<boolean> => {
      if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended:\n${answered}`);
      return listens(port);
    };
    await eventually(isThere, () => `${child.spawnfile} does not listen:\n${answered}`);
  };
  const end = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
      await once(child, 'exit');
  };
  process.once('exit', leave);
  const stop = async (): Promise<void> => {
    await end();
    process.off('exit', leave);
    leave();
  };
  await begin();
  return { port, replace: () => end().then(begin), stop };
};

/** The operational state of a server that takes calls, in HAProxy's list. */
const isUp = '2';

const askSocket = async (path: string, command: string): Promise<string> => {
  const socket = connect(path);
  socket.end(`${command}\n`);
  let answered = '';
  for await (const text of socket) answered += String(text);
  return answered;
};

export interface Haproxy extends Outside {
  /** Names the servers that it sends calls to. */
  whoIsUp(): Promise<readonly string[]>;
  /** Gives its socket a command; fulfils with its answer. */
  command(text: string): Promise<string>;
}

/**
 * The times of the samples are those of machines that have time: here a dead server refuses at
 * once, and a slow one is not dead.
 */
const slower = {
  haproxy: ['timeout connect 1s', 'timeout check 2s'],
  pgbouncer: ['server_connect_timeout = 3', 'query_wait_timeout = 15'],
} as const;
const withPatience = (settings: readonly string[]): [string, string][] =>
  settings.map((setting) => [setting, setting.replace(/\d+/, '60')]);

/**
 * Starts HAProxy with these addresses in place of those of the sample; `port` is the public one.
 */
export const startHaproxy = async (
  port: number,
  addresses: ReadonlyMap<string, string>,
  sample: 'haproxy.cfg' | 'cells.cfg' = 'haproxy.cfg',
): Promise<Haproxy> => {
  const directory = mkdtempSync(join(tmpdir(), 'payments-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  const socket = join(directory, 'admin.sock');
  writeFileSync(
    file,
    readSample(
      sample,
      new Map([...addresses, ...withPatience(slower.haproxy), ['/run/haproxy/admin.sock', socket]]),
    ),
  );
  const kept = await keep(port, directory, () =>
    spawn(process.env['HAPROXY'] ?? '', ['-db', '-f', file], {
      cwd: samples,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const command = (text: string): Promise<string> => askSocket(socket, text);
  const whoIsUp = async (): Promise<readonly string[]> => {
    const fields = (await command('show servers state')).split('\n').map((line) => line.split(' '));
    return fields.flatMap(([, , , name, , state]) =>
      name !== undefined && state === isUp ? [name] : [],
    );
  };
  return { ...kept, whoIsUp, command };
};

/** Starts PgBouncer before the PostgreSQL at `postgresPort`. */
export const startPgbouncer = async (
  port: number,
  postgresPort: number,
  password: string,
): Promise<Outside> => {
  const directory = mkdtempSync(join(tmpdir(), 'payments-pgbouncer-'));
  const users = join(directory, 'userlist.txt');
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(users, `"${superuser}" "${password}"\n`);
  const addresses = new Map([
    ['host=haproxy port=5000', `host=127.0.0.1 port=${postgresPort}`],
    ['listen_addr = *', 'listen_addr = 127.0.0.1'],
    ['listen_port = 6432', `listen_port = ${port}\nunix_socket_dir =`],
    ['/etc/pgbouncer/userlist.txt', users],
    ...withPatience(slower.pgbouncer),
  ]);
  writeFileSync(file, readSample('pgbouncer.ini', addresses));
  // PgBouncer refuses to run as root.
  const owner = chooseOwner(directory, join(directory, 'none'));
  if (owner) for (const path of [directory, users, file]) chownSync(path, owner.uid, owner.gid);
  return keep(port, directory, () =>
    spawn(process.env['PGBOUNCER'] ?? '', [file], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...owner,
    }),
  );
};
