/**
 * The live stream as server-sent events: GET /v1/public/events. A key has one stream, and the
 * newest wins; a stream resumes behind an id; a slow reader loses its oldest events. It is the
 * operation `StreamEvents`, printed in the documented framing. The hosted page's own stream is
 * written the same way.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { separateOperations } from 'graphql';
import { shownBy } from '../gateway/callers/admit-caller.ts';
import type { Authenticator } from '../gateway/callers/authenticate.ts';
import type { LiveEvents } from '../gateway/live/events.ts';
import type { LiveResults, LiveSubscriptions } from '../gateway/live/subscriptions.ts';
import { readOperations } from '../schema/sources.ts';
import type { Bus } from '../subgraphs/platform/bus/bus.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import type { OpenStream } from './server.ts';
import type { StreamEventsSubscription } from '../schema/generated/operations.ts';
import { liveKindOf } from '../subgraphs/rules/event.ts';
import { beginAnswer, whenClosed } from './long-answers.ts';

/* Writes server-sent events to one reader, and waits while that reader does not read. */

type Event = StreamEventsSubscription['events'];

/**
 * The writer of one connection. What comes while its reader does not read is for the caller to hold
 * back.
 */
export class EventWriter {
  readonly #response: ServerResponse;
  readonly #closed: Promise<void>;
  #ended = false;

