/**
 * A client of a Redis Cluster whose node is lost ends when it is to end, and its `connect` settles:
 * BullMQ's workers wait for both.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { Cluster } from 'ioredis';
import { connectRedis, waitForRedis } from '../../subgraphs/platform/bus/connect-redis.ts';
import { noRedis } from '../support/redis.ts';
import { startRedisCluster, type TestRedisCluster } from './redis-cluster.ts';
import { endsBefore } from '../support/ends-before.ts';
import { eventually, patience_ms } from '../support/eventually.ts';

const inTime = async (what: string, promise: Promise<unknown>): Promise<void> =>
  assert.ok(await endsBefore(patience_ms, promise), `${what} takes for ever`);

/** Fulfils at the next event of this name. `once` of Node would reject at an `error`. */
const next = (client: Cluster, event: string): Promise<unknown> =>
  new Promise((resolve) => client.once(event, () => resolve(null)));

/** Counts how often a client asks for the slots; `also` is called each time. */
const countRefreshes = (client: Cluster, also = (): void => {}): { readonly count: number } => {
  const rounds = { count: 0 };
  const refresh = client.refreshSlotsCache.bind(client);
  client.refreshSlotsCache = (answer) => {
    rounds.count += 1;
    refresh(answer);
    also();
  };
  return rounds;
};

describe('a client of a Redis Cluster that loses a node', { skip: noRedis }, () => {
  let cluster: TestRedisCluster;
  before(async () => void (cluster = await startRedisCluster()));
  after(() => cluster?.stop());

  const connect = async (t: TestContext): Promise<Cluster> => {
    const client = connectRedis(cluster.url, waitForRedis);
    assert.ok(client instanceof Cluster);
    client.on('error', () => {});
    t.after(() => client.disconnect());
    await next(client, 'ready');
    return client;
  };

  test('a connect that finds the cluster down fulfils once it is up again', async (t) => {
    const client = await connect(t);
    await cluster.kill(0);
    const isDown = async (): Promise<boolean> =>
      (await client.cluster('INFO')).includes('cluster_state:fail');
    await eventually(() => isDown().catch(() => false), 'a cluster that is down');
    client.disconnect();
    const connecting = client.connect();
    let isSettled = false;
    void connecting.finally(() => (isSettled = true)).catch(() => {});
    await inTime('a first try', next(client, 'reconnecting'));
    assert.equal(isSettled, false);
    await cluster.revive(0);
    await inTime('connecting', connecting);
    assert.equal(await client.set('a', '1'), 'OK');
  });

  test('one that is to end while it has no node ends, and connects anew', async (t) => {
    const client = await connect(t);
    await Promise.all(client.nodes().map((node) => node.ping()));
    await Promise.all([0, 1, 2].map(cluster.kill));
    await inTime('a lost connection', next(client, 'reconnecting'));
    client.disconnect();
    await inTime('the end without a node', next(client, 'end'));
    await Promise.all([0, 1, 2].map(cluster.revive));
    await inTime('connecting', client.connect());
    // As BullMQ does after a command that timed out.
    client.disconnect();
    await inTime('connecting at once', client.connect());
    assert.equal(await client.set('a', '1'), 'OK');
  });

  test('one that ends while it asks for the slots asks no more', async (t) => {
    const client = await connect(t);
    const goesOn = countRefreshes(await connect(t));
    const ended = next(client, 'end');
    const rounds = countRefreshes(client, () => client.disconnect());
    await inTime('the end', ended);
    const others = goesOn.count;
    await eventually(() => goesOn.count > others + 2, 'another client that asks twice');
    assert.equal(rounds.count, 1);
  });
});
