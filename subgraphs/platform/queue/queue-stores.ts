/** The stores that BullMQ runs on: Redis, or schema `bullmq` of PostgreSQL where there is none. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  isPgPool,
  runMigrations,
} from 'bullmq';
import pg from 'pg';
import {
  connectRedis,
  failFast,
  type RedisClient,
  waitForRedis,
  whenRedisAnswers,
} from '../bus/connect-redis.ts';
import { onOwnClient } from '../database/pool-of.ts';
import type { Outage } from '../tracing/outage.ts';

export interface QueueStore {
  /** BullMQ's own view of the store. The connection that BullMQ's options name is ignored. */
  readonly factory: BackendFactory;
  /** Rejects when the store does not answer. */
  ask(): Promise<void>;
  close(): Promise<void>;
}

const schema = 'bullmq';
/** Each worker keeps one of these for LISTEN. */
const connections = 12;
const connectTimeout_ms = 5_000;
const queryTimeout_ms = 30_000;
const close_max_ms = 1_000;

/** Every key has this hash tag, so that a Redis Cluster has all queues on one node. */
const prefix = '{payments}';

/**
 * Creates or updates BullMQ's tables and functions in schema `bullmq`. Safe to run in several
 * processes at once.
 */
export const migrateQueues = (databaseUrl: string): Promise<void> =>
  onOwnClient(
    { connectionString: databaseUrl, connectionTimeoutMillis: connectTimeout_ms },
    async (client) => void (await runMigrations(client, schema)),
  );

/** Opens the store on PostgreSQL: one pool for all queues and workers of the process. */
export const openPostgresStore = (databaseUrl: string, outage: Outage): QueueStore => {
  const pool: unknown = new pg.Pool({
    connectionString: databaseUrl,
    options: `-c search_path=${schema}`,
    application_name: 'payments queue',
    max: connections,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout_ms,
    query_timeout: queryTimeout_ms,
  });
  if (!isPgPool(pool)) throw new Error('BullMQ does not take this pool');
  pool.on('error', outage.began);
  return {
    factory: (name, options, extra) =>
      createPostgresBackend(name, { ...options, connection: pool }, extra),
    ask: async () => void (await pool.query('select 1')),
    // A statement of a worker that outlived the drain may hold a connection.
    close: () => Promise.race([pool.end(), delay(close_max_ms, undefined, { ref: false })]),
  };
};

/** Opens the store on Redis. Rejects when Redis does not answer for 30 seconds. */
export const openRedisStore = async (url: string, outage: Outage): Promise<QueueStore> => {
  const adding = connectRedis(url, failFast).on('error', outage.began);
  adding.on('ready', outage.ended);
  let working: RedisClient | null = null;
  const connectWorkers = (): RedisClient =>
    (working ??= connectRedis(url, waitForRedis).on('error', outage.began));
  const close = async (): Promise<void> => {
    adding.disconnect();
    working?.disconnect();
  };
  try {
    await whenRedisAnswers(adding);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    factory: (name, options, extra) => {
      const connection = extra?.withBlockingConnection ? connectWorkers() : adding;
      return createRedisBackend(name, Object.assign({}, options, { connection, prefix }), extra);
    },
    // In a cluster the node with the queues must answer.
    ask: async () => void (await adding.exists(`${prefix}:ask`)),
    close,
  };
};
