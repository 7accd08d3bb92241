import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../subgraphs/platform/database/embedded-postgres.ts';
import { eventually, patience_ms } from '../support/eventually.ts';
import { size } from '../support/size.ts';

const root = mkdtempSync(join(tmpdir(), 'payments-embedded-'));
const running = new Set<EmbeddedPostgres>();
/** Processes, and when each has ended. */
const children = new Map<ChildProcess, Promise<unknown>>();

const endAll = async (): Promise<void> => {
  for (const child of children.keys()) await kill(child);
  for (const server of running) await stop(server);
};
// What a test that failed has left would hold the directory.
afterEach(endAll);
after(() => rmSync(root, { recursive: true, force: true }));

const newDirectory = (name: string): string => join(root, name, 'data');

/**
 * Where most tests start their server, one after the other: to make a cluster takes longer than
 * they do. Only root may enter the directory around it.
 */
const dataDir = newDirectory('shared');
before(() => {
  mkdirSync(dataDir, { recursive: true });
  chmodSync(join(dataDir, '..'), 0o700);
});

const start = async (
  directory: string,
  received: string[] = [],
  handover_ms = 300,
): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres({
    dataDir: directory,
    progress: (text) => received.push(text),
    handover_ms,
  });
  running.add(server);
  return server;
};

const stop = async (server: EmbeddedPostgres): Promise<void> => {
  await server.stop();
  running.delete(server);
};

const query = async (url: string, text: string): Promise<Record<string, unknown>> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows[0] ?? {};
  } finally {
    await client.end();
  }
};

const postmasterPid = (): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Starts writer.ts. */
const spawnWriter = (directory: string, stdout: 'pipe' | 'ignore'): ChildProcess => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), directory], {
    stdio: ['ignore', stdout, 'inherit'],
  });
  children.set(child, once(child, 'close'));
  return child;
};

/** A writer that writes, and what it has printed so far. */
const startWriter = async (): Promise<{
  readonly child: ChildProcess;
  readonly url: string;
  lastWritten(): number;
}> => {
  const child = spawnWriter(dataDir, 'pipe');
  let url = '';
  let last = 0;
  const reading = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout ?? assert.fail() }).on('line', (line) => {
      const [word, value] = line.split(' ');
      if (word === 'url') url = value ?? '';
      if (word === 'wrote') last = Number(value);
      if (word === 'wrote') resolve();
    });
    child.once('exit', () => reject(new Error('the writer ended before it wrote anything')));
  });
  await reading;
  return { child, url, lastWritten: () => last };
};

/** Kills a child, if it is still there. */
const kill = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL');
  await children.get(child);
  children.delete(child);
};

test('a first start makes a cluster with the settings that the service counts on, and stop ends it', async () => {
  const server = await start(dataDir);
  const found = await query(
    server.url,
    `select current_database() as database, current_setting('max_connections') as connections, current_setting('fsync') as fsync,
            current_setting('listen_addresses') as addresses, current_setting('max_wal_size') as wal, current_setting('checkpoint_timeout') as checkpoint,
            current_setting('server_encoding') as encoding, current_setting('TimeZone') as zone, lower('ЯНДЕКС') as lower, 'Z' < 'a' as bytewise`,
  );
  assert.deepEqual(found, {
    database: 'payments',
    connections: '200',
    fsync: 'on',
    addresses: '127.0.0.1',
    wal: '4GB',
    checkpoint: '30min',
    encoding: 'UTF8',
    zone: 'UTC',
    lower: 'яндекс',
    bytewise: true,
  });
  await stop(server);
  await assert.rejects(query(server.url, 'select 1'), { code: 'ECONNREFUSED' });
  assert.equal(existsSync(join(dataDir, 'service.lock')), false);
});

test('a second start keeps the data', async () => {
  const first = await start(dataDir);
  await query(first.url, 'create table kept as select 42 as answer');
  await stop(first);
  const second = await start(dataDir);
  assert.deepEqual(await query(second.url, 'select answer from kept'), { answer: 42 });
  await stop(second);
});

test('the password is asked for, and only the server’s user and ours can read it', async () => {
  const server = await start(dataDir);
  await assert.rejects(
    query(server.url.replace(/:[^:@]+@/, ':wrong@'), 'select 1'),
    /password authentication failed/,
  );
  assert.equal(statSync(join(dataDir, 'postgres', 'service-password')).mode & 0o777, 0o600);
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700);
  await stop(server);
});

test('the server never runs as root, even inside a directory that only root may enter', async () => {
  const server = await start(dataDir);
  const { uid } = statSync(join(dataDir, 'postgres', 'postmaster.pid'));
  assert.notEqual(uid, 0);
  if (process.getuid?.() !== 0) assert.equal(uid, process.getuid?.());
  await stop(server);
});

test(
  'the server has a session of its own, so that Ctrl-C reaches only the service',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async () => {
    const server = await start(dataDir);
    const session = (pid: number): string | undefined =>
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3];
    assert.equal(session(postmasterPid()), `${postmasterPid()}`);
    assert.notEqual(session(process.pid), session(postmasterPid()));
    await stop(server);
  },
);