  /** Writes to the response, whose headers have been sent; a comment `: ping` every `ping_ms`. */
  constructor(response: ServerResponse, ping_ms: number) {
    this.#response = response;
    const ping = setInterval(() => this.#ping(), ping_ms);
    this.#closed = new Promise((resolve) => {
      whenClosed(response, () => {
        clearInterval(ping);
        this.#ended = true;
        resolve();
      });
    });
    // A connection that breaks closes: no reader is left to notify.
    response.on('error', () => {});
  }

  /** Calls `closed` when the connection is gone, whichever side ended it. */
  onClose(closed: () => void): void {
    this.#closed.then(closed, closed);
  }

  /**
   * Writes a comment line, without a blank line behind it. A blank line ends an event, and some
   * clients (fetch-event-source, httpx-sse) hand an event without data to the application there.
   */
  comment(text: string): void {
    if (!this.#ended) this.#response.write(`: ${text}\n`);
  }

  /** Writes from where a reader resumes that has had no event yet; no blank line ends it, either. */
  position(id: string): void {
    if (!this.#ended) this.#response.write(`id: ${id}\n`);
  }

  /**
   * Writes an event, `data` as JSON. Fulfils when the next one may be written: at once, or when the
   * reader has caught up.
   */
  async event(name: string, data: string, id: string | null = null): Promise<void> {
    if (this.#ended) return;
    const place = id === null ? '' : `id: ${id}\n`;
    if (!this.#response.write(`event: ${name}\n${place}data: ${data}\n\n`)) await this.#room();
  }

  /**
   * Says a last word and ends. Fulfils when the connection is gone: at the latest after
   * `streamClose_ms`.
   */
  async end(word: string): Promise<void> {
    if (!this.#ended) {
      this.comment(word);
      this.#ended = true;
      this.#response.end();
      const cut = setTimeout(() => this.#response.destroy(), streamClose_ms);
      this.#response.once('close', () => clearTimeout(cut));
    }
    await this.#closed;
  }

  /** A reader that does not read needs no pings, and they must not fill the memory. */
  #ping(): void {
    if (!this.#response.writableNeedDrain) this.comment('ping');
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#response.closed) return resolve();
      const go = (): void => {
        this.#response.off('drain', go).off('close', go);
        resolve();
      };
      this.#response.on('drain', go).on('close', go);
    });
  }
}

/**
 * The interval of comments (docs/contract.md#limits), so that proxies do not drop an idle
 * connection.
 */
export const streamPing_ms = 25_000;
/** How long a reader has to take the last words before its connection is cut. */
const streamClose_ms = 800;

/** The headers of a stream, in addition to those of every answer. */
export const streamHeaders = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

/** Begins streams; those that are open say `: closing` and end when the app closes. */
export const openWriters = (app: FastifyInstance, ping_ms = streamPing_ms) => {
  const open = new Set<EventWriter>();
  app.addHook('preClose', async () => {
    await Promise.all(Array.from(open, (writer) => writer.end('closing')));
  });
  return (reply: FastifyReply, headers: Readonly<Record<string, string>>): EventWriter => {
    const writer = new EventWriter(beginAnswer(reply, headers), ping_ms);
    open.add(writer);
    writer.onClose(() => open.delete(writer));
    writer.comment('connected');
    return writer;
  };
};

interface EventStreamDeps {
  readonly liveSubscriptions: LiveSubscriptions;
  readonly liveEvents: Pick<LiveEvents, 'position'>;
  readonly authenticator: Pick<Authenticator, 'watch'>;
  readonly bus: Bus;
  readonly log: Logger;
  readonly ping_ms?: number;
}

/** Gives the way to answer a request with the stream. */
export const openEventStream = (app: FastifyInstance, deps: EventStreamDeps): OpenStream => {
  const subscribe = openSubscribe(deps.liveSubscriptions);
  const newest = newestOfKeys(deps.bus);
  const begin = openWriters(app, deps.ping_ms);
  return (request, reply, call) => {
    if (call.principal.kind !== 'key') throw new Error('the stream is for API keys');
    // HEAD returns only the headers; it opens no stream and replaces none.
    if (request.method === 'HEAD') return reply.headers(ownHeaders).send(Readable.from([]));
    const after = lastEventIdOf(request);
    const position = after === null ? deps.liveEvents.position() : null;
    const results = subscribe(after, call);
    const writer = begin(reply, ownHeaders);
    if (position !== null) writer.position(position);
    const unwatch = deps.authenticator.watch(
      shownBy(request.raw),
      request.caller ?? { principal: call.principal },
      () => void writer.end('revoked'),
    );
    const leave = newest.join(call.principal.keyId, writer);
    writer.onClose(() => {
      unwatch();
      leave();
      void results.return?.();
    });
    push(results, writer).catch((error: unknown) => {
      deps.log.error({ err: error, requestId: call.requestId }, 'a stream failed');
      return writer.end('closing');
    });
    return reply;
  };
};

/**
 * Ids of events, as this stream gives them. Anything else cannot be resumed from: the stream begins
 * with what happens next.
 */
const eventId = /^\d{1,18}$/;

const lastEventIdOf = ({ headers: { 'last-event-id': id } }: FastifyRequest): string | null =>
  typeof id === 'string' && eventId.test(id) ? id : null;

const openSubscribe = (liveSubscriptions: LiveSubscriptions) => {
  const document = separateOperations(readOperations())['StreamEvents'];
  if (!document) throw new Error('no operation is named StreamEvents');
  return (after: string | null, call: Parameters<OpenStream>[2]): LiveResults => {
    const results = liveSubscriptions.subscribe({ document, variables: { after } }, call);
    if ('next' in results) return results;
    // The route's access row has been checked, and what is passed on is known.
    throw new Error(`the stream was refused: ${results.map(({ message }) => message).join(', ')}`);
  };
};

/** The connection of this stream closes with it. */
const ownHeaders = {
  ...streamHeaders,
  'cache-control': 'no-store, no-transform',
  connection: 'close',
};

/**
 * Takes the next event when the last one is through: a slow reader loses its oldest events, at the
 * source, and learns how many.
 */
const push = async (results: LiveResults, writer: EventWriter): Promise<void> => {
  for await (const { data, errors, extensions } of results) {
    const [error] = errors ?? [];
    if (error) throw error;
    const missed = extensions?.['missed'];
    if (typeof missed === 'number') writer.comment(`missed ${missed}`);
    const event: unknown = data?.['events'];
    // The operation's own selection.
    const { id, kind, payload, at } = event as Event;
    const name = liveKindOf(kind);
    await writer.event(name, JSON.stringify({ kind: name, payload, at }), id);
  }
  await writer.end('closing');
};

/** Ends the key's older streams, in this process at once and in the others over the bus. */
const newestOfKeys = (bus: Bus) => {
  const streams = new Map<
    string,
    { readonly streamId: string; readonly writer: EventWriter; announced: boolean }
  >();
  // Every process receives the announcements in the same order: what comes after one's own is
  // newer.
  bus.subscribe('streams', ({ keyId, streamId }) => {
    const stream = streams.get(keyId);
    if (!stream) return;
    if (stream.streamId === streamId) stream.announced = true;
    else if (stream.announced) void stream.writer.end('replaced');
  });
  return {
    /** Ends the key's older streams; the answer is to be called when this one has ended. */
    join: (keyId: string, writer: EventWriter): (() => void) => {
      void streams.get(keyId)?.writer.end('replaced');
      const streamId = randomUUID();
      streams.set(keyId, { streamId, writer, announced: false });
      void bus.publish('streams', { keyId, streamId });
      return () => {
        if (streams.get(keyId)?.streamId === streamId) streams.delete(keyId);
      };
    },
  };
};
