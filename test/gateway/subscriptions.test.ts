import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import { eventually } from '../support/eventually.ts';
import { operationsPerSocket_max } from '../../gateway/graphql/graph-protocol.ts';
import { liveKinds } from '../../subgraphs/rules/event.ts';
import { bearer, receive, letIn, say } from './raw-socket.ts';
import { connect, listen, serveGraph, listening, readers } from './serve-graph.ts';
import { operatorToken, otherShopKey, testKey } from './small-graph.ts';

describe('a subscription', () => {
  test('gives the client its own selection of each event, federated fields of three subgraphs included', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const created = await listen(
      connect(t, socketUrl),
      'subscription { paymentCreated { id kind payment { id amount status shop { name } webhookDeliveries { status } } } }',
    );
    await fixture.happen({ subjectId: 'p-1' });
    assert.deepEqual(await created.next(), {
      data: {
        paymentCreated: {
          id: '10',
          kind: 'payment_created',
          payment: {
            id: 'p-1',
            amount: 100,
            status: 'pending',
            shop: { name: 'Shop s1' },
            webhookDeliveries: [{ status: 'delivered' }],
          },
        },
      },
    });
  });

  test('takes aliases, fragments on every level, variables, conditions inside and several operations', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
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
    const before = await readers();
    const first = results.next();
    await listening(before, first);
    await fixture.happen();
    await fixture.happen({ kind: 'payment.status_changed', subjectId: 'p-2' });
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
    const { fixture, socketUrl } = await serveGraph(t);
    const events = await listen(
      connect(t, socketUrl),
      'subscription { events { __typename id kind at merchantId shopId mode payload } }',
    );
    await fixture.happen({
      kind: 'refund.created',
      subjectId: 'r-1',
      payload: { payment_id: 'p-1' },
    });
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
    assert.equal(fixture.count('liveEvent'), 0);
  });

  test('of each of the six fields hears its own kind, and the union those that it asks for', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const client = connect(t, socketUrl);
    const fields = [
      'paymentCreated',
      'paymentStatusChanged',
      'payoutCreated',
      'payoutStatusChanged',
      'refundCreated',
      'subscriptionStatusChanged',
    ] as const;
    const each: Awaited<ReturnType<typeof listen>>[] = [];
    for (const field of fields)
      each.push(await listen(client, `subscription { ${field} { kind } }`));
    const all = await listen(client, 'subscription { events { kind } }');
    const some = await listen(
      client,
      'subscription { events(kinds: [payout_created, refund_created]) { kind } }',
    );
    for (const kind of liveKinds) await fixture.happen({ kind });
    const received = await Promise.all(each.map((results) => results.next()));
    const kinds = [
      'payment_created',
      'payment_status_changed',
      'payout_created',
      'payout_status_changed',
      'refund_created',
      'subscription_status_changed',
    ];
    assert.deepEqual(
      received.map(({ data }, index) => data?.[fields[index] ?? '']),
      kinds.map((kind) => ({ kind })),
    );
    for (const kind of kinds) assert.deepEqual((await all.next()).data, { events: { kind } });
    for (const kind of ['payout_created', 'refund_created'])
      assert.deepEqual((await some.next()).data, { events: { kind } });
    // The next one comes straight behind: none of another kind was in between.
    for (const kind of liveKinds) await fixture.happen({ kind });
    const again = await Promise.all([...each, some].map((results) => results.next()));
    assert.deepEqual(
      again.map(({ data }) => Object.values(data ?? {})),
      [...kinds, 'payout_created'].map((kind) => [{ kind }]),
    );
  });

  test('sends a key without a scope of recurring billing nothing of subscriptions', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    fixture.setKey(testKey, { ...fixture.holderOf(testKey), scopes: ['api:sbp'] });
    const client = connect(t, socketUrl);
    const all = await listen(client, 'subscription { events { kind } }');
    await fixture.happen({ kind: 'subscription.status_changed' });
    await fixture.happen({ kind: 'refund.created' });
    assert.deepEqual((await all.next()).data, { events: { kind: 'refund_created' } });
    await assert.rejects(
      client.iterate({ query: 'subscription { subscriptionStatusChanged { kind } }' }).next(),
      ([refusal]: readonly GraphQLError[]) => {
        assert.equal(refusal?.extensions['code'], 'scope_required');
        return true;
      },
    );
  });

  test('of a key hears its shop and mode; of an operator all, or one merchant', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const ids = 'subscription ($m: ID) { events(merchantId: $m) { id } }';
    const key = await listen(connect(t, socketUrl, bearer(otherShopKey)), ids);
    const all = await listen(connect(t, socketUrl, bearer(operatorToken)), ids);
    const one = await listen(connect(t, socketUrl, bearer(operatorToken)), ids, { m: 'm2' });
    await fixture.happen({ merchantId: 'm2', shopId: 's3' });
    await fixture.happen({ shopId: 's1' });
    await fixture.happen({ shopId: 's2' });
    assert.deepEqual((await key.next()).data, { events: { id: '30' } });
    assert.deepEqual(
      [(await all.next()).data, (await all.next()).data],
      [{ events: { id: '10' } }, { events: { id: '20' } }],
    );
    assert.deepEqual((await one.next()).data, { events: { id: '10' } });
  });

  test('resumes behind an event, and hears the rest once', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t, { recentEvents: 2 });
    for (let i = 0; i < 5; i += 1) await fixture.happen();
    const events = await listen(
      connect(t, socketUrl),
      'subscription { paymentCreated(after: "20") { id } }',
    );
    await fixture.happen();
    const ids = [
      await events.next(),
      await events.next(),
      await events.next(),
      await events.next(),
    ].map(({ data }) => data?.['paymentCreated']);
    assert.deepEqual(ids, [{ id: '30' }, { id: '40' }, { id: '50' }, { id: '60' }]);
  });

  test('is read once for all that ask the same with the same rights, and apart for others', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const query =
      'subscription ($big: Boolean!) { paymentCreated { payment { amount @include(if: $big) id } } }';
    const same = await Array.fromAsync({ length: 5 }, () =>
      listen(connect(t, socketUrl), query, { big: true }),
    );
    const other = await listen(connect(t, socketUrl), query, { big: false });
    const operator = await listen(connect(t, socketUrl, bearer(operatorToken)), query, {
      big: true,
    });
    await fixture.happen({ subjectId: 'p' });
    const received = await Promise.all([...same, operator].map((results) => results.next()));
    assert.deepEqual(
      received.map(({ data }) => data),
      received.map(() => ({ paymentCreated: { payment: { amount: 100, id: 'p' } } })),
    );
    assert.deepEqual((await other.next()).data, { paymentCreated: { payment: { id: 'p' } } });
    assert.equal(fixture.count('liveEvent'), 3);
  });

  test('shows an error where it happened under the name that the client gave, and nothing of what is inside', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const events = await listen(
      connect(t, socketUrl),
      'subscription { mine: paymentCreated { payment { id } } }',
    );
    fixture.obstacles.set('liveEvent', () =>
      Promise.reject(new Error('the secret of the database is hunter2')),
    );
    await fixture.happen();
    assert.deepEqual(await events.next(), {
      data: null,
      errors: [
        { message: 'internal error', path: ['mine'], extensions: { code: 'internal_error' } },
      ],
    });
  });

  test('counts an event that is gone by the time it is read as missed', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const events = await listen(
      connect(t, socketUrl),
      'subscription { paymentCreated { id payment { id } } }',
    );
    const { sequence } = fixture.store();
    fixture.gone.add(sequence);
    await fixture.notify(...fixture.events);
    await fixture.happen({ subjectId: 'p' });
    assert.deepEqual(await events.next(), {
      data: { paymentCreated: { id: '20', payment: { id: 'p' } } },
      extensions: { missed: 1 },
    });
  });

  test('reads an event again that was refused for now, and misses none', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t);
    const events = await listen(
      connect(t, socketUrl),
      'subscription { paymentCreated { id payment { id } } }',
    );
    // Refused at once, and so for a while: everything else goes on meanwhile.
    let isFull = true;
    fixture.obstacles.set('liveEvent', async () => {
      if (isFull) throw new GraphQLError('busy', { extensions: { code: 'rate_limited' } });
    });
    setTimeout(() => (isFull = false), 100);
    await fixture.happen({ subjectId: 'p-1' });
    await fixture.happen({ subjectId: 'p-2' });
    for (const [id, subject] of [
      ['10', 'p-1'],
      ['20', 'p-2'],
    ])
      assert.deepEqual(await events.next(), {
        data: { paymentCreated: { id, payment: { id: subject } } },
      });
    assert.equal(fixture.count('liveEvent'), 3, 'the refused read is repeated after a pause');
  });

  test('of a console that does not read loses its oldest events, reports how many, and does not delay others', async (t) => {
    const { fixture, socketUrl } = await serveGraph(t, { readerBuffer: 20 });
    const query = 'subscription { paymentCreated { id payload } }';
    const slow = await letIn(t, socketUrl);
    const before = await readers();
    say(slow, { type: 'subscribe', id: '1', payload: { query } });
    await eventually(async () => (await readers()) > before, 'the slow one listens');
    const quick = await listen(connect(t, socketUrl), query);
    slow.pause();
    const large = 'x'.repeat(200_000);
    const total = 200;
    for (let i = 0; i < total; i += 1) {
      await fixture.happen({ payload: { large } });
      await quick.next();
    }
    const received: {
      payload: { data: { paymentCreated: { id: string } }; extensions?: { missed: number } };
    }[] = [];
    slow.on('message', (message: Buffer) => received.push(JSON.parse(message.toString())));
    slow.resume();
    await eventually(
      () => received.at(-1)?.payload.data.paymentCreated.id === String(total * 10),
      () => `the last event, after ${received.length} of ${total}`,
    );
    const missed = received.reduce(
      (sum, { payload }) => sum + (payload.extensions?.missed ?? 0),
      0,
    );
    assert(missed > 0, 'nothing was missed');
    assert.equal(missed + received.length, total);
    const ids = received.map(({ payload }) => Number(payload.data.paymentCreated.id));
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
    );
  });

  test('ends when its client completes it or goes, even while it waits for an event', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const before = await readers();
    const socket = await letIn(t, socketUrl);
    for (const id of ['1', '2', '3'])
      say(socket, { type: 'subscribe', id, payload: { query: 'subscription { events { id } }' } });
    const listen = (count: number) =>
      eventually(async () => (await readers()) === before + count, `${count} listen`);
    await listen(3);
    say(socket, { type: 'complete', id: '1' });
    await listen(2);
    socket.terminate();
    await listen(0);
  });
});

