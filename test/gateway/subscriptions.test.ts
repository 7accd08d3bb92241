import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { operationsPerSocket_max } from '../../gateway/graph-protocol.ts';
import { liveSubscribers } from '../../subgraphs/kernel/service/telemetry.ts';
import { connect, listen, serveGraph, until } from './serve-graph.ts';
import { liveKey, operatorToken, otherShopKey, testKey } from './small-graph.ts';

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** A socket without a client around it. */
const openSocket = async (t: TestContext, url: string, protocols = ['graphql-transport-ws'], headers: Record<string, string> = {}): Promise<WebSocket> => {
  const socket = new WebSocket(url, protocols, { headers });
  t.after(() => socket.terminate());
  await once(socket, 'open');
  return socket;
};

const closingOf = async (socket: WebSocket): Promise<{ code: number; reason: string }> => {
  const [code, reason] = await once(socket, 'close');
  return { code: Number(code), reason: String(reason) };
};

const say = (socket: WebSocket, message: object): void => socket.send(JSON.stringify(message));

const hear = async (socket: WebSocket): Promise<unknown> => {
  const [message] = await once(socket, 'message');
  return JSON.parse(String(message));
};

const letIn = async (t: TestContext, url: string, key = testKey): Promise<WebSocket> => {
  const socket = await openSocket(t, url);
  say(socket, { type: 'connection_init', payload: bearer(key) });
  assert.deepEqual(await hear(socket), { type: 'connection_ack' });
  return socket;
};

/** How many subscriptions are open in this process. */
const subscriptions = async (): Promise<number> => (await liveSubscribers.get()).values[0]?.value ?? 0;

