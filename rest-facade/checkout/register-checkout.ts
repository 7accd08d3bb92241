/**
 * The hosted page: server-rendered HTML under a strict policy, one style and a few small modules,
 * without a framework and without anything from another host.
 */
import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import { BodyMistake, openJsonParser } from '../../gateway/graphql/raw-body.ts';
import type { LiveEvents } from '../../gateway/live/events.ts';
import type { Supergraph } from '../../gateway/supergraph.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { errorJson } from '../../schema/wire.ts';
import { answerJson, sendError, drawState } from './answer-json.ts';
import { prepareCheckoutCalls } from './call-checkout.ts';
import { chooseLanguage, rememberSwitch, wordsOf } from './language.ts';
import { customerPageName, customerRoute, showCustomer } from './show-customer.ts';
import { openPageLimiter, type PageLimiter, streamRetry_s } from './limit-page.ts';
import {
  type PageContext,
  findCheckout,
  pageAddress,
  type TokenRoute,
  type BuyerCall,
  guardPage,
  sendMessage,
} from './page-context.ts';
import { problemWords, takePlainForm } from './forms.ts';
import { playBank } from './play-bank.ts';
import { serveAssets } from './serve-assets.ts';
import { showLink } from './show-link.ts';
import { type Keys, readPageToken } from '../../subgraphs/platform/access/keys.ts';
import { checkoutPage } from './views/page.ts';
import type { Words } from './words/en.ts';
import { openWriters, streamHeaders, type EventWriter } from '../event-stream.ts';
import { whenClosed } from '../long-answers.ts';

/*
 * GET /pay/:token/events: the page's own stream of server-sent events. Best effort: page.js also
 * asks from time to time.
 */

interface Stream {
  readonly context: PageContext;
  readonly call: BuyerCall;
  readonly words: Words;
  readonly writer: EventWriter;
  readonly reader: ReturnType<LiveEvents['read']>;
}

/**
 * Sends the state now and after every change, each time only when it is not what the page shows.
 * Ends with the reader.
 */
const pushChanges = async (
  { context, call, words, writer, reader }: Stream,
  shownTag: string,
): Promise<void> => {
  let tag = shownTag;
  const push = async (): Promise<void> => {
    const checkout = await context.calls.read(call);
    if (!checkout) return;
    const state = drawState(checkout, words);
    if (state.tag !== tag) await writer.event('state', state.json());
    tag = state.tag;
  };
  // The payment may have moved since the page was drawn.
  await push();
  for await (const _ of reader) await push();
};

/**
 * Adds the route. For an unknown payment it answers 204: a browser does not come again then. 429
 * when too many are open.
 */
const pushState = (
  app: FastifyInstance,
  context: PageContext,
  limiter: PageLimiter,
  live: Pick<LiveEvents, 'read'>,
): void => {
  const begin = openWriters(app);
  app.route<TokenRoute & { Querystring: { tag?: unknown } }>({
    method: ['GET', 'HEAD'],
    url: '/:token/events',
    config: { load: 'long-lived' },
    handler: async (request, reply) => {
      guardPage(reply);
      const { words, found } = await findCheckout(context, request);
      if (!found) return reply.code(204).send();
      // HEAD returns only the headers; it opens no stream and does not count against the page's
      // streams.
      if (request.method === 'HEAD') return reply.headers(streamHeaders).send(Readable.from([]));
      const { call } = found;
      const { merchantId, paymentId } = call.principal;
      const giveBack = limiter.stream(request.raw, paymentId);
      if (!giveBack)
        return sendError(
          reply.header('retry-after', String(streamRetry_s)),
          429,
          'rate_limited',
          words,
        );
      whenClosed(reply.raw, giveBack);
      const reader = live.read({
        audience: { merchantId, subjectId: paymentId },
        kinds: new Set(['payment.status_changed']),
      });
      const writer = begin(reply, streamHeaders);
      writer.onClose(() => void reader.return?.());
      pushChanges({ context, call, words, writer, reader }, String(request.query.tag))
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : 'unknown';
          context.log.warn({ requestId: call.requestId, reason }, 'could not notify a page');
        })
        .finally(() => void writer.end('closing'));
    },
  });
};

/* GET /pay/:token: the hosted page. */

/**
 * Adds the routes. An unknown token, and any other address under /pay, gets a page about it,
 * with 404: people type and shorten addresses.
 */
const showPage = (app: FastifyInstance, context: PageContext): void => {
  app.get<TokenRoute & { Querystring: { problem?: unknown } }>(
    '/:token',
    async (request, reply) => {
      guardPage(reply, 'own form');
      rememberSwitch(request, reply);
      const { words, found } = await findCheckout(context, request);
      void reply.type('text/html; charset=utf-8').header('content-language', words.language);
      if (!found) return sendMessage(reply, 404, 'unknownPage', words);
      const { checkout } = found;
      const problem = problemWords(request.query.problem, words);
      const parts = { ...drawState(checkout, words), problem };
      return reply.send(checkoutPage(checkout, words, parts));
    },
  );

  for (const address of ['', '/:token/*']) {
    app.get(address, (request, reply) => {
      guardPage(reply);
      const words = wordsOf(chooseLanguage(request));
      void reply.header('content-language', words.language);
      return sendMessage(reply, 404, 'unknownPage', words);
    });
  }

  // Messengers and mail programs like to end an address with a slash.
  app.get<TokenRoute>('/:token/', async (request, reply) => {
    guardPage(reply);
    return reply.redirect(pageAddress(request), 308);
  });
};