describe('a subscription is refused', () => {
  const refusals: readonly (readonly [title: string, query: string, code: string, key?: string])[] =
    [
      ['when it cannot be parsed', 'subscription {', 'bad_request'],
      [
        'when it does not fit the schema',
        'subscription { paymentCreated { nothing } }',
        'bad_request',
      ],
      [
        'when it has two root fields',
        'subscription { paymentCreated { id } payoutCreated { id } }',
        'bad_request',
      ],
      [
        'when its root field is conditional',
        'subscription { paymentCreated @skip(if: false) { id } }',
        'bad_request',
      ],
      [
        'when a variable is missing',
        'subscription ($on: Boolean!) { paymentCreated { id @include(if: $on) } }',
        'bad_request',
      ],
      [
        'when after is not the id of an event',
        'subscription { paymentCreated(after: "yesterday") { id } }',
        'bad_request',
      ],
      [
        "when it names another key's merchant",
        'subscription { paymentCreated(merchantId: "m2") { id } }',
        'not_found',
      ],
      [
        'when it is nested too deeply',
        `subscription { paymentCreated { payment ${'{ refunds { payment '.repeat(8)}{ id }${' } }'.repeat(8)} } }`,
        'query_too_complex',
      ],
      [
        'when it has too many fields',
        `subscription { paymentCreated { ${'id '.repeat(1_001)} } }`,
        'query_too_complex',
      ],
      [
        'when it has too many words',
        `subscription { paymentCreated { ${'id '.repeat(6_000)} } }`,
        'bad_request',
      ],
      [
        'when no operation has the name',
        'subscription A { events { id } } subscription B { events { id } }',
        'bad_request',
      ],
    ];
  for (const [title, query, code] of refusals) {
    test(title, async (t) => {
      const { socketUrl } = await serveGraph(t);
      const socket = await letIn(t, socketUrl);
      say(socket, { type: 'subscribe', id: '1', payload: { query } });
      const answer = await receive(socket);
      assert(
        typeof answer === 'object' && answer !== null && 'type' in answer && 'payload' in answer,
      );
      assert.equal(answer.type, 'error');
      assert(Array.isArray(answer.payload));
      const codes = answer.payload.map(({ extensions, message }) =>
        message === 'Validation aborted.' ? code : extensions.code,
      );
      assert.deepEqual(new Set(codes), new Set([code]));
    });
  }

  test('when a connection has as many as it may', async (t) => {
    const { socketUrl } = await serveGraph(t);
    const socket = await letIn(t, socketUrl);
    const query = 'subscription { events { id } }';
    for (let i = 0; i <= operationsPerSocket_max; i += 1)
      say(socket, { type: 'subscribe', id: `${i}`, payload: { query } });
    assert.deepEqual(await receive(socket), {
      id: `${operationsPerSocket_max}`,
      type: 'error',
      payload: [
        {
          message: `A connection runs at most ${operationsPerSocket_max} operations at a time.`,
          extensions: { code: 'rate_limited' },
        },
      ],
    });
  });
});
