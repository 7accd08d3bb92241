/**
 * The page of a payment link. GET shows what is paid for; POST makes a payment and leads to its own
 * page. A plain form, which works without any script. Additions.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { digitsOf } from '../../schema/currencies.ts';
import { signsOf } from '../../schema/money-format.ts';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import { amountOf } from './browser/amount-rules.js';
import { isRefused, type LinkPage } from './call-checkout.ts';
import { chooseLanguage, rememberSwitch } from './choose-language.ts';
import type { PageLimiter } from './limit-page.ts';
import type { PageContext } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { isSameOrigin } from './same-origin.ts';
import { amountMistake, endedLinkPage, linkPage } from './views/link.ts';
import { busyPage, unknownPage } from './views/message.ts';
import type { Words } from './words/words.ts';
import { wordsOf } from './words/words-of.ts';

const bodyLimit_bytes = 1_024;

/** A key as the page's form carries it; a form without one makes a payment each time. */
const idempotencyKey = /^[\w-]{22}$/;

interface LinkRoute {
  Params: { address: string };
}

const callOf = ({ id }: FastifyRequest<LinkRoute>): Call => ({
  principal: { kind: 'edge', name: 'link-page' },
  requestId: id,
  isInLane: false,
});

/** A link's page as it was asked for; null when it was answered already. */
interface Visit {
  readonly link: LinkPage;
  readonly words: Words;
}

const sendBusy = (
  { assets }: PageContext,
  reply: FastifyReply,
  words: Words,
  wait_s: number,
): FastifyReply =>
  reply.code(429).header('retry-after', String(wait_s)).send(busyPage(words, assets));

const visit = async (
  context: PageContext,
  limiter: PageLimiter,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
): Promise<Visit | null> => {
  guardPage(reply, 'own form');
  const words = wordsOf(chooseLanguage(request));
  void reply.type('text/html; charset=utf-8').header('content-language', words.language);
  const wait_s = limiter.link(request.raw);
  if (wait_s > 0) {
    await sendBusy(context, reply, words, wait_s);
    return null;
  }
  const link = await context.calls.readLink(callOf(request), request.params.address);
  if (link?.isOpen) return { link, words };
  await (link
    ? reply.code(410).send(endedLinkPage(link, words, context.assets))
    : reply.code(404).send(unknownPage(words, context.assets)));
  return null;
};

/** The path of a payment's page, on whatever host the buyer sees this one. */
const pathOf = (paymentUrl: string): string => `/pay/${paymentUrl.split('/').at(-1) ?? ''}`;

/** Adds the routes. */
export const showLink = (
  app: FastifyInstance,
  context: PageContext,
  limiter: PageLimiter,
): void => {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: bodyLimit_bytes },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );

  app.get<LinkRoute>('/l/:address', async (request, reply) => {
    rememberSwitch(request, reply);
    const seen = await visit(context, limiter, request, reply);
    return seen ? reply.send(linkPage(seen.link, seen.words, context.assets)) : reply;
  });

  app.post<LinkRoute>('/l/:address', { bodyLimit: bodyLimit_bytes }, async (request, reply) => {
    const seen = await visit(context, limiter, request, reply);
    if (!seen) return reply;
    const { link, words } = seen;
    if (!isSameOrigin(request, true))
      return reply.code(404).send(unknownPage(words, context.assets));
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const typed = (form.get('amount') ?? '').slice(0, 20);
    const key = form.get('idempotency_key') ?? '';
    const again = (problem: string): FastifyReply =>
      reply.code(422).send(linkPage(link, words, context.assets, { typed, problem }));
    const amount =
      link.amount === null
        ? amountOf(typed, digitsOf(link.currency), signsOf(link.currency))
        : null;
    if (link.amount === null && amount === null) return again(amountMistake(link, words));
    const wait_s = limiter.linkPayment(request.raw, request.params.address);
    if (wait_s > 0) return sendBusy(context, reply, words, wait_s);
    const begun = await context.calls.payLink(
      callOf(request),
      request.params.address,
      amount,
      idempotencyKey.test(key) ? key : null,
    );
    if (!isRefused(begun)) return reply.redirect(pathOf(begun.paymentUrl), 303);
    if (begun.code === 'bad_request') return again(amountMistake(link, words));
    const refusals: Readonly<Record<string, string>> = words.refusals;
    return again(refusals[begun.code] ?? words.refused);
  });
};
