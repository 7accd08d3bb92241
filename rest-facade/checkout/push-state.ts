/**
 * GET /pay/:token/events: the page's own stream of server-sent events. Best effort: page.js also
 * asks from time to time.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { LiveEvents } from '../../gateway/live/events.ts';
import type { BuyerPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { sendError } from './answer-json.ts';
import { streamRetry_s, type PageLimiter } from './limit-page.ts';
import { findCheckout, type BuyerCall, type PageContext, type TokenRoute } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { drawState } from './state-json.ts';
import type { Words } from './words/words.ts';
import { whenClosed } from '../when-closed.ts';

/** As on the merchants' stream: proxies close what is silent for longer. */
const heartbeat_ms = 25_000;
/** How much a reader that does not read may leave unsent before it is let go. */
const unsent_max_bytes = 262_144;

/** Receives the changes of one payment's status. */
const openReader = (
  live: Pick<LiveEvents, 'read'>,
  { merchantId, paymentId }: BuyerPrincipal,
): ReturnType<LiveEvents['read']> =>
  live.read({
    audience: { merchantId, subjectId: paymentId },
    kinds: new Set(['payment.status_changed']),
  });

interface Stream {
  readonly context: PageContext;
  readonly call: BuyerCall;
  readonly words: Words;
  readonly response: ServerResponse;
  readonly reader: ReturnType<LiveEvents['read']>;
}

/**
 * Sends the state now and after every change, each time only when it is not what the page shows.
 * Ends with the reader.
 */
const pushChanges = async (
  { context, call, words, response, reader }: Stream,
  shownTag: string,
): Promise<void> => {
  let tag = shownTag;
  const push = async (): Promise<void> => {
    const checkout = await context.calls.read(call);
    if (!checkout || response.writableEnded) return;
    const state = drawState(checkout, words);
    if (state.tag !== tag) response.write(`event: state\ndata: ${state.json()}\n\n`);
    tag = state.tag;
  };
  // The payment may have moved since the page was drawn.
  await push();
  for await (const _ of reader) await push();
};

const beat = (response: ServerResponse): void => {
  if (response.writableLength > unsent_max_bytes) response.destroy();
  else response.write(': ping\n\n');
};

/** Runs one stream until the browser leaves or the service stops. */
const stream = (parts: Stream, shownTag: string): void => {
  const { context, call, response, reader } = parts;
  const heartbeat = setInterval(beat, heartbeat_ms, response);
  const end = (): void => {
    clearInterval(heartbeat);
    void reader.return?.();
    response.end();
  };
  whenClosed(response, end);
  pushChanges(parts, shownTag)
    .catch((error: unknown) =>
      context.log.warn(
        { requestId: call.requestId, reason: error instanceof Error ? error.message : 'unknown' },
        'a page was not notified',
      ),
    )
    .finally(end);
};

/** The headers of a stream, in addition to those of every response. */
const streamHeaders = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

/**
 * Adds the route. Without a live source, or for an unknown payment, it answers 204: a browser does
 * not come again then. 429 when too many are open.
 */
export const pushState = (
  app: FastifyInstance,
  context: PageContext,
  limiter: PageLimiter,
  live: Pick<LiveEvents, 'read'> | undefined,
): void => {
  const open = new Set<ServerResponse>();
  app.addHook('preClose', (done) => {
    for (const response of open) response.end();
    done();
  });

  app.route<TokenRoute & { Querystring: { tag?: unknown } }>({
    method: ['GET', 'HEAD'],
    url: '/:token/events',
    config: { load: 'long-lived' },
    handler: async (request, reply) => {
      guardPage(reply);
      const { words, found } = await findCheckout(context, request);
      if (!live || !found) return reply.code(204).send();
      // HEAD returns only the headers; it opens no stream and does not count against the page's
      // streams.
      if (request.method === 'HEAD') return reply.headers(streamHeaders).send(Readable.from([]));
      const { call } = found;
      const giveBack = limiter.stream(request.raw, call.principal.paymentId);
      if (!giveBack)
        return sendError(
          reply.header('retry-after', String(streamRetry_s)),
          429,
          'rate_limited',
          words,
        );
      whenClosed(reply.raw, giveBack);
      const reader = openReader(live, call.principal);
      const response = reply.hijack().raw;
      const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      response.writeHead(200, { ...Object.fromEntries(headers), ...streamHeaders });
      response.write(': connected\n\n');
      open.add(response);
      whenClosed(response, () => open.delete(response));
      stream({ context, call, words, response, reader }, String(request.query.tag));
    },
  });
};
