/** What subscribers of one event load is shared among calls of one principal, and no further. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fastify } from 'fastify';
import { parse } from 'graphql';
import { remoteExecutor } from '../../gateway/remote-subgraph.ts';
import type { Call, KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { openEventLoads } from '../../subgraphs/kernel/service/graph/event-loads.ts';
import { oncePerCall, perCall } from '../../subgraphs/kernel/service/graph/per-call.ts';
import {
  serveSubgraph,
  subgraphPath,
} from '../../subgraphs/kernel/service/graph/serve-subgraph.ts';
import { openLog } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { eventually } from '../support/eventually.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const principal: KeyPrincipal = {
  kind: 'key',
  keyId: 'k',
  merchantId: 'm',
  shopId: 's',
  mode: 'test',
  scopes: ['api:reports:read'],
};
const call: Call = { principal, requestId: 'r', isInLane: true, liveEvent: '7' };

describe('loads of an event', () => {
  test('are shared by equal principals, and by nobody else', () => {
    const loadsOf = openEventLoads();
    const shared = loadsOf(call);
    assert.ok(shared);
    assert.equal(loadsOf({ ...call, principal: { ...principal }, requestId: 'other' }), shared);
    const strangers: readonly KeyPrincipal[] = [
      { ...principal, merchantId: 'n' },
      { ...principal, shopId: 't' },
      { ...principal, mode: 'live' },
      { ...principal, keyId: 'l' },
      { ...principal, scopes: [] },
    ];
    for (const stranger of strangers)
      assert.notEqual(loadsOf({ ...call, principal: stranger }), shared, JSON.stringify(stranger));
    assert.notEqual(loadsOf({ ...call, liveEvent: '8' }), shared);
    assert.equal(loadsOf({ principal, requestId: 'r', isInLane: true }), undefined);
  });

  test('are made anew when they are 5 seconds old', () => {
    let now_ms = 0;
    const loadsOf = openEventLoads(() => now_ms);
    const shared = loadsOf(call);
    now_ms = 4_999;
    assert.equal(loadsOf(call), shared);
    now_ms = 5_000;
    assert.notEqual(loadsOf(call), shared);
  });

  test('are let go when they are too old, also when no call comes any more', async () => {
    const loadsOf = openEventLoads(() => performance.now(), 20);
    const hold = () => {
      const shared = loadsOf(call);
      assert.ok(shared);
      return new WeakRef(shared);
    };
    const held = hold();
    collectGarbage();
    assert.ok(held.deref(), 'they are held while they are young');
    await eventually(() => {
      collectGarbage();
      return held.deref() === undefined;
    }, 'nobody holds them any more');
  });

  test('are let go, the oldest first, when there are more than 1,000', () => {
    const loadsOf = openEventLoads();
    const of = (event: number) => loadsOf({ ...call, liveEvent: String(event) });
    const [oldest, next] = [of(0), of(1)];
    for (let event = 2; event <= 1_000; event += 1) of(event);
    assert.equal(of(1), next);
    assert.notEqual(of(0), oldest);
  });

  test('are let go, the oldest first, when they hold more than 5,000 rows together', () => {
    const loadsOf = openEventLoads();
    const of = (event: number) => loadsOf({ ...call, liveEvent: String(event) });
    const [oldest, next] = [of(0), of(1)];
    oldest?.hold(500);
    next?.hold(4_500);
    assert.deepEqual([of(0), of(1)], [oldest, next]);
    of(2)?.hold(1);
    assert.equal(of(1), next);
    assert.notEqual(of(0), oldest);
    // What was let go counts no more, whoever still holds on to it.
    oldest?.hold(1_000_000);
    assert.equal(of(1), next);
  });

  test('count the rows that loaders hold for them, lists by their items', async () => {
    const loadsOf = openEventLoads();
    const shopsOf = perCall<string, object[]>(async (keys) =>
      keys.map(() => Array.from({ length: 2_499 }, () => ({}))),
    );
    const onceOf = oncePerCall(
      (key: string) => key,
      async () => ({}),
    );
    const now = () => Temporal.Now.instant();
    const loads = loadsOf(call);
    assert.ok(loads);
    const context = { ...call, now, loads };
    await shopsOf(context).loadMany(['a', 'b']);
    await onceOf('a', context);
    await onceOf('b', context);
    assert.equal(loadsOf(call), loads, '5,000 rows are held');
    await onceOf('c', context);
    assert.notEqual(loadsOf(call), loads);
  });
});

test('the event of a call reaches a subgraph in another process', async () => {
  const seen: (string | undefined)[] = [];
  const app = fastify();
  after(() => app.close());
  const keys = { shared: randomBytes(32), service: null };
  const executor = {
    prepare:
      () =>
      async (_: unknown, { liveEvent }: Call) => {
        seen.push(liveEvent);
        return { data: { __typename: 'Query' } };
      },
  };
  const log = openLog({ logLevel: 'silent' }, 'test');
  serveSubgraph(app, { name: 'payments', executor, keys, log });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const remote = remoteExecutor(address + subgraphPath('payments'), keys, log);
  after(() => remote.close());
  const run = remote.prepare(parse('{ __typename }'));
  await run({}, call);
  await run({}, { principal, requestId: 'r', isInLane: true });
  assert.deepEqual(seen, ['7', undefined]);
});
