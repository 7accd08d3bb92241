/** What subscriptions read again is paid for, by all of a merchant's together (decision A-331). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FormattedExecutionResult } from 'graphql-ws';
import { parse } from 'graphql';
import { comesTo, eventually } from '../support/eventually.ts';
import { operationsPerSocket_max } from '../../gateway/graphql/graph-protocol.ts';
import { readSelection } from '../../gateway/live/selection.ts';
import { openSharedReads } from '../../gateway/live/shared-reads.ts';
import type { StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';
import { scopes, type Principal } from '../../subgraphs/kernel/service/access/principal.ts';
import { post } from './ask-graph.ts';
import { connect, readers, serveGraph } from './serve-graph.ts';
import { testKey } from './small-graph.ts';

const perSecond = 5;
const burst = 100;
const events = 20;

/** Fifty subscriptions of one socket, and what each has received; the buckets have a clock. */
const subscribe = async (t: Parameters<typeof serveGraph>[0], query: (index: number) => string) => {
  const clock = { us: 0, looks: 0 };
  const now_us = (): number => {
    clock.looks += 1;
    return clock.us;
  };
  const graph = await serveGraph(t, { now_us });
  graph.fixture.setKey(testKey, {
    ...graph.fixture.holderOf(testKey),
    rateLimit: { perSecond, burst },
  });
  const client = connect(t, graph.socketUrl);
  const before = await readers();
  const received = Array.from({ length: operationsPerSocket_max }, (_, index) => {
    const results: FormattedExecutionResult<Record<string, unknown>, unknown>[] = [];
    client.subscribe(
      { query: query(index) },
      { next: (result) => void results.push(result), error: () => {}, complete: () => {} },
    );
    return results;
  });
  await eventually(
    async () => (await readers()) === before + operationsPerSocket_max,
    'all subscriptions listen',
  );
  return { ...graph, received, clock };
};

type Received = readonly FormattedExecutionResult<Record<string, unknown>, unknown>[];

const missedIn = (results: Received): number =>
  results.reduce((sum, { extensions }) => {
    const { missed = 0 } = (extensions ?? {}) as { missed?: number };
    return sum + missed;
  }, 0);

describe('a stranger with fifty subscriptions', () => {
  test('of differing selections has no more read than the bucket of events pays for, learns what it missed, and has its requests left', async (t) => {
    const { fixture, received, url, clock } = await subscribe(
      t,
      (index) => `subscription { paymentCreated { x${index}: kind payment { id } } }`,
    );
    const fill = (seconds: number): number => (clock.us += seconds * 1_000_000);
    // New documents are planned one after another, and refused when a busy machine is too slow.
    const isPlanned = async (): Promise<boolean> => {
      fill(burst);
      const [{ length } = []] = received;
      await fixture.happen();
      const all = () => received.every((results) => results.length > length);
      await eventually(all, 'everyone is answered');
      return received.every((results) => !results.at(-1)?.errors);
    };
    await eventually(isPlanned, 'every selection is planned');
    fill(burst);
    for (const results of received) results.splice(0);
    const read = fixture.count('liveEvent');
    const looks = clock.looks;
    for (let event = 0; event < events; event += 1) await fixture.happen();
    const asked = operationsPerSocket_max * events;
    await eventually(() => clock.looks - looks === asked, 'all have asked for tokens for all');
    await comesTo(4 * burst, async () => fixture.count('liveEvent') - read);
    const left = (await post(url, { query: '{ rates { rateBps } }' })).headers;
    assert.ok(Number(left.get('ratelimit-remaining')) > 40);
    // The bucket gains: what comes now says how many were before it.
    fill(1);
    const { subjectId } = await fixture.happen();
    const hasLast = (results: Received): boolean =>
      JSON.stringify(results.at(-1)?.data ?? null).includes(subjectId);
    await comesTo(4 * perSecond, async () => received.filter(hasLast).length);
    for (const results of received.filter(hasLast))
      assert.equal(results.length + missedIn(results), events + 1);
    assert.ok(received.some((results) => hasLast(results) && missedIn(results) > 0));
  });

  test('of equal selections pays for one of them, and misses nothing', async (t) => {
    const { fixture, received } = await subscribe(
      t,
      () => 'subscription { paymentCreated { kind payment { id } } }',
    );
    for (let event = 0; event < events; event += 1) await fixture.happen();
    await eventually(() => received.every(({ length }) => length === events), 'all events');
    assert.equal(fixture.count('liveEvent'), events);
    assert.equal(missedIn(received.flat()), 0);
  });

  test('of what an event holds pays for none', async (t) => {
    const { fixture, received } = await subscribe(
      t,
      (index) => `subscription { paymentCreated { x${index}: kind payload } }`,
    );
    for (let event = 0; event < events; event += 1) await fixture.happen();
    await eventually(() => received.every(({ length }) => length === events), 'all events');
    assert.equal(missedIn(received.flat()), 0);
  });
});

describe('a read', () => {
  const person = (subject: string): Principal => ({
    kind: 'operator',
    subject,
    role: 'viewer',
    merchantId: null,
  });
  const key: Principal = {
    kind: 'key',
    keyId: 'k',
    merchantId: 'm',
    shopId: 's',
    mode: 'test',
    scopes,
  };
  const event = (sequence: string): StreamedEvent => ({
    sequence,
    kind: 'payment.created',
    merchantId: 'm',
    shopId: 's',
    mode: 'test',
    subjectId: 'p',
    at: '2026-05-06T10:00:00.000Z',
    payload: {},
  });
  const open = async (t: Parameters<typeof serveGraph>[0], shops: number) => {
    const { supergraph } = await serveGraph(t);
    const selection = readSelection(supergraph.apiSchema, {
      document: parse('subscription { paymentCreated { payment { merchant { shops { id } } } } }'),
      variables: {},
    });
    assert('query' in selection);
    let executed = 0;
    const reads = openSharedReads({
      apiSchema: supergraph.apiSchema,
      execute: async () => {
        executed += 1;
        return {
          data: { liveEvent: { shops: Array.from({ length: shops }, () => ({ id: 's' })) } },
        };
      },
    });
    return { reads, selection, executed: () => executed };
  };

  test('that answers with more than was estimated has the next one cost as much', async (t) => {
    const { reads, selection } = await open(t, 1_000);
    const prices: number[] = [];
    const take = async (tokens: number): Promise<boolean> => prices.push(tokens) > 0;
    const { read } = reads.join(selection, { principal: key, requestId: 'r' }, { tokens: 1, take });
    await read(event('10'));
    await read(event('20'));
    assert.deepEqual(prices, [1, 5]);
  });

  test('that one person cannot pay is read for another with the same rights who can', async (t) => {
    const { reads, selection, executed } = await open(t, 1);
    const join = (subject: string, granted: boolean) =>
      reads.join(
        selection,
        { principal: person(subject), requestId: 'r' },
        { tokens: 1, take: async () => granted },
      );
    const [poor, rich] = [join('poor', false), join('rich', true)];
    const [without, found] = await Promise.all([poor.read(event('10')), rich.read(event('10'))]);
    assert.equal(without, null);
    assert.ok(found?.data);
    assert.equal((await poor.read(event('10')))?.data, found.data, 'it is there by now');
    assert.equal(executed(), 1);
  });
});
