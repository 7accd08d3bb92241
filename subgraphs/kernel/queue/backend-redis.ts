/** BullMQ on Redis. Every key has the hash tag `{payments}`, so that the same keys work on a Redis Cluster. */
import { setTimeout as delay } from 'node:timers/promises';
import { type BackendFactory, createRedisBackend } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { type Backend, startPatience_ms } from './backend.ts';
import type { Outage } from './outage.ts';

const prefix = '{payments}';
/** A connection that waits for a job does not notice that we hang up. */
const hangUp_ms = 200;
const connectTimeout_ms = 5_000;
const hastyAnswer_ms = 5_000;
/** Above the ten seconds that BullMQ's blocking connections may wait for a job. */
const patientAnswer_ms = 15_000;
const reconnectMin_ms = 100;
const reconnectMax_ms = 2_000;
const keepAlive_ms = 10_000;

/** Options for every connection to Redis: when to give up one try and when to make the next. */
export const patient = {
  connectTimeout: connectTimeout_ms,
  keepAlive: keepAlive_ms,
  socketTimeout: patientAnswer_ms,
  disconnectTimeout: hangUp_ms,
  retryStrategy: (attempts: number) => Math.min(attempts * reconnectMin_ms, reconnectMax_ms),
} satisfies RedisOptions;

/** Options for a connection whose callers are told at once that Redis is away, instead of waiting for it. */
export const hasty = { ...patient, enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: hastyAnswer_ms } satisfies RedisOptions;

/** Opens the store. Rejects when Redis does not answer for 30 seconds. */
export const openRedisBackend = async (url: string, outage: Outage): Promise<Backend> => {
  const open = new Set<Redis>();
  const keep = (client: Redis): Redis => {
    open.add(client.on('error', (error) => outage.began(error)));
    return client;
  };
  const adding = keep(new Redis(url, hasty)).on('ready', () => outage.ended());
  let working: Redis | undefined;
  const connectWorkers = (): Redis => {
    // Workers wait for Redis: BullMQ demands that their requests are retried for ever.
    const client = keep(new Redis(url, { ...patient, maxRetriesPerRequest: null }));
    const duplicate = client.duplicate.bind(client);
    // BullMQ makes itself a blocking connection for each worker. They are kept, to be ended even when Redis is away and BullMQ cannot.
    client.duplicate = (options) => keep(duplicate(options));
    return client;
  };
  const ask = async (): Promise<void> => void (await adding.ping());
  const close = async (): Promise<void> => {
    for (const client of open) client.disconnect();
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

/** Whether the connection is ready before our patience ends. What goes wrong meanwhile is told by its `error` events. */
export const isReady = (client: Redis): Promise<boolean> =>
  Promise.race([new Promise<true>((resolve) => client.once('ready', () => resolve(true))), delay(startPatience_ms, false as const, { ref: false })]);
