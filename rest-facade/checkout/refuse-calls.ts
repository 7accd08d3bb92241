/** Answers 429 under the limits of the hosted page: a page to a person, the envelope to page.js. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readPageToken } from '../../subgraphs/kernel/service/graph/page-token.ts';
import { sendError } from './answer-json.ts';
import { chooseLanguage } from './choose-language.ts';
import type { PageLimiter } from './limit-page.ts';
import type { PageContext } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { busyPage } from './views/message.ts';
import { wordsOf } from './words/words-of.ts';

/**
 * Has every call under /pay counted before anything is done for it. Assets are not: they are in
 * memory, and browsers keep them.
 */
export const limitCalls = (
  app: FastifyInstance,
  context: PageContext,
  limiter: PageLimiter,
  isPage: (request: FastifyRequest) => boolean,
): void => {
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.routeOptions.url?.startsWith('/pay/assets/')) return undefined;
    const { params } = request;
    const token =
      typeof params === 'object' && params !== null && 'token' in params
        ? String(params.token)
        : '';
    const wait_s = limiter.call(
      request.raw,
      readPageToken(context.pageSecret, token)?.paymentId ?? null,
    );
    if (wait_s === 0) return undefined;
    guardPage(reply);
    const words = wordsOf(chooseLanguage(request));
    reply.header('retry-after', String(wait_s));
    if (!isPage(request)) return sendError(reply, 429, 'rate_limited', words);
    return reply.code(429).type('text/html; charset=utf-8').send(busyPage(words, context.assets));
  });
};
