import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { openEventStream, streamPing_ms } from '../../rest-facade/event-stream.ts';
import { registerRestFacade } from '../../rest-facade/server.ts';
import { noBankCallbacks } from '../support/no-bank-callbacks.ts';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { liveSubscribers } from '../../subgraphs/platform/tracing/telemetry.ts';
import { eventually } from '../support/eventually.ts';
import { openParts } from '../gateway/serve-graph.ts';
import { liveKey, operatorToken, otherShopKey, silent, testKey } from '../gateway/small-graph.ts';
import { liveKinds } from '../../subgraphs/rules/event.ts';

const until = (isSo: () => boolean | Promise<boolean>): Promise<boolean> =>
  eventually(isSo, 'what the stream comes to');

type Limits = Parameters<typeof openParts>[0] & { readonly ping_ms?: number };

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Serves the REST API of one process over the fixture of the parts. */
const serve = async (t: TestContext, parts: Parts, ping_ms?: number) => {
  const app = openHttp({
    config: { publicUrl: null },
    log: silent,
    ready: async () => true,
    overload: null,
  });
  const openStream = openEventStream(app, {
    ...parts,
    ...(ping_ms === undefined ? {} : { ping_ms }),
  });
  await registerRestFacade(app, {
    ...parts,
    openStream,
    publicUrl: 'https://api.example',
    bankCallbacks: noBankCallbacks,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  return { ...parts, app, url };
};

const open = async (t: TestContext, { ping_ms, ...limits }: Limits = {}) =>
  serve(t, await openParts(limits), ping_ms);

/** A reader of the stream that keeps what it has read. */
const connect = async (t: TestContext, url: string, headers: Record<string, string> = {}) => {
  const sent = request(`${url}/v1/public/events`, {
    headers: { authorization: `Bearer ${testKey}`, ...headers },
  });
  sent.on('error', () => {});
  sent.end();
  t.after(() => sent.destroy());
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const reader = { response, text: '', ended: false, leave: () => sent.destroy() };
  response.setEncoding('utf8');
  response.on('data', (text: string) => (reader.text += text));
  response.once('close', () => (reader.ended = true));
  return reader;
};

/** A reader that has received its first line. */
const follow = async (t: TestContext, url: string, headers: Record<string, string> = {}) => {
  const reader = await connect(t, url, headers);
  await until(() => reader.text.startsWith(': connected\n'));
  return reader;
};

/** The ids of events. */
const idsIn = (text: string): string[] =>
  Array.from(text.matchAll(/^event: .+\nid: (\d+)$/gm), ([, id]) => id ?? '');

const subscriptions = async (): Promise<number> =>
  (await liveSubscribers.get()).values[0]?.value ?? 0;

describe('GET /v1/public/events', () => {
  test('begins with a comment and sends each event as the document frames it', async (t) => {
    const { fixture, url } = await open(t);
    const reader = await follow(t, url, { 'x-request-id': 'mine-1' });
    const { statusCode, headers } = reader.response;
    assert.deepEqual(
      [
        statusCode,
        headers['content-type'],
        headers['x-request-id'],
        headers['x-api-version'],
        headers['x-accel-buffering'],
      ],
      [200, 'text/event-stream', 'mine-1', '2026-05-06', 'no'],
    );
    await fixture.happen({ subjectId: 'p-1' });
    await fixture.happen({
      subjectId: 'p-1',
      kind: 'payment.status_changed',
      payload: { status: 'processing' },
    });
    await until(() => idsIn(reader.text).length === 2);
    const at = '"at":"2026-05-06T10:00:00.000Z"';
    assert.equal(
      reader.text,
      [
        `: connected\nevent: payment.created\nid: 10\ndata: {"kind":"payment.created","payload":{"id":"p-1","amount":100,"status":"pending"},${at}}`,
        `event: payment.status_changed\nid: 20\ndata: {"kind":"payment.status_changed","payload":{"id":"p-1","amount":100,"status":"processing"},${at}}`,
        '',
      ].join('\n\n'),
    );
    assert.equal(fixture.count('liveEvent'), 0);
  });

  test('sends all five kinds, of the shop and mode of the key alone', async (t) => {
    const { fixture, url } = await open(t);
    const reader = await follow(t, url);
    await fixture.happen({ shopId: 's2' });
    await fixture.happen({ merchantId: 'm2' });
    await fixture.happen({ mode: 'live' });
    // What becomes of subscriptions is published in the graph alone.
    for (const kind of liveKinds.toReversed()) await fixture.happen({ kind });
    await until(() => idsIn(reader.text).length === 5);
    assert.deepEqual(
      Array.from(reader.text.matchAll(/^event: (.+)$/gm), ([, kind]) => kind),
      [
        'refund.created',
        'payout.status_changed',
        'payout.created',
        'payment.status_changed',
        'payment.created',
      ],
    );
  });

  test('says that it is alive, again and again: every 25 seconds', async (t) => {
    assert.equal(streamPing_ms, 25_000);
    const { url } = await open(t, { ping_ms: 20 });
    const reader = await follow(t, url);
    await until(() => reader.text.startsWith(': connected\n: ping\n: ping\n'));
  });

  test('resumes behind Last-Event-ID, whether memory or the store has the rest', async (t) => {
    const { fixture, url } = await open(t, { recentEvents: 2 });
    for (let i = 0; i < 5; i += 1) await fixture.happen();
    const far = await follow(t, url, { 'last-event-id': '10' });
    await until(() => idsIn(far.text).length === 4);
    await fixture.happen();
    await until(() => idsIn(far.text).length === 5);
    assert.deepEqual(idsIn(far.text), ['20', '30', '40', '50', '60']);
    const near = await follow(t, url, { 'last-event-id': '50' });
    await until(() => idsIn(near.text).length === 1);
    assert.deepEqual(idsIn(near.text), ['60']);
  });

  test('says at once behind which event a reader resumes that has had none yet', async (t) => {
    const { fixture, url } = await open(t);
    await fixture.happen({ merchantId: 'm2' });
    const early = await follow(t, url);
    await until(() => early.text === ': connected\nid: 10\n');
    early.leave();
    await until(() => early.ended);
    await fixture.happen({ subjectId: 'p-1' });
    const back = await follow(t, url, { 'last-event-id': '10' });
    await until(() => idsIn(back.text).length === 1);
    assert.match(back.text, /^: connected\nevent: payment\.created\nid: 20\n/);
  });

  test('begins with what happens next when Last-Event-ID is not an event of the last day, or no id at all', async (t) => {
    const { fixture, url } = await open(t);
    await fixture.happen();
    for (const id of ['999', 'evt_1', '', '-1', '9'.repeat(40)]) {
      await until(async () => (await subscriptions()) === 0);
      const reader = await follow(t, url, { 'last-event-id': id });
      await until(async () => (await subscriptions()) === 1);
      const { sequence } = await fixture.happen();
      await until(() => idsIn(reader.text).length > 0);
      assert.deepEqual(idsIn(reader.text), [sequence], id);
      reader.leave();
    }
  });

  test('resumes behind the id of an event that was another merchant’s, with its own events alone', async (t) => {
    const { fixture, url } = await open(t, { recentEvents: 2 });
    await fixture.happen();
    const { sequence: foreign } = await fixture.happen({ merchantId: 'm2', shopId: 's3' });
    for (const merchantId of ['m1', 'm2', 'm1', 'm2', 'm2']) await fixture.happen({ merchantId });
    const reader = await follow(t, url, { 'last-event-id': foreign });
    await until(() => idsIn(reader.text).length === 2);
    await fixture.happen();
    await until(() => idsIn(reader.text).length === 3);
    assert.deepEqual(idsIn(reader.text), ['30', '50', '80']);
  });

  test('serves hundreds of keys at once, each its own events in order, and slow ones do not delay the others', async (t) => {
    const { fixture, url } = await open(t);
    const merchants = Array.from({ length: 300 }, (_, index) => `merchant-${1_000 + index}`);
    const keyOf = (merchantId: string): string => `sk_test_abc123_${merchantId.padEnd(16, '0')}`;
    for (const merchantId of merchants)
      fixture.setKey(keyOf(merchantId), {
        ...fixture.holderOf(testKey),
        keyId: merchantId,
        merchantId,
      });
    const readers = await Promise.all(
      merchants.map((merchantId) =>
        follow(t, url, { authorization: `Bearer ${keyOf(merchantId)}` }),
      ),
    );
    readers[0]?.response.pause();
    for (let round = 0; round < 3; round += 1)
      for (const merchantId of merchants) await fixture.happen({ merchantId });
    for (const [index, reader] of readers.slice(1).entries()) {
      await until(() => idsIn(reader.text).length === 3);
      assert.deepEqual(
        idsIn(reader.text).map(Number),
        [0, 1, 2].map((round) => (round * merchants.length + index + 2) * 10),
      );
    }
  });

  test('skips a reader ahead that does not read, and says how many it missed', async (t) => {
    const { fixture, url } = await open(t, { readerBuffer: 20, ping_ms: 10 });
    const reader = await follow(t, url);
    reader.response.pause();
    const large = 'x'.repeat(200_000);
    const total = 200;
    for (let i = 0; i < total; i += 1) {
      await fixture.happen({ payload: { large } });
      if (i % 10 === 0) await wait(5);
    }
    await wait(100);
    reader.response.resume();
    await until(() => idsIn(reader.text).at(-1) === String(total * 10));
    const missed = Array.from(reader.text.matchAll(/^: missed (\d+)$/gm), ([, count]) =>
      Number(count),
    ).reduce((sum, count) => sum + count, 0);
    const ids = idsIn(reader.text).map(Number);
    assert(missed > 0, 'nothing was missed');
    assert.equal(ids.length + missed, total);
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
    );
  });

  test('leaves nothing behind when the reader goes', async (t) => {
    const { url } = await open(t);
    const before = await subscriptions();
    const reader = await follow(t, url);
    assert.equal(await subscriptions(), before + 1);
    reader.leave();
    await until(async () => (await subscriptions()) === before);
  });
});

describe('a stream ends', () => {
  test('with ": replaced" when its key opens another, which continues', async (t) => {
    const { fixture, url } = await open(t);
    const older = await follow(t, url);
    const ofAnotherKey = await follow(t, url, { authorization: `Bearer ${otherShopKey}` });
    const newer = await follow(t, url);
    await until(() => older.ended);
    assert.equal(older.text, ': connected\n: replaced\n');
    await until(() => older.response.socket.destroyed);
    await fixture.happen();
    await until(() => idsIn(newer.text).length === 1);
    assert.deepEqual([newer.ended, ofAnotherKey.ended], [false, false]);
  });

  test('with ": replaced" when its key opens another in another process', async (t) => {
    const parts = await openParts();
    const here = await serve(t, parts);
    const there = await serve(t, parts);
    const older = await follow(t, here.url);
    const ofAnotherKey = await follow(t, here.url, { authorization: `Bearer ${otherShopKey}` });
    const newer = await follow(t, there.url);
    await until(() => older.ended);
    assert.equal(older.text, ': connected\n: replaced\n');
    await parts.fixture.happen();
    await until(() => idsIn(newer.text).length === 1);
    assert.deepEqual([newer.ended, ofAnotherKey.ended], [false, false]);
  });

  test('with ": revoked" when its key is', async (t) => {
    const { fixture, url } = await open(t);
    const reader = await follow(t, url);
    await fixture.revoke(testKey);
    await until(() => reader.ended);
    assert.equal(reader.text, ': connected\n: revoked\n');
  });

  test('with ": closing" when the service drains, even when a reader does not read', async (t) => {
    const { app, fixture, url } = await open(t);
    const reader = await follow(t, url);
    const deaf = await follow(t, url, { authorization: `Bearer ${otherShopKey}` });
    deaf.response.pause();
    for (let i = 0; i < 50; i += 1)
      await fixture.happen({ shopId: 's2', payload: { large: 'x'.repeat(200_000) } });
    await wait(100);
    // Without a cut the reader that does not read would hold up the close for ever.
    await app.close();
    await until(() => reader.ended);
    assert.equal(reader.text, ': connected\n: closing\n');
  });

  test('with ": closing" when the events behind Last-Event-ID cannot be read, so that the client asks again', async (t) => {
    const { fixture, url } = await open(t);
    fixture.obstacles.set('liveEventsAfter', () => Promise.reject(new Error('no database')));
    const reader = await connect(t, url, { 'last-event-id': '5' });
    await until(() => reader.ended);
    assert.equal(reader.text, ': connected\n: closing\n');
  });
});

describe('a stream is refused', () => {
  const refusals: readonly (readonly [
    title: string,
    authorization: string,
    status: number,
    code: string,
  ])[] = [
    ['to an unknown key', 'Bearer sk_test_abc123_wrong', 401, 'unauthorized'],
    ['without a key', '', 401, 'unauthorized'],
    ["to the operator's token, which is no key", `Bearer ${operatorToken}`, 401, 'unauthorized'],
    ['to a live key without live mode', `Bearer ${liveKey}`, 403, 'live_not_enabled'],
  ];
  for (const [title, authorization, status, code] of refusals) {
    test(title, async (t) => {
      const { url } = await open(t);
      const reader = await connect(t, url, { authorization });
      await until(() => reader.ended);
      assert.equal(reader.response.statusCode, status);
      assert.equal(JSON.parse(reader.text).error.code, code);
    });
  }

  test('to HEAD, which gets the head of the answer alone', async (t) => {
    const { url } = await open(t);
    const response = await fetch(`${url}/v1/public/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${testKey}` },
    });
    assert.deepEqual(
      [response.status, response.headers.get('content-type')],
      [200, 'text/event-stream'],
    );
    assert.equal(await subscriptions(), 0);
  });

  test('with a query that it does not know', async (t) => {
    const { url } = await open(t);
    const response = await fetch(`${url}/v1/public/events?after=10`, {
      headers: { authorization: `Bearer ${testKey}` },
    });
    assert.equal(response.status, 400);
  });
});
