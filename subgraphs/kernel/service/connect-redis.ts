/** Connections to Redis: to one server, or to a cluster. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';

export type RedisClient = Redis | Cluster;

export interface RedisManners extends Pick<
  RedisOptions,
  | 'connectTimeout'
  | 'keepAlive'
  | 'socketTimeout'
  | 'disconnectTimeout'
  | 'maxRetriesPerRequest'
  | 'enableOfflineQueue'
  | 'autoResendUnfulfilledCommands'
> {
  /** How long to wait before the next try to connect, in milliseconds. */
  readonly retryStrategy: (attempts: number) => number;
}

/** How long a node may take to answer which node has which keys. */
const slots_ms = 2_000;
/**
 * How often a command is tried while the node of its keys is looked for, or is away: then with
 * pauses of 100 ms.
 */
const tries = { patient: 16, hasty: 5 } as const;

/**
 * Connects to `REDIS_URL`: one address is a server; several, with commas between them, are nodes of
 * a cluster, of which one must answer at the start. User, password and TLS of the first address
 * count for all nodes. Listen to `error`, or ioredis writes to the console.
 */
export const connectRedis = (url: string, manners: RedisManners): RedisClient => {
  const nodes = url.split(',').map((address) => new URL(address));
  const [first] = nodes;
  if (!first || nodes.length === 1) return new Redis(url, manners);
  const { retryStrategy, enableOfflineQueue = true, ...redisOptions } = manners;
  const access = {
    ...(first.username ? { username: decodeURIComponent(first.username) } : {}),
    ...(first.password ? { password: decodeURIComponent(first.password) } : {}),
    ...(first.protocol === 'rediss:' ? { tls: {} } : {}),
  };
  return new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6_379) })),
    {
      redisOptions: { ...redisOptions, ...access },
      enableOfflineQueue,
      clusterRetryStrategy: retryStrategy,
      slotsRefreshTimeout: slots_ms,
      slotsRefreshInterval: slots_ms,
      maxRedirections: enableOfflineQueue ? tries.patient : tries.hasty,
    },
  );
};
