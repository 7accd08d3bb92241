/**
 * The stores that queues and bus run on, as the same tests need them: real servers, an empty store
 * for each test, and a server that can die.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';
import { migrateQueues } from '../../subgraphs/platform/queue/queue-stores.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { startTestDatabase } from '../support/database.ts';
import { noRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { startRedisCluster } from './redis-cluster.ts';

export interface StoreUrls {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
}

export interface Stores {
  /** An empty store of the test's own, migrated. */
  fresh(): Promise<StoreUrls>;
  stop(): Promise<void>;
}

/** A server of the test's own. */
export interface MortalStore extends StoreUrls {
  /**
   * Kills the server as a crash would; it is gone when this fulfils. Redis loses its data,
   * PostgreSQL does not.
   */
  kill(): Promise<void>;
  /** Lets it come back at the same address. PostgreSQL's participant starts it again by itself. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

interface Kind<Opened> {
  readonly name: string;
  /** Why its tests cannot run here; false when they can. */
  readonly skip: string | false;
  open(): Promise<Opened>;
}
export type StoreKind = Kind<Stores>;
export type MortalStoreKind = Kind<MortalStore>;

const openPostgres = async (): Promise<Stores> => {
  const database = await startTestDatabase();
  const fresh = async (): Promise<StoreUrls> => {
    const databaseUrl = await database.createDatabase();
    await migrateQueues(databaseUrl);
    return { databaseUrl, redisUrl: null };
  };
  return { fresh, stop: () => database.stop() };
};

const openMortalPostgres = async (): Promise<MortalStore> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-queues-'));
  const server = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  await migrateQueues(server.url);
  const kill = async (): Promise<void> => {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  };
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { databaseUrl: server.url, redisUrl: null, kill, revive: async () => {}, stop };
};

/** Redis alone is asked: the address of a database that is not there would show if it were used. */
const nowhere = 'postgres://nobody@127.0.0.1:1/none';

/** What a redis-server has unless it is told otherwise. */
const databasesPerRedis = 16;

const openRedis = async (): Promise<Stores> => {
  const servers: Promise<TestRedis>[] = [];
  let given = 0;
  return {
    fresh: async () => {
      const database = given++ % databasesPerRedis;
      if (database === 0) servers.push(startRedis());
      const server = await servers.at(-1);
      return { databaseUrl: nowhere, redisUrl: `${server?.url}/${database}` };
    },
    stop: async () => {
      for (const server of servers) await (await server).stop();
    },
  };
};

const openMortalRedis = async (): Promise<MortalStore> => {
  let server = await startRedis();
  const { url, port } = server;
  const revive = async (): Promise<void> => {
    server = await startRedis(port);
  };
  return {
    databaseUrl: nowhere,
    redisUrl: url,
    kill: () => server.stop(),
    revive,
    stop: () => server.stop(),
  };
};

const openMortalRedisCluster = async (): Promise<MortalStore> => {
  const cluster = await startRedisCluster();
  const nodes = [0, 1, 2];
  const kill = async (): Promise<void> => void (await Promise.all(nodes.map(cluster.kill)));
  const revive = async (): Promise<void> => void (await Promise.all(nodes.map(cluster.revive)));
  return { databaseUrl: nowhere, redisUrl: cluster.url, kill, revive, stop: () => cluster.stop() };
};

export const storeKinds: readonly StoreKind[] = [
  { name: 'postgres', skip: false, open: openPostgres },
  { name: 'redis', skip: noRedis, open: openRedis },
];

export const mortalStoreKinds: readonly MortalStoreKind[] = [
  { name: 'postgres', skip: false, open: openMortalPostgres },
  { name: 'redis', skip: noRedis, open: openMortalRedis },
  { name: 'a Redis Cluster', skip: noRedis, open: openMortalRedisCluster },
];

/**
 * A log whose lines can be read: `answered` gives the messages of all its lines.
 */
export const openTestLog = (): { readonly log: Logger; answered(): readonly string[] } => {
  const lines: string[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => lines.push(JSON.parse(line).msg) },
  );
  return { log, answered: () => lines };
};

/** The lines of a log about what was lost: one for each loss and one for each return. */
export const assertOutages = (lines: readonly string[], what: string): void => {
  const words = [`the ${what} is lost; trying until it is back`, `the ${what} is back`];
  assert.deepEqual(
    lines,
    lines.map((_, index) => words[index % 2]),
  );
  // A server that comes back by parts may be lost once more.
  assert.ok(lines.length === 2 || lines.length === 4, lines.join('\n'));
};