describe('a subscription', () => {
  test('gives the client its own selection of each event, federated fields of three subgraphs included', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const created = await listen(
      connect(t, socketUrl),
      'subscription { paymentCreated { id kind payment { id amount status shop { name } webhookDeliveries { status } } } }',
    );
    await world.happen({ subjectId: 'p-1' });
    assert.deepEqual(await created.next(), {
      data: {
        paymentCreated: {
          id: '10',
          kind: 'payment_created',
          payment: { id: 'p-1', amount: 100, status: 'pending', shop: { name: 'Shop s1' }, webhookDeliveries: [{ status: 'delivered' }] },
        },
      },
    });
  });

  test('takes aliases, fragments on every level, variables, conditions inside and several operations', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const client = connect(t, socketUrl);
    const results = client.iterate({
      operationName: 'Mine',
      query: `
        query Other { rates { rateBps } }
        subscription Mine($id: ID, $kinds: [LiveEventKind!], $withShop: Boolean!, $unused: Boolean = false) { ...Root }
        fragment Root on Subscription { mine: events(after: $id, kinds: $kinds) { number: id ...Of } ... on Subscription { mine: events(after: $id, kinds: $kinds) { at } } }
        fragment Of on LiveEvent {
          __typename
          ... on PaymentStatusChangedEvent { payment { ...Paid } }
          ... on PayoutCreatedEvent { payout { id } }
        }
        fragment Paid on Payment { sum: amount shop @include(if: $withShop) { name } status @skip(if: $unused) }`,
      variables: { id: null, kinds: ['payment_status_changed'], withShop: true },
    });
    const first = results.next();
    await wait(150);
    await world.happen();
    await world.happen({ kind: 'payment.status_changed', subjectId: 'p-2' });
    const { value } = await first;
    assert.deepEqual(value, {
      data: {
        mine: {
          number: '20',
          __typename: 'PaymentStatusChangedEvent',
          payment: { sum: 100, shop: { name: 'Shop s1' }, status: 'pending' },
          at: '2026-05-06T10:00:00.000Z',
        },
      },
    });
  });

  test('that asks for the event alone is answered without asking a subgraph', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const events = await listen(connect(t, socketUrl), 'subscription { events { __typename id kind at merchantId shopId mode payload } }');
    await world.happen({ kind: 'refund.created', subjectId: 'r-1', payload: { payment_id: 'p-1' } });
    assert.deepEqual((await events.next()).data, {
      events: {
        __typename: 'RefundCreatedEvent',
        id: '10',
        kind: 'refund_created',
        at: '2026-05-06T10:00:00.000Z',
        merchantId: 'm1',
        shopId: 's1',
        mode: 'test',
        payload: { id: 'r-1', payment_id: 'p-1', amount: 100, status: 'pending' },
      },
    });
    assert.equal(world.count('liveEvent'), 0);
  });

  test('of a key hears its shop and mode; of an operator all, or one merchant', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const ids = 'subscription ($m: ID) { events(merchantId: $m) { id } }';
    const key = await listen(connect(t, socketUrl, bearer(otherShopKey)), ids);
    const all = await listen(connect(t, socketUrl, bearer(operatorToken)), ids);
    const one = await listen(connect(t, socketUrl, bearer(operatorToken)), ids, { m: 'm2' });
    await world.happen({ merchantId: 'm2', shopId: 's3' });
    await world.happen({ shopId: 's1' });
    await world.happen({ shopId: 's2' });
    assert.deepEqual((await key.next()).data, { events: { id: '30' } });
    assert.deepEqual([(await all.next()).data, (await all.next()).data], [{ events: { id: '10' } }, { events: { id: '20' } }]);
    assert.deepEqual((await one.next()).data, { events: { id: '10' } });
  });

  test('resumes behind an event, and hears the rest once', async (t) => {
    const { world, socketUrl } = await serveGraph(t, { rememberedEvents: 2 });
    for (let i = 0; i < 5; i += 1) await world.happen();
    const events = await listen(connect(t, socketUrl), 'subscription { paymentCreated(after: "20") { id } }');
    await world.happen();
    const ids = [await events.next(), await events.next(), await events.next(), await events.next()].map(({ data }) => data?.['paymentCreated']);
    assert.deepEqual(ids, [{ id: '30' }, { id: '40' }, { id: '50' }, { id: '60' }]);
  });

  test('is read once for all that ask the same with the same rights, and apart for others', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const query = 'subscription ($big: Boolean!) { paymentCreated { payment { amount @include(if: $big) id } } }';
    const same = await Promise.all(Array.from({ length: 5 }, () => listen(connect(t, socketUrl), query, { big: true })));
    const other = await listen(connect(t, socketUrl), query, { big: false });
    const operator = await listen(connect(t, socketUrl, bearer(operatorToken)), query, { big: true });
    await world.happen({ subjectId: 'p' });
    const heard = await Promise.all([...same, operator].map((results) => results.next()));
    assert.deepEqual(
      heard.map(({ data }) => data),
      heard.map(() => ({ paymentCreated: { payment: { amount: 100, id: 'p' } } })),
    );
    assert.deepEqual((await other.next()).data, { paymentCreated: { payment: { id: 'p' } } });
    assert.equal(world.count('liveEvent'), 3);
  });

  test('shows an error where it happened under the name that the client gave, and nothing of what is inside', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const events = await listen(connect(t, socketUrl), 'subscription { mine: paymentCreated { payment { id } } }');
    world.obstacles.set('liveEvent', () => Promise.reject(new Error('the secret of the database is hunter2')));
    await world.happen();
    assert.deepEqual(await events.next(), {
      data: null,
      errors: [{ message: 'internal error', path: ['mine'], extensions: { code: 'internal_error' } }],
    });
  });

  test('counts an event that is gone by the time it is read as missed', async (t) => {
    const { world, socketUrl } = await serveGraph(t);
    const events = await listen(connect(t, socketUrl), 'subscription { paymentCreated { id payment { id } } }');
    const { sequence } = world.store();
    world.gone.add(sequence);
    await world.bus.publish('events', world.events);
    await world.happen({ subjectId: 'p' });
    assert.deepEqual(await events.next(), { data: { paymentCreated: { id: '20', payment: { id: 'p' } } }, extensions: { missed: 1 } });
  });

  test('of a console that does not read loses its oldest events, tells how many, and holds nobody else up', async (t) => {
    const { world, socketUrl } = await serveGraph(t, { readerBuffer: 20 });
    const query = 'subscription { paymentCreated { id payload } }';
    const slow = await letIn(t, socketUrl);
    say(slow, { type: 'subscribe', id: '1', payload: { query } });
    const quick = await listen(connect(t, socketUrl), query);
    slow.pause();
    const large = 'x'.repeat(200_000);
    const total = 200;
    for (let i = 0; i < total; i += 1) {
      await world.happen({ payload: { large } });
      await quick.next();
    }
    const heard: { payload: { data: { paymentCreated: { id: string } }; extensions?: { missed: number } } }[] = [];
    slow.on('message', (message: Buffer) => heard.push(JSON.parse(message.toString())));
    slow.resume();
    await until(() => heard.at(-1)?.payload.data.paymentCreated.id === String(total * 10));
    const missed = heard.reduce((sum, { payload }) => sum + (payload.extensions?.missed ?? 0), 0);
    assert(missed > 0, 'nothing was missed');
    assert.equal(missed + heard.length, total);
    const ids = heard.map(({ payload }) => Number(payload.data.paymentCreated.id));
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
    );
  });

  test('ends when its client completes it or goes, even while it waits for an event', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const before = await subscriptions();
    const socket = await letIn(t, socketUrl);
    for (const id of ['1', '2', '3']) say(socket, { type: 'subscribe', id, payload: { query: 'subscription { events { id } }' } });
    await until(async () => (await subscriptions()) === before + 3);
    say(socket, { type: 'complete', id: '1' });
    await until(async () => (await subscriptions()) === before + 2);
    socket.terminate();
    await until(async () => (await subscriptions()) === before);
  });
});