test('a second service on the same directory is refused with the holder’s name', async () => {
  const server = await start(dataDir);
  const received: string[] = [];
  await assert.rejects(
    start(dataDir, received),
    new RegExp(`data is in use by the service with process id ${process.pid}\\. Stop that service`),
  );
  assert.match(received.join(), /waiting for it to finish/);
  assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 });
  await stop(server);
});

test('a second service waits for the first one to finish', async () => {
  const first = await start(dataDir);
  const received: string[] = [];
  const second = start(dataDir, received, patience_ms);
  await eventually(() => received.some((text) => text.includes('waiting')), 'a service that waits');
  await stop(first);
  await stop(await second);
});

test('a lock that a dead process left is taken over, also when its pid is in use again', async () => {
  const dead = spawnSync(process.execPath, ['--version']).pid;
  for (const stale of [`${dead} 123 some-boot\n`, `${process.pid} 1 an-earlier-boot\n`]) {
    writeFileSync(join(dataDir, 'service.lock'), stale);
    await stop(await start(dataDir));
  }
});

test('a server killed with -9 comes back at the same address, with what was committed', async () => {
  const received: string[] = [];
  const server = await start(dataDir, received);
  await query(server.url, 'create table kept_too as select 42 as answer');
  process.kill(postmasterPid(), 'SIGKILL');
  await eventually(() => received.includes('PostgreSQL runs again'), 'PostgreSQL runs again');
  assert.deepEqual(await query(server.url, 'select answer from kept_too'), { answer: 42 });
  await stop(server);
});

test('the next start continues with the server that a killed service left running', async () => {
  const writer = await startWriter();
  const pid = postmasterPid();
  await kill(writer.child);
  const server = await start(dataDir);
  assert.equal(postmasterPid(), pid);
  assert.equal(server.url, writer.url);
  await stop(server);
  await assert.rejects(query(writer.url, 'select 1'), { code: 'ECONNREFUSED' });
});

test('what was acknowledged survives: the service killed, the server killed, and both', async () => {
  const rounds = [['service'], ['server', 'service'], ['service', 'server'], ['server', 'service']];
  for (const victims of rounds.slice(0, size(3, rounds.length))) {
    const writer = await startWriter();
    const before = writer.lastWritten();
    await eventually(() => writer.lastWritten() > before + 20, 'more that is written');
    for (const victim of victims) {
      if (victim === 'service') await kill(writer.child);
      else process.kill(postmasterPid(), 'SIGKILL');
    }
    const server = await start(dataDir);
    const { last, count } = await query(
      server.url,
      'select max(number) as last, count(*)::int as count from written',
    );
    assert.equal(last, count, 'numbers are missing in between');
    assert.ok(
      Number(last) >= writer.lastWritten(),
      `wrote ${writer.lastWritten()}, found ${String(last)}`,
    );
    assert.ok(writer.lastWritten() > 0);
    await stop(server);
  }
});

/** What is made until it is whole. */
const unfinished = (directory: string): readonly string[] =>
  existsSync(directory)
    ? readdirSync(directory).filter((name) => name.startsWith('postgres.unfinished'))
    : [];

test('an initdb that was cut off is made anew', async () => {
  /** Kills a first start as soon as its cluster has a file; false when that was too late. */
  const isCutOff = async (directory: string): Promise<boolean> => {
    const child = spawnWriter(directory, 'ignore');
    const hasBegun = (): boolean =>
      unfinished(directory).some((name) => existsSync(join(directory, name, 'PG_VERSION')));
    while (!hasBegun() && child.exitCode === null) await delay(2);
    await kill(child);
    return !existsSync(join(directory, 'postgres'));
  };
  let tries = 0;
  const directory = await eventually(async () => {
    const tried = newDirectory(`unfinished-${(tries += 1)}`);
    return (await isCutOff(tried)) && tried;
  }, 'an initdb that was cut off');
  assert.ok(unfinished(directory).length > 0);
  const server = await start(directory);
  assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 });
  await stop(server);
  // The initdb outlived its killed parent, and may have written while its directory was removed: a
  // later start finds it ended.
  await eventually(async () => {
    await stop(await start(directory));
    return unfinished(directory).length === 0;
  }, 'a start that removes the rest');
});

test('a pid file whose pid now belongs to another program does not keep the server from starting', async () => {
  await stop(await start(dataDir));
  writeFileSync(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${process.ppid}\n/elsewhere\n1\n5432\n\n127.0.0.1\n`,
  );
  const server = await start(dataDir);
  assert.notEqual(postmasterPid(), process.ppid);
  await stop(server);
});

test('a directory that cannot be used is refused in words that say what to do', async () => {
  const occupied = join(root, 'a-file');
  writeFileSync(occupied, '');
  await assert.rejects(
    start(occupied),
    /a-file cannot be used \(E\w+\)\. There is a file where a directory must be: move it away, or set DATA_DIR/,
  );
  const foreign = newDirectory('foreign');
  mkdirSync(join(foreign, 'postgres'), { recursive: true });
  writeFileSync(join(foreign, 'postgres', 'diary.txt'), '');
  await assert.rejects(
    start(foreign),
    /is not a complete PostgreSQL cluster .*\nMove it away, or set DATA_DIR/,
  );
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await assert.rejects(start(dataDir), /made by another major version of PostgreSQL/);
});
