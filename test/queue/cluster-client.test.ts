/**
 * A client of a Redis Cluster whose node is lost ends when it is to end, and its `connect` settles
 * (decision A-305): BullMQ's workers wait for both.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test, type TestContext } from 'node:test';
import { Cluster } from 'ioredis';
import { patient } from '../../subgraphs/kernel/queue/backend-redis.ts';
import { connectRedis, slots_ms } from '../../subgraphs/kernel/service/connect-redis.ts';
import { noRedis } from '../support/redis.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis-cluster.ts';
import { eventually } from '../support/eventually.ts';

const patience_ms = 20_000;
const inTime = (what: string, promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    promise,
    delay(patience_ms, null, { ref: false }).then(() => assert.fail(`${what} takes for ever`)),
  ]);

/** Fulfils at the next event of this name. `once` of Node would reject at an `error`. */
const next = (client: Cluster, event: string): Promise<unknown> =>
  new Promise((resolve) => client.once(event, () => resolve(null)));

describe('a client of a Redis Cluster that loses a node', { skip: noRedis }, () => {
  let cluster: TestRedisCluster;
  before(async () => void (cluster = await startRedisCluster()));
  after(() => cluster?.stop());

  const connect = async (t: TestContext): Promise<Cluster> => {
    const client = connectRedis(cluster.url, { ...patient, maxRetriesPerRequest: null });
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
    const ended = next(client, 'end');
    const refresh = client.refreshSlotsCache.bind(client);
    let rounds = 0;
    client.refreshSlotsCache = (answer) => {
      rounds += 1;
      refresh(answer);
      client.disconnect();
    };
    await inTime('the end', ended);
    const atEnd = rounds;
    await delay(2.5 * slots_ms);
    assert.deepEqual([atEnd, rounds], [1, 1]);
  });
});
