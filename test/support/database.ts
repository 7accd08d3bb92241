/** A real PostgreSQL for a test file. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';
import { processStart } from '../../subgraphs/platform/database/embedded/data-directory.ts';

export interface TestDatabase {
  /** Address of a database of this test file's own. */
  readonly url: string;
  /** Makes one more empty database on the same server and gives its address. */
  createDatabase(): Promise<string>;
  /** Ends all connections and removes everything that was made here. */
  stop(): Promise<void>;
}

/**
 * Gives a test file a database: an empty one, or with `migrated` one that may have all migrations,
 * so that to migrate it costs nothing. `npm test` starts one server for the whole run, names it in
 * TEST_POSTGRES_URL and its migrated database in TEST_POSTGRES_TEMPLATE, and each file has
 * databases of its own on it; a file that is run alone starts a server in a temporary directory.
 */
export const startTestDatabase = async ({ migrated = false } = {}): Promise<TestDatabase> => {
  const shared = process.env['TEST_POSTGRES_URL'];
  const template = migrated ? process.env['TEST_POSTGRES_TEMPLATE'] : undefined;
  const server = shared ? { url: shared, stop: async () => {} } : await startOwnServer();
  const made: string[] = [];
  const create = async (like: string): Promise<string> => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    // Pages written to the log one by one would cost five times as much.
    await administer(server.url, `create database ${name} template ${like} strategy file_copy`);
    made.push(name);
    return Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  };
  const stop = async (): Promise<void> => {
    if (shared)
      for (const name of made.splice(0))
        await administer(server.url, `drop database if exists ${name} with (force)`);
    await server.stop();
  };
  return {
    url: await create(template ?? 'template1'),
    createDatabase: () => create('template1'),
    stop,
  };
};

/**
 * The machine will not crash under a server whose data is thrown away, so that it need not write to
 * disk in earnest. What survives crashes has a server with its own settings (test/crash).
 */
const startOwnServer = async (): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-test-'));
  const server = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    wal_compression: 'off',
    max_wal_size: '4GB',
    checkpoint_timeout: '1h',
  };
  for (const [name, value] of Object.entries(settings))
    await administer(server.url, `alter system set ${name} = '${value}'`);
  await administer(server.url, 'select pg_reload_conf()');
  const kill = (): void => killServer(dataDir);
  // A test file that ends early must not leave its server behind.
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
};

// At the end of a process nothing can be awaited any more, and a server that still ends would write
// into what is being removed.
const killServer = (dataDir: string): void => {
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  if (existsSync(pidFile)) {
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'));
    // It may have ended in between.
    if (processStart(pid) !== null) process.kill(pid, 'SIGQUIT');
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (let looks = 0; looks < 100 && processStart(pid) !== null; looks += 1)
      Atomics.wait(sleeper, 0, 0, 20);
  }
  rmSync(dataDir, { recursive: true, force: true });
};

const administer = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/**
 * Connections of a service or an ORM under test: enough for calls that meet. Each one more plans all
 * statements anew, which costs some 0.2 s of CPU.
 */
export const testPool = 3;

/**
 * A pool of a test's own. A session that it has let go of may still be there when the test's
 * database is removed: its end is then no error.
 */
export const openPool = (connectionString: string, max = 10): pg.Pool => {
  const pool = new pg.Pool({ connectionString, max });
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
};
