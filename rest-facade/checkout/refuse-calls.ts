/** Answers 429 under the limits of the hosted page: a page to a person, the envelope to page.js. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readPageToken } from '../../subgraphs/kernel/service/graph/page-token.ts';
import { sendError } from './answer-json.ts';
import { chooseLanguage } from './choose-language.ts';
import type { PageLimiter } from './limit-page.ts';
import type { PageContext } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { customerRoute } from './show-customer.ts';
import { busyPage } from './views/message.ts';
import { wordsOf } from './words/words-of.ts';

/** The end of a customer's page's address is another for each. */
const named_characters = 22;

const paramOf = ({ params }: FastifyRequest, name: string): string =>
  typeof params === 'object' && params !== null
    ? String(Object.entries(params).find(([known]) => known === name)?.[1] ?? '')
    : '';

/** The page that a call is counted under: a payment's, or a customer's; null where it is neither. */
const pageOf = ({ pageSecret }: PageContext, request: FastifyRequest): string | null =>
  request.routeOptions.url === customerRoute
    ? paramOf(request, '*').slice(-named_characters)
    : (readPageToken(pageSecret, paramOf(request, 'token'))?.paymentId ?? null);

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
    const wait_s = limiter.call(request.raw, pageOf(context, request));
    if (wait_s === 0) return undefined;
    guardPage(reply);
    const words = wordsOf(chooseLanguage(request));
    reply.header('retry-after', String(wait_s));
    if (!isPage(request)) return sendError(reply, 429, 'rate_limited', words);
    return reply.code(429).type('text/html; charset=utf-8').send(busyPage(words, context.assets));
  });
};
