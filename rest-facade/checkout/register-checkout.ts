/**
 * The hosted page: server-rendered HTML under a strict policy, one style and a few small modules,
 * without a framework and without anything from another host.
 */
import { Ajv, type SchemaObject, type ValidateFunction } from 'ajv';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressOf } from '../../gateway/callers/caller-address.ts';
import { BodyMistake, openJsonParser } from '../../gateway/graphql/parse-json.ts';
import type { LiveEvents } from '../../gateway/live/events.ts';
import type { Supergraph } from '../../gateway/supergraph.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { errorJson } from '../../schema/wire.ts';
import { answerJson, sendError } from './answer-json.ts';
import { prepareCheckoutCalls } from './call-checkout.ts';
import { chooseLanguage } from './choose-language.ts';
import { openPageLimiter } from './limit-page.ts';
import type { PageContext } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { playBank } from './play-bank.ts';
import { pushState } from './push-state.ts';
import { limitCalls } from './refuse-calls.ts';
import { readAssets, serveAssets, type Assets } from './serve-assets.ts';
import { showCustomer } from './show-customer.ts';
import { showLink } from './show-link.ts';
import { showPage } from './show-page.ts';
import { brokenPage } from './views/message.ts';
import { wordsOf } from './words/words-of.ts';
import type { Keys } from '../../subgraphs/kernel/service/access/keys.ts';

export interface CheckoutParts {
  /** Runs the operations of schema/operations/checkout.graphql. */
  readonly supergraph: Pick<Supergraph, 'operation'>;
  /** Signs the tokens in page addresses. */
  readonly pageSecret: Keys;
  /** Reports when a payment changed; without it the page only polls. */
  readonly liveEvents?: Pick<LiveEvents, 'read'>;
  /** Says where a call comes from, for the limits. */
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

/** Whether a person looks at the answer: a page's address, not one that page.js calls. */
const isPage = (request: FastifyRequest): boolean =>
  /^\/pay\/(?:[cl]\/)?[^/?]*(?:\/bank)?(?:\?|$)/.test(request.url);

const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'unavailable',
};

const sendFault =
  (assets: Assets, log: Logger) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
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
    if (isPage(request))
      return reply.code(status).type('text/html; charset=utf-8').send(brokenPage(words, assets));
    // No page sends such a body: the message is for who wrote it.
    if (error instanceof BodyMistake)
      return reply.code(status).send(errorJson('bad_request', error.message));
    return sendError(reply, status, codes[status] ?? 'internal_error', words);
  };

/** The compiler of this scope's schemas: each is compiled when the first body comes. */
const compileWhenAsked =
  (ajv: Ajv) =>
  ({ schema }: { schema: SchemaObject }) => {
    let compiled: ValidateFunction | null = null;
    return (body: unknown) => {
      const validate = (compiled ??= ajv.compile(schema));
      return validate(body) ? { value: body } : { error: new Error('the body is not valid') };
    };
  };

/**
 * Adds the hosted page under /pay. Page addresses answer pages and JSON addresses the error
 * envelope, whatever happens.
 */
export const registerCheckout = (
  app: FastifyInstance,
  { supergraph, pageSecret, liveEvents, addressOf, log }: CheckoutParts,
): void => {
  const assets = readAssets();
  const limiter = openPageLimiter(addressOf);
  const context: PageContext = { calls: prepareCheckoutCalls(supergraph), pageSecret, assets, log };
  app.register(
    async (pay) => {
      pay.setErrorHandler(sendFault(assets, log));
      limitCalls(pay, context, limiter, isPage);
      // Bodies are taken as they are: nothing is coerced, dropped or filled in.
      pay.setValidatorCompiler(compileWhenAsked(new Ajv()));
      // What is sent is JSON; the simulated bank's form has a scope of its own.
      pay.removeContentTypeParser(['application/json', 'text/plain']);
      const parseJson = openJsonParser(pay);
      pay.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) =>
        parseJson(request, String(text), done),
      );
      serveAssets(pay, assets);
      showPage(pay, context);
      answerJson(pay, context);
      pay.register(async (bank) => playBank(bank, context));
      pay.register(async (link) => showLink(link, context, limiter));
      pay.register(async (customer) => showCustomer(customer, context));
      pushState(pay, context, limiter, liveEvents);
    },
    { prefix: '/pay' },
  );
};
