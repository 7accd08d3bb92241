/** The stream as third-party clients read it. A comment is no event to any of them. */
import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { EventSource } from 'eventsource';
import { openEventStream } from '../../rest-facade/event-stream.ts';
import { registerRestFacade } from '../../rest-facade/server.ts';
import { noBankCallbacks } from '../support/no-bank-callbacks.ts';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { eventually } from '../support/eventually.ts';
import { openParts } from '../gateway/serve-graph.ts';
import { silent, testKey } from '../gateway/small-graph.ts';

const authorization = `Bearer ${testKey}`;

/** A stream with many more heartbeats than events. */
const serve = async (t: TestContext) => {
  const parts = await openParts();
  const app = openHttp({
    config: { publicUrl: null },
    log: silent,
    ready: async () => true,
    overload: null,
  });
  const openStream = openEventStream(app, { ...parts, ping_ms: 10 });
  await registerRestFacade(app, {
    ...parts,
    openStream,
    publicUrl: 'https://api.example',
    bankCallbacks: noBankCallbacks,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  return { fixture: parts.fixture, stream: `${url}/v1/public/events` };
};

interface Seen {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/**
 * What every reader has to be given: two events, whatever comments came before, between and behind.
 */
const assertTwo = (seen: readonly Seen[]): void => {
  const summaries = seen.map(({ event, id, data }) => [
    event,
    id,
    data === '' ? '' : JSON.parse(data).kind,
  ]);
  assert.deepEqual(summaries, [
    ['payment.created', '10', 'payment.created'],
    ['refund.created', '20', 'refund.created'],
  ]);
};

/** Fetches the stream and gives its text as it comes. */
const openText = async (stream: string, t: TestContext) => {
  const aborting = new AbortController();
  t.after(() => aborting.abort());
  const { body } = await fetch(stream, { headers: { authorization }, signal: aborting.signal });
  const reading = { text: '' };
  void (async () => {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) reading.text += text;
  })().catch(() => {});
  return reading;
};

/** Three heartbeats in front of two events, one between them, and some behind. */
const happen = async (
  { fixture }: Awaited<ReturnType<typeof serve>>,
  text: () => string,
): Promise<void> => {
  const pings = (count: number): Promise<boolean> =>
    eventually(() => text().split(': ping').length > count, `${count} pings`);
  await pings(3);
  await fixture.happen({ kind: 'payment.created' });
  await pings(6);
  await fixture.happen({ kind: 'refund.created' });
  await pings(9);
};

/**
 * The rule of httpx-sse (Python), `SSEDecoder.decode` as its source has it: the id of an event
 * stays for those behind it.
 */
const decodeLikeHttpx = (text: string): Seen[] => {
  const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
  const seen: Seen[] = [];
  let event = '';
  let data: string[] = [];
  let id = '';
  for (const line of lines) {
    if (line === '') {
      if (event || data.length > 0 || id) seen.push({ event, id, data: data.join('\n') });
      [event, data] = ['', []];
      continue;
    }
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id') id = value;
  }
  return seen;
};

describe('a comment of the stream is no event', () => {
  test('to fetch-event-source', async (t) => {
    const served = await serve(t);
    // A page's globals, which the library takes its timers from.
    const globals = { window: globalThis, document: new EventTarget() };
    Object.assign(globalThis, globals);
    t.after(() => Object.keys(globals).forEach((name) => Reflect.deleteProperty(globalThis, name)));
    const aborting = new AbortController();
    const seen: Seen[] = [];
    const received = { text: '' };
    const reading = fetchEventSource(served.stream, {
      headers: { authorization },
      signal: aborting.signal,
      openWhenHidden: true,
      fetch: async (...asked) => {
        const response = await fetch(...asked);
        const [mine, theirs] = response.body?.tee() ?? [];
        void (async () => {
          for await (const text of mine?.pipeThrough(new TextDecoderStream()) ?? [])
            received.text += text;
        })().catch(() => {});
        return new Response(theirs, response);
      },
      onmessage: (message) => void seen.push(message),
    });
    await happen(served, () => received.text);
    await eventually(() => seen.length === 2, 'two events');
    aborting.abort();
    await reading;
    assertTwo(seen);
  });

  test('by the rule of httpx-sse', async (t) => {
    const served = await serve(t);
    const received = await openText(served.stream, t);
    await happen(served, () => received.text);
    assertTwo(decodeLikeHttpx(received.text));
    const old =
      ': connected\n\nevent: payment.created\nid: 10\ndata: {"kind":"payment.created"}\n\n: ping\n\n';
    assert.equal(
      decodeLikeHttpx(old).length,
      2,
      'the rule makes an event of a comment with a blank line behind it',
    );
  });

  test('to eventsource', async (t) => {
    const served = await serve(t);
    const seen: Seen[] = [];
    const source = new EventSource(served.stream, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization } }),
    });
    t.after(() => source.close());
    for (const kind of ['message', 'payment.created', 'refund.created']) {
      source.addEventListener(
        kind,
        ({ type, lastEventId, data }: MessageEvent) =>
          void seen.push({ event: type, id: lastEventId, data }),
      );
    }
    await new Promise((resolve) => source.addEventListener('open', resolve));
    await served.fixture.happen({ kind: 'payment.created' });
    await served.fixture.happen({ kind: 'refund.created' });
    await eventually(() => seen.length === 2, 'two events');
    assertTwo(seen);
  });
});