describe('a subscription is refused', () => {
  const refusals: readonly (readonly [title: string, query: string, code: string, key?: string])[] = [
    ['when it cannot be parsed', 'subscription {', 'GRAPHQL_PARSE_FAILED'],
    ['when it does not fit the schema', 'subscription { paymentCreated { nothing } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['when it has two root fields', 'subscription { paymentCreated { id } payoutCreated { id } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['when its root field is conditional', 'subscription { paymentCreated @skip(if: false) { id } }', 'BAD_USER_INPUT'],
    ['when a variable is missing', 'subscription ($on: Boolean!) { paymentCreated { id @include(if: $on) } }', 'BAD_USER_INPUT'],
    ['when after is not the id of an event', 'subscription { paymentCreated(after: "yesterday") { id } }', 'bad_request'],
    ["when it names another key's merchant", 'subscription { paymentCreated(merchantId: "m2") { id } }', 'not_found'],
    [
      'when it is nested too deeply',
      `subscription { paymentCreated { payment ${'{ refunds { payment '.repeat(8)}{ id }${' } }'.repeat(8)} } }`,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['when it has too many fields', `subscription { paymentCreated { ${'id '.repeat(1_001)} } }`, 'GRAPHQL_VALIDATION_FAILED'],
    ['when it has too many words', `subscription { paymentCreated { ${'id '.repeat(6_000)} } }`, 'GRAPHQL_PARSE_FAILED'],
    ['when no operation has the name', 'subscription A { events { id } } subscription B { events { id } }', 'OPERATION_RESOLUTION_FAILURE'],
  ];
  for (const [title, query, code] of refusals) {
    test(title, async (t) => {
      const { socketUrl } = await serveGraph(t);
      const socket = await letIn(t, socketUrl);
      say(socket, { type: 'subscribe', id: '1', payload: { query } });
      const answer = await hear(socket);
      assert(typeof answer === 'object' && answer !== null && 'type' in answer && 'payload' in answer);
      assert.equal(answer.type, 'error');
      assert(Array.isArray(answer.payload));
      assert.deepEqual(new Set(answer.payload.map(({ extensions }) => extensions.code)), new Set([code]));
    });
  }

  test('when a connection has as many as it may', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    const query = 'subscription { events { id } }';
    for (let i = 0; i <= operationsPerSocket_max; i += 1) say(socket, { type: 'subscribe', id: `${i}`, payload: { query } });
    assert.deepEqual(await hear(socket), {
      id: `${operationsPerSocket_max}`,
      type: 'error',
      payload: [{ message: `A connection runs at most ${operationsPerSocket_max} operations at a time.`, extensions: { code: 'rate_limited' } }],
    });
  });
});

describe('a socket', () => {
  test('runs queries and mutations too', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const client = connect(t, socketUrl, bearer(operatorToken));
    const run = async (query: string) => (await client.iterate({ query }).next()).value;
    assert.deepEqual(await run('{ merchant(id: "m1") { name } }'), { data: { merchant: { name: 'Merchant of the test' } } });
    assert.deepEqual(await run('mutation { merchantCreate(name: "New") { id name } }'), { data: { merchantCreate: { id: 'm9', name: 'New' } } });
  });

  test('refuses what the access table does not give the caller', async (t) => {
    const { socketUrl, world } = await serveGraph(t);
    const result = await connect(t, socketUrl).iterate({ query: 'mutation { merchantCreate(name: "New") { id } }' }).next();
    assert(!result.done);
    assert.deepEqual(
      result.value.errors?.map(({ extensions }) => extensions?.['code']),
      ['scope_required'],
    );
    assert.equal(world.count('merchantCreate'), 0);
  });

  test('takes the key from the header as well', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await openSocket(t, socketUrl, ['graphql-transport-ws'], bearer(testKey));
    say(socket, { type: 'connection_init' });
    assert.deepEqual(await hear(socket), { type: 'connection_ack' });
  });

  test('is closed with 4403 for a bad key, a live key without live mode, and no key', async (t) => {
    const { socketUrl } = await serveGraph(t);
    for (const payload of [bearer('sk_test_abc123_wrong'), bearer(liveKey), {}, { authorization: 5 }]) {
      const socket = await openSocket(t, socketUrl);
      say(socket, { type: 'connection_init', payload });
      assert.deepEqual(await closingOf(socket), { code: 4403, reason: 'Forbidden' });
    }
  });

  test('is closed with 4403 as soon as its key is revoked', async (t) => {
    const { socketUrl, world } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    await world.revoke(testKey);
    assert.equal((await closingOf(socket)).code, 4403);
  });

  test('is told to try again later when keys cannot be checked', async (t) => {
    const { socketUrl, world } = await serveGraph(t);
    world.obstacles.set('apiKeyHolder', () => Promise.reject(new Error('no database')));
    const socket = await openSocket(t, socketUrl);
    say(socket, { type: 'connection_init', payload: bearer(testKey) });
    assert.deepEqual(await closingOf(socket), { code: 1013, reason: 'Try again later' });
  });

  test('is closed as the protocol says: 4400, 4401, 4406, 4409, 4429', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const codes: number[] = [];
    const closedBy = async (socket: WebSocket, ...messages: readonly string[]): Promise<void> => {
      for (const message of messages) socket.send(message);
      codes.push((await closingOf(socket)).code);
    };
    const subscribe = JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { events { id } }' } });
    await closedBy(await openSocket(t, socketUrl), 'not json');
    await closedBy(await openSocket(t, socketUrl), subscribe);
    await closedBy(await openSocket(t, socketUrl, []));
    await closedBy(await letIn(t, socketUrl), subscribe, subscribe);
    await closedBy(await letIn(t, socketUrl), JSON.stringify({ type: 'connection_init', payload: bearer(testKey) }));
    assert.deepEqual(codes, [4400, 4401, 4406, 4409, 4429]);
  });

  test('is closed with 1009 by a message that is too large', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    socket.send('x'.repeat(300_000));
    assert.equal((await closingOf(socket)).code, 1009);
  });

  test('is closed with 4429 when its caller has as many as allowed, and a closed one makes room', async (t) => {
    const { socketUrl } = await serveGraph(t, { socketsPerCaller: 2 });
    const [first] = [await letIn(t, socketUrl), await letIn(t, socketUrl)];
    const third = await openSocket(t, socketUrl);
    say(third, { type: 'connection_init', payload: bearer(testKey) });
    assert.deepEqual(await closingOf(third), { code: 4429, reason: 'Too many sockets' });
    await letIn(t, socketUrl, otherShopKey);
    first?.close();
    await wait(100);
    await letIn(t, socketUrl);
  });

  test('is not to be had on another path', async (t) => {
    const { url } = await serveGraph(t);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/other`, 'graphql-transport-ws');
    const [error] = await once(socket, 'error');
    assert.match(String(error), /404/);
  });

  test('ends with 1001 within a second when the service drains, even when its client does not answer', async (t) => {
    const { app, socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    const deaf = await letIn(t, socketUrl);
    deaf.pause();
    const closing = closingOf(socket);
    const began = performance.now();
    await app.close();
    assert.deepEqual(await closing, { code: 1001, reason: 'Going away' });
    // The cut comes after 0.8 seconds; the rest is for a busy machine.
    assert(performance.now() - began < 1_500);
  });
});
