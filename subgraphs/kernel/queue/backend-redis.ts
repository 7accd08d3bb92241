/**
 * BullMQ on Redis. Every key has the hash tag `{payments}`, so that the same keys work on a Redis
 * Cluster.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type BackendFactory, createRedisBackend } from 'bullmq';
import { Cluster } from 'ioredis';
import {
  connectRedis,
  ensureSettled,
  type RedisClient,
  type RedisManners,
} from '../service/connect-redis.ts';
import { type Backend, startPatience_ms } from './backend.ts';
import type { Outage } from './outage.ts';

const prefix = '{payments}';
/** A connection that waits for a job does not notice that we hang up. */
const hangUp_ms = 200;
const connectTimeout_ms = 5_000;
const hastyAnswer_ms = 5_000;
/** Above the ten seconds that BullMQ's blocking connections may wait for a job. */
const patientAnswer_ms = 15_000;
const reconnect_min_ms = 100;
const reconnect_max_ms = 2_000;
const keepAlive_ms = 10_000;

/** Options for every connection to Redis: when to give up one try and when to make the next. */
export const patient = {
  connectTimeout: connectTimeout_ms,
  keepAlive: keepAlive_ms,
  socketTimeout: patientAnswer_ms,
  disconnectTimeout: hangUp_ms,
  retryStrategy: (attempts: number) => Math.min(attempts * reconnect_min_ms, reconnect_max_ms),
} satisfies RedisManners;

/**
 * Options for a connection whose callers get an error at once when Redis is away, instead of
 * waiting for it.
 */
export const hasty = {
  ...patient,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  socketTimeout: hastyAnswer_ms,
} satisfies RedisManners;

/** Opens the store. Rejects when Redis does not answer for 30 seconds. */
export const openRedisBackend = async (url: string, outage: Outage): Promise<Backend> => {
  const open = new Set<RedisClient>();
  const keep = <Client extends RedisClient>(client: Client): Client => {
    open.add(client.on('error', (error) => outage.began(error)));
    return client;
  };
  const adding = keep(connectRedis(url, hasty));
  adding.on('ready', () => outage.ended());
  let working: RedisClient | undefined;
  const connectWorkers = (): RedisClient => {
    // Workers wait for Redis: BullMQ demands that their requests are retried for ever.
    const client = keep(connectRedis(url, { ...patient, maxRetriesPerRequest: null }));
    // BullMQ makes itself a blocking connection for each worker. They are kept, to be ended even
    // when Redis is away and BullMQ cannot.
    if (client instanceof Cluster) {
      const duplicate = client.duplicate.bind(client);
      client.duplicate = (nodes, options) => keep(ensureSettled(duplicate(nodes, options)));
    } else {
      const duplicate = client.duplicate.bind(client);
      client.duplicate = (options) => keep(duplicate(options));
    }
    return client;
  };
  // In a cluster it is the node with the queues that must answer.
  const ask = async (): Promise<void> => void (await adding.exists(`${prefix}:ask`));
  const close = async (): Promise<void> => {
    for (const client of open) {
      client.disconnect();
      // A BullMQ that still waits for this very end would connect anew, and the process would not
      // end.
      client.connect = () => Promise.resolve();
    }
  };
  if (!(await isReady(adding))) {
    await close();
    throw new Error('Redis does not answer');
  }
  const factory: BackendFactory = (name, options, extra) => {
    const connection = extra?.withBlockingConnection ? (working ??= connectWorkers()) : adding;
    return createRedisBackend(name, Object.assign({}, options, { connection, prefix }), extra);
  };
  return { factory, ask, close };
};

/**
 * Whether the connection is ready before our patience ends. What goes wrong meanwhile is reported
 * by its `error` events.
 */
export const isReady = (client: RedisClient): Promise<boolean> =>
  Promise.race([
    new Promise<true>((resolve) => client.once('ready', () => resolve(true))),
    delay(startPatience_ms, false as const, { ref: false }),
  ]);
