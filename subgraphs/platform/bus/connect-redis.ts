/** Connections to Redis: to one server, or to a cluster. */
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';

export type RedisClient = Redis | Cluster;

interface RedisManners extends Pick<
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

/** How long a node may take to report which node has which keys. */
const slots_ms = 2_000;
/**
 * How often a command is retried while the node of its keys is unknown or away: then with pauses of
 * 100 ms.
 */
const tries = { waiting: 16, failingFast: 5 } as const;
const hangUp_ms = 200;
const connectTimeout_ms = 5_000;
const failFastAnswer_ms = 5_000;
/** Above the ten seconds that BullMQ's blocking connections may wait for a job. */
const waitingAnswer_ms = 15_000;
const reconnect_min_ms = 100;
const reconnect_max_ms = 2_000;
const keepAlive_ms = 10_000;
/** Time limit for a Redis that starts at the same time as we do. */
const start_max_ms = 30_000;

/** For a connection whose commands wait until Redis is back. */
export const waitForRedis = {
  connectTimeout: connectTimeout_ms,
  keepAlive: keepAlive_ms,
  socketTimeout: waitingAnswer_ms,
  disconnectTimeout: hangUp_ms,
  // As BullMQ's manual asks for workers.
  maxRetriesPerRequest: null,
  retryStrategy: (attempts: number) => Math.min(attempts * reconnect_min_ms, reconnect_max_ms),
} satisfies RedisManners;

/** For a connection whose commands fail at once while Redis is away. */
export const failFast = {
  ...waitForRedis,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  socketTimeout: failFastAnswer_ms,
} satisfies RedisManners;

/** How long a requested end may take before it is requested again. */
const end_max_ms = 100;

/** Resolves when a client is ready, and rejects when it has ended, whichever comes first. */
const readyOrEnded = (client: Cluster): Promise<void> =>
  new Promise((resolve, reject) => {
    const isReady = (): void => (client.off('end', isEnded), resolve());
    const isEnded = (): void => (client.off('ready', isReady), reject(new Error('it has ended')));
    client.once('ready', isReady).once('end', isEnded);
  });

/** Private fields of ioredis. */
interface ClusterInternals {
  setStatus(status: 'end'): void;
  clearNodesRefreshInterval(): void;
}

/**
 * Makes a cluster's client end on request, and its `connect` settle. When a node is lost meanwhile,
 * ioredis may never do either: a redirection adds a node after the last one was dropped, a
 * reconnection in progress undoes the request to end, and a `connect` that finds the cluster down
 * is replaced by the next one. BullMQ waits for both, and its worker takes no jobs until then. A
 * client that ended while it was querying the slots would continue to query and look as if it had
 * not ended; its process would not end.
 */
const ensureSettled = (client: Cluster): Cluster => {
  const disconnect = client.disconnect.bind(client);
  const connect = client.connect.bind(client);
  const refresh = client.refreshSlotsCache.bind(client);
  let ending: Promise<void> | null = null;
  let settling: Promise<void> | null = null;
  const settled = (): Promise<void> => {
    settling ??= readyOrEnded(client).finally(() => (settling = null));
    settling.catch(() => {});
    return settling;
  };
  const untilEnded = async (): Promise<void> => {
    const ended = new Promise<true>((resolve) => client.once('end', () => resolve(true)));
    while (!(await Promise.race([ended, delay(end_max_ms, false, { ref: false })])))
      // It ends with its last node, and so not without any.
      if (client.nodes().length > 0) disconnect();
      else void connect().catch(() => {});
  };
  const internals = client as unknown as ClusterInternals;
  let hasEnded = false;
  client.on('connecting', () => (hasEnded = false));
  client.on('end', () => (hasEnded = true));
  client.on('close', () => {
    // Of a node that closed after the last one.
    if (hasEnded) internals.setStatus('end');
  });
  client.refreshSlotsCache = (answer) =>
    refresh((error) => {
      answer?.(error);
      // What was answered has set the timer of the next round.
      if (hasEnded) internals.clearNodesRefreshInterval();
    });
  client.disconnect = (reconnect = false) => {
    if (hasEnded) return;
    if (!reconnect) ending ??= untilEnded().finally(() => (ending = null));
    disconnect(reconnect);
  };
  // BullMQ's workers make themselves another connection.
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (nodes, options) => ensureSettled(duplicate(nodes, options));
  client.connect = async () => {
    // ioredis' own timer, for which the order to end came too late.
    if (ending && client.status === 'reconnecting') throw new Error('it is ending');
    await ending;
    await Promise.race([connect(), settled()]);
  };
  return client;
};

/**
 * Connects to `REDIS_URL`: one address is a server; several, separated by commas, are nodes of a
 * cluster, and one of them must answer at the start. User, password and TLS of the first address
 * apply to all nodes. Listen to `error`, or ioredis writes to the console.
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
  const cluster = new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6_379) })),
    {
      redisOptions: { ...redisOptions, ...access },
      enableOfflineQueue,
      clusterRetryStrategy: retryStrategy,
      slotsRefreshTimeout: slots_ms,
      slotsRefreshInterval: slots_ms,
      maxRedirections: enableOfflineQueue ? tries.waiting : tries.failingFast,
    },
  );
  return ensureSettled(cluster);
};

/** Waits for a connection. Rejects when Redis does not answer for 30 seconds. */
export const whenRedisAnswers = async (client: RedisClient): Promise<void> => {
  const ready = new Promise<true>((resolve) => client.once('ready', () => resolve(true)));
  const isReady =
    client.status === 'ready' ||
    (await Promise.race([ready, delay(start_max_ms, false, { ref: false })]));
  if (!isReady) throw new Error('Redis does not answer');
};