/* Answers 429 under the limits of the hosted page: a page to a person, the envelope to page.js. */

const paramOf = ({ params }: FastifyRequest, name: string): string =>
  typeof params === 'object' && params !== null
    ? String(Object.entries(params).find(([known]) => known === name)?.[1] ?? '')
    : '';

/** The page that a call is counted under: a payment's, or a customer's; null where it is neither. */
const pageOf = ({ pageSecret }: PageContext, request: FastifyRequest): string | null =>
  request.routeOptions.url === customerRoute
    ? customerPageName(paramOf(request, '*'))
    : (readPageToken(pageSecret, paramOf(request, 'token'))?.paymentId ?? null);

/**
 * Has every call under /pay counted before anything is done for it. Assets are not: they are in
 * memory, and browsers keep them.
 */
const limitCalls = (app: FastifyInstance, context: PageContext, limiter: PageLimiter): void => {
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.routeOptions.url?.startsWith('/pay/assets/')) return undefined;
    const wait_s = limiter.call(request.raw, pageOf(context, request));
    if (wait_s === 0) return undefined;
    guardPage(reply);
    const words = wordsOf(chooseLanguage(request));
    reply.header('retry-after', String(wait_s));
    if (!isPage(request)) return sendError(reply, 429, 'rate_limited', words);
    return sendMessage(reply, 429, 'busyPage', words);
  });
};

/** A card is the largest thing that is sent. */
const bodyLimit_bytes = 2_048;

interface CheckoutDeps {
  /** Runs the operations of schema/operations/checkout.graphql. */
  readonly supergraph: Pick<Supergraph, 'operation'>;
  /** Signs the tokens in page addresses. */
  readonly pageSecret: Keys;
  /** Reports when a payment changed. */
  readonly liveEvents: Pick<LiveEvents, 'read'>;
  /** Says where a call comes from, for the limits. */
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

/** Whether a person looks at the answer: a page's address, not one that page.js calls. */
const isPage = (request: FastifyRequest): boolean =>
  /^\/pay\/(?:c\/[^?]*|(?:l\/)?[^/?]*(?:\/bank)?)(?:\?|$)/.test(request.url);

const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'unavailable',
};

const sendFault =
  (log: Logger) => (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    guardPage(reply);
    const words = wordsOf(chooseLanguage(request));
    const { statusCode = 500 } = error;
    const status = (statusCode >= 400 && statusCode < 500) || statusCode === 503 ? statusCode : 500;
    if (status === 503) reply.header('retry-after', '1');
    // Mistakes of a body are not logged, because their messages may repeat input.
    if (status >= 500)
      log.error(
        { requestId: request.id, error: error.name, message: error.message },
        'the hosted page could not answer',
      );
    if (isPage(request)) return sendMessage(reply, status, 'brokenPage', words);
    // No page sends such a body: the message is for who wrote it.
    if (error instanceof BodyMistake)
      return reply.code(status).send(errorJson('bad_request', error.message));
    return sendError(reply, status, codes[status] ?? 'internal_error', words);
  };

/**
 * Adds the hosted page under /pay. Page addresses answer pages and JSON addresses the error
 * envelope, whatever happens.
 */
export const registerCheckout = (
  app: FastifyInstance,
  { supergraph, pageSecret, liveEvents, addressOf, log }: CheckoutDeps,
): void => {
  const limiter = openPageLimiter(addressOf);
  const context: PageContext = { calls: prepareCheckoutCalls(supergraph), pageSecret, log };
  app.register(
    async (pay) => {
      pay.setErrorHandler(sendFault(log));
      limitCalls(pay, context, limiter);
      pay.removeContentTypeParser(['application/json', 'text/plain']);
      const parseJson = openJsonParser(pay);
      pay.addContentTypeParser(
        'application/json',
        { parseAs: 'string', bodyLimit: bodyLimit_bytes },
        (request, text, done) => parseJson(request, String(text), done),
      );
      serveAssets(pay);
      showPage(pay, context);
      answerJson(pay, context);
      // Forms are taken where a form is sent, and nowhere else.
      pay.register(async (forms) => {
        forms.addContentTypeParser(
          'application/x-www-form-urlencoded',
          { parseAs: 'string', bodyLimit: bodyLimit_bytes },
          (_request, body, done) => done(null, new URLSearchParams(String(body))),
        );
        takePlainForm(forms, context);
        playBank(forms, context);
        showLink(forms, context, limiter);
        showCustomer(forms, context);
      });
      pushState(pay, context, limiter, liveEvents);
    },
    { prefix: '/pay' },
  );
};
