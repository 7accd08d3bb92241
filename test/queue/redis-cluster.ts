/**
 * A real Redis Cluster of three for a test file: three redis-servers on loopback that share the
 * slots, nothing of the data written to disk.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { runRedis, type RedisServer } from '../support/redis.ts';

export interface TestRedisCluster {
  /** What `REDIS_URL` is: the three addresses, with commas between them. */
  readonly url: string;
  /** Removes every key. */
  flush(): Promise<void>;
  /** Which node keeps the queues. */
  queueNode(): Promise<number>;
  /** Kills a node, 0 to 2; its keys are gone. */
  kill(node: number): Promise<void>;
  /**
   * Lets a killed node come back, empty, with the slots that it had; fulfils when the cluster is
   * whole.
   */
  revive(node: number): Promise<void>;
  stop(): Promise<void>;
}

const slots = 16_384;

interface Node {
  readonly port: number;
  readonly busPort: number;
  readonly directory: string;
}

const startNode = ({ port, busPort, directory }: Node): Promise<RedisServer> =>
  runRedis(port, directory, {
    'cluster-enabled': 'yes',
    'cluster-config-file': 'nodes.conf',
    // The usual one is ten thousand higher, which is no port for most free ones.
    'cluster-port': String(busPort),
    'cluster-node-timeout': '2000',
  });

/** Asks one node something, on a connection of its own. */
const asking = async <Answer>(
  { port }: Node,
  ask: (client: Redis) => Promise<Answer>,
): Promise<Answer> => {
  const client = new Redis(port, '127.0.0.1');
  client.on('error', () => {});
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
};

const untilWhole = async (nodes: readonly Node[]): Promise<void> => {
  const isWhole = (node: Node): Promise<boolean> =>
    asking(node, async (client) => {
      const info = String(await client.call('CLUSTER', 'INFO'));
      return (
        info.includes('cluster_state:ok') &&
        info.includes(`cluster_known_nodes:${nodes.length}`) &&
        info.includes(`cluster_slots_ok:${slots}`)
      );
    }).catch(() => false);
  await eventually(async () => {
    await meet(nodes);
    return (await Promise.all(nodes.map(isWhole))).every(Boolean);
  }, 'the whole Redis Cluster');
};

/**
 * Makes the other nodes known to the first one while it knows none. On a busy machine it may forget
 * one that it has just met, which knows it and does not come again by itself.
 */
const meet = async ([first, ...others]: readonly Node[]): Promise<void> => {
  if (!first) return;
  const info = await asking(first, (client) => client.call('CLUSTER', 'INFO'));
  if (!String(info).includes('cluster_known_nodes:1\r')) return;
  const address = ['127.0.0.1', String(first.port), String(first.busPort)];
  for (const other of others)
    await asking(other, (client) => client.call('CLUSTER', 'MEET', ...address));
};

const shareSlots = async (nodes: readonly Node[]): Promise<void> => {
  for (const [index, node] of nodes.entries()) {
    await asking(node, async (client) => {
      const [from, to] = [index, index + 1].map((share) =>
        Math.floor((share * slots) / nodes.length),
      );
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    });
  }
  await untilWhole(nodes);
};

/** Starts the cluster and waits until it is whole. */
export const startRedisCluster = async (): Promise<TestRedisCluster> => {
  const directory = mkdtempSync(join(tmpdir(), 'payments-redis-cluster-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const nodes: readonly Node[] = await Promise.all(
    [0, 1, 2].map(async (index) => {
      const own = join(directory, String(index));
      mkdirSync(own);
      return { port: await freePort(), busPort: await freePort(), directory: own };
    }),
  );
  const servers = await Promise.all(nodes.map(startNode));
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(directory, { recursive: true, force: true });
  };
  await shareSlots(nodes).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const nodeAt = (index: number): Node =>
    nodes[index] ?? nodes[0] ?? { port: 0, busPort: 0, directory };
  const rangeOf = (slot: number): number => Math.floor((slot * nodes.length) / slots);
  return {
    url: nodes.map(({ port }) => `redis://127.0.0.1:${port}`).join(','),
    flush: async () =>
      void (await Promise.all(nodes.map((node) => asking(node, (client) => client.flushall())))),
    queueNode: () =>
      asking(nodeAt(0), async (client) =>
        rangeOf(Number(await client.call('CLUSTER', 'KEYSLOT', '{payments}'))),
      ),
    kill: async (index) => servers[index]?.kill(),
    revive: async (index) => {
      servers[index] = await startNode(nodeAt(index));
      await untilWhole(nodes);
    },
    stop,
  };
};
