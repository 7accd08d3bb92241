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
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../subgraphs/kernel/database/embedded-postgres.ts';

const root = mkdtempSync(join(tmpdir(), 'payments-embedded-'));
const running = new Set<EmbeddedPostgres>();
const children = new Set<ChildProcess>();

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const server of running) await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const newDirectory = (name: string): string => join(root, name, 'data');

const start = async (dataDir: string, received: string[] = []): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres({
    dataDir,
    progress: (text) => received.push(text),
    handover_ms: 300,
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

const postmasterPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** The writer of writer.ts, and what it has printed so far. */
const startWriter = async (
  dataDir: string,
): Promise<{ readonly child: ChildProcess; readonly url: string; lastWritten(): number }> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  let url = '';
  let last = 0;
  const reading = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
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

const kill = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL');
  await once(child, 'close');
  children.delete(child);
};

test('a first start makes a cluster with the settings that the service counts on, and stop ends it', async () => {
  const dataDir = newDirectory('first');
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
  const dataDir = newDirectory('second');
  const first = await start(dataDir);
  await query(first.url, 'create table kept as select 42 as answer');
  await stop(first);
  const second = await start(dataDir);
  assert.deepEqual(await query(second.url, 'select answer from kept'), { answer: 42 });
  await stop(second);
});

test('the password is asked for, and only the server’s user and ours can read it', async () => {
  const dataDir = newDirectory('password');
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
  const dataDir = newDirectory('private');
  mkdirSync(dataDir, { recursive: true });
  chmodSync(join(dataDir, '..'), 0o700);
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
    const dataDir = newDirectory('session');
    const server = await start(dataDir);
    const session = (pid: number): string | undefined =>
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3];
    assert.equal(session(postmasterPid(dataDir)), `${postmasterPid(dataDir)}`);
    assert.notEqual(session(process.pid), session(postmasterPid(dataDir)));
    await stop(server);
  },
);

test('a second service on the same directory is refused with the holder’s name', async () => {
  const dataDir = newDirectory('shared');
  const server = await start(dataDir);
  const received: string[] = [];
  await assert.rejects(
    start(dataDir, received),
    new RegExp(`data is in use by the service with process id ${process.pid}\\. Stop that one`),
  );
  assert.match(received.join(), /waiting for it to finish/);
  assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 });
  await stop(server);
});

test('a second service waits for the first one to finish', async () => {
  const dataDir = newDirectory('handover');
  const first = await start(dataDir);
  const second = startEmbeddedPostgres({ dataDir, progress: () => {}, handover_ms: 10_000 });
  await delay(200);
  await stop(first);
  await stop(await second);
});

test('a lock that a dead process left is taken over, also when its pid is in use again', async () => {
  const dataDir = newDirectory('stale');
  mkdirSync(dataDir, { recursive: true });
  const dead = spawnSync(process.execPath, ['--version']).pid;
  for (const stale of [`${dead} 123 some-boot\n`, `${process.pid} 1 an-earlier-boot\n`]) {
    writeFileSync(join(dataDir, 'service.lock'), stale);
    await stop(await start(dataDir));
  }
});

test('a server killed with -9 comes back at the same address, with what was committed', async () => {
  const dataDir = newDirectory('killed-server');
  const received: string[] = [];
  const server = await start(dataDir, received);
  await query(server.url, 'create table kept as select 42 as answer');
  process.kill(postmasterPid(dataDir), 'SIGKILL');
  const deadline = Date.now() + 20_000;
  while (!received.includes('PostgreSQL runs again') && Date.now() < deadline) await delay(50);
  assert.deepEqual(await query(server.url, 'select answer from kept'), { answer: 42 });
  await stop(server);
});

test('the next start goes on with the server that a killed service left running', async () => {
  const dataDir = newDirectory('killed-service');
  const writer = await startWriter(dataDir);
  const pid = postmasterPid(dataDir);
  await kill(writer.child);
  const server = await start(dataDir);
  assert.equal(postmasterPid(dataDir), pid);
  assert.equal(server.url, writer.url);
  await stop(server);
  await assert.rejects(query(writer.url, 'select 1'), { code: 'ECONNREFUSED' });
});

test('what was acknowledged survives: the service killed, the server killed, and both', async () => {
  const dataDir = newDirectory('writes');
  for (const victims of [
    ['service'],
    ['server', 'service'],
    ['service', 'server'],
    ['server', 'service'],
  ]) {
    const writer = await startWriter(dataDir);
    await delay(100 + Math.random() * 200);
    for (const victim of victims) {
      if (victim === 'service') await kill(writer.child);
      else process.kill(postmasterPid(dataDir), 'SIGKILL');
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

test('an initdb that was cut off is made anew', async () => {
  const dataDir = newDirectory('unfinished');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), dataDir], {
    stdio: 'ignore',
  });
  const unfinished = (): readonly string[] =>
    existsSync(dataDir)
      ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.unfinished'))
      : [];
  while (unfinished().length < 2 && child.exitCode === null) await delay(2);
  await delay(50);
  await kill(child);
  assert.equal(
    existsSync(join(dataDir, 'postgres')),
    false,
    'the child was killed too late for this test to mean anything',
  );
  assert.ok(unfinished().length > 0);
  const server = await start(dataDir);
  assert.deepEqual(await query(server.url, 'select 1 as one'), { one: 1 });
  await stop(server);
  // The initdb outlived its killed parent, and may have written while its directory was removed:
  // the next start finds it ended.
  await stop(await start(dataDir));
  assert.deepEqual(unfinished(), []);
});

test('a pid file whose pid now belongs to another program does not keep the server from starting', async () => {
  const dataDir = newDirectory('recycled');
  await stop(await start(dataDir));
  writeFileSync(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${process.ppid}\n/elsewhere\n1\n5432\n\n127.0.0.1\n`,
  );
  const server = await start(dataDir);
  assert.notEqual(postmasterPid(dataDir), process.ppid);
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
    /not a whole PostgreSQL cluster .*\nMove it away, or set DATA_DIR/,
  );
  const older = newDirectory('older');
  await stop(await start(older));
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '17\n');
  await assert.rejects(start(older), /made by another major version of PostgreSQL/);
});
