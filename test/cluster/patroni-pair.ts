/**
 * A primary and its synchronous standby as operators have them: PostgreSQL from Debian, a Patroni
 * beside each and three etcd, on the samples of `subgraphs/platform/fleet/`. Here only
 * Patroni.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { superuser } from '../../subgraphs/platform/database/embedded/cluster.ts';
import { freePort } from '../support/free-port.ts';
import { plainEnvironment } from '../../subgraphs/platform/database/embedded/programs.ts';
import type { Pair } from './pair.ts';
import {
  addFolder,
  askServer,
  closeHouse,
  killChildren,
  openHouse,
  type ServerHouse,
} from './postgres-server.ts';
import { readSample } from './sample-config.ts';
import { eventually } from '../support/eventually.ts';

const { PATRONI, ETCD, OLDER_POSTGRES } = process.env;

/** What is missing for it here, or false. */
export const noPatroni: string | false =
  PATRONI && ETCD && OLDER_POSTGRES ? false : 'patroni, etcd or PostgreSQL 15 is not installed';

export interface PatroniPair extends Pair {
  /** Kills the primary with the Patroni beside it, as a machine that is lost. */
  loseMachine(): Promise<void>;
  /** Which of the two is the primary. */
  primary(): Promise<0 | 1>;
}

interface Member {
  readonly name: string;
  readonly port: number;
  readonly healthPort: number;
  readonly directory: string;
  patroni: ChildProcess;
}

/** Starts a program that lives as long as this process, or until it is killed. */
const launch = ({ owner, root }: ServerHouse, program: string, ...args: string[]): ChildProcess => {
  const child = spawn(program, args, {
    cwd: root,
    env: plainEnvironment,
    stdio: ['ignore', 'ignore', process.env['TEST_LOG'] ? 'inherit' : 'ignore'],
    ...owner,
  });
  launched.add(child);
  child.once('exit', () => launched.delete(child));
  return child;
};

/** A test file that ends early leaves none of them behind. */
const launched = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of launched) child.kill('SIGKILL');
});

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
    await once(child, 'exit');
};

/** kill -9 of a PostgreSQL and its processes, which Patroni has started. */
const killServer = (directory: string): void => {
  const file = join(directory, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  try {
    killChildren(pid);
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended before.
  }
};

const write = (house: ServerHouse, name: string, text: string): string => {
  const path = join(addFolder(house, name), 'config.yml');
  // Its folder is closed to others.
  writeFileSync(path, text, { mode: 0o644 });
  return path;
};

/** Starts the three of them; gives their addresses by the names of the sample. */
const startEtcd = async (house: ServerHouse, stack: AsyncDisposableStack) => {
  const members = await Promise.all(
    ['etcd-1', 'etcd-2', 'etcd-3'].map(async (name) => ({
      name,
      clients: `127.0.0.1:${await freePort()}`,
      peers: `127.0.0.1:${await freePort()}`,
    })),
  );
  for (const { name, clients, peers } of members) {
    const others = members.map((other) => [`${other.name}:2380`, other.peers] as const);
    const sample = readSample(
      'etcd.yml',
      new Map([
        ['name: etcd-1', `name: ${name}`],
        ['http://0.0.0.0:2379', `http://${clients}`],
        ['http://etcd-1:2379', `http://${clients}`],
        ['http://0.0.0.0:2380', `http://${peers}`],
        ['peer-urls: http://etcd-1:2380', `peer-urls: http://${peers}`],
        ...others,
        ['/var/lib/etcd/payments', join(house.root, name, 'data')],
      ]),
    );
    const child = launch(house, ETCD ?? '', '--config-file', write(house, name, sample));
    stack.defer(() => end(child));
  }
  const isHealthy = async (): Promise<boolean> => {
    const answers = members.map(({ clients }) => fetch(`http://${clients}/health`));
    return (await Promise.all(answers)).every(({ ok }) => ok);
  };
  await eventually(() => isHealthy().catch(() => false), 'etcd');
  return members.map(({ name, clients }) => [`${name}:2379`, clients] as const);
};

const configOf = (
  { name, port, healthPort, directory }: Omit<Member, 'patroni'>,
  etcd: readonly (readonly [string, string])[],
  password: string,
): string =>
  readSample(
    'patroni.yml',
    new Map([
      ['name: postgres-1', `name: ${name}`],
      ['0.0.0.0:8008', `127.0.0.1:${healthPort}`],
      ['postgres-1:8008', `127.0.0.1:${healthPort}`],
      ['0.0.0.0:5432', `127.0.0.1:${port}`],
      ['postgres-1:5432', `127.0.0.1:${port}`],
      ...etcd,
      ['/usr/lib/postgresql/15/bin', dirname(OLDER_POSTGRES ?? '')],
      ['/var/lib/postgresql/15/payments', directory],
      ['/var/lib/postgresql/.pgpass-patroni', `${directory}.pgpass`],
      ['username: postgres', `username: ${superuser}`],
      ['SUPERUSER_PASSWORD', password],
      ['REPLICATION_PASSWORD', password],
    ]),
  );

const isPrimary = ({ healthPort }: Member): Promise<boolean> =>
  fetch(`http://127.0.0.1:${healthPort}/primary`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Whether Patroni counts it as the standby that has all that was answered. */
const isSynchronous = ({ healthPort }: Member): Promise<boolean> =>
  fetch(`http://127.0.0.1:${healthPort}/synchronous`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Starts both, the database `payments` empty on them, and waits for the synchronous standby. */
export const startPatroniPair = async (): Promise<PatroniPair> => {
  const house = openHouse();
  await using starting = new AsyncDisposableStack();
  starting.defer(() => closeHouse(house));
  const etcd = await startEtcd(house, starting);
  const password = randomBytes(24).toString('base64url');
  const begin = async (name: string): Promise<Member> => {
    const place = { name, port: await freePort(), healthPort: await freePort() };
    const member = { ...place, directory: join(house.root, `${name}-data`) };
    const config = write(house, name, configOf(member, etcd, password));
    const started = { ...member, patroni: launch(house, PATRONI ?? '', config) };
    starting.defer(async () => {
      await end(started.patroni);
      killServer(started.directory);
    });
    return started;
  };
  const first = await begin('postgres-1');
  await eventually(() => isPrimary(first), 'the primary');
  const urlOf = ({ port }: Member, database: string): string =>
    `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
  await askServer(urlOf(first, 'postgres'), 'create database payments');
  const second = await begin('postgres-2');
  await eventually(() => isSynchronous(second), 'the standby');
  const both = [first, second] as const;
  const primary = async (): Promise<0 | 1> => ((await isPrimary(first)) ? 0 : 1);
  const lose = async (withPatroni: boolean): Promise<void> => {
    const index = await primary();
    const [lost, other] = [both[index], both[index === 0 ? 1 : 0]];
    if (withPatroni) await end(lost.patroni);
    killServer(lost.directory);
    await eventually(() => isPrimary(other), 'the standby as primary');
  };
  const started = starting.move();
  return {
    password,
    servers: both,
    primary,
    failOver: () => lose(false),
    loseMachine: () => lose(true),
    rejoin: async () => {
      for (const member of both)
        if (member.patroni.signalCode !== null)
          member.patroni = launch(
            house,
            PATRONI ?? '',
            join(house.root, member.name, 'config.yml'),
          );
      const standby = both[(await primary()) === 0 ? 1 : 0];
      await eventually(() => isSynchronous(standby), 'the lost one as standby');
    },
    stop: () => started.disposeAsync(),
  };
};
