/** What subscribers of one event load is shared among calls of one principal, and no further. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { fastify } from 'fastify';
import { parse } from 'graphql';
import { remoteExecutor } from '../../gateway/remote-subgraph.ts';
import type { Call, KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { openEventLoads } from '../../subgraphs/kernel/service/graph/event-loads.ts';
import {
  serveSubgraph,
  subgraphPath,
} from '../../subgraphs/kernel/service/graph/serve-subgraph.ts';
import { openLog } from '../../subgraphs/kernel/service/tracing/telemetry.ts';

const principal: KeyPrincipal = {
  kind: 'key',
  keyId: 'k',
  merchantId: 'm',
  shopId: 's',
  mode: 'test',
  scopes: ['api:reports:read'],
};
const call: Call = { principal, requestId: 'r', liveEvent: '7' };

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
    assert.equal(loadsOf({ principal, requestId: 'r' }), undefined);
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
  serveSubgraph(app, { name: 'payments', executor, keys });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const log = openLog({ logLevel: 'silent' }, 'test');
  const remote = remoteExecutor(address + subgraphPath('payments'), keys, log);
  after(() => remote.close());
  const run = remote.prepare(parse('{ __typename }'));
  await run({}, call);
  await run({}, { principal, requestId: 'r' });
  assert.deepEqual(seen, ['7', undefined]);
});
