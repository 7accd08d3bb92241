/**
 * Test mode: the simulated bank that the buyer is sent to. GET shows its page, POST is the buyer's
 * answer there.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isRefused, type Checkout } from './call-checkout.ts';
import { rememberSwitch } from './choose-language.ts';
import {
  findCheckout,
  pageAddress,
  visitOf,
  type PageContext,
  type TokenRoute,
} from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { isSameOrigin } from './same-origin.ts';
import { bankPage } from './views/bank.ts';
import { unknownPage } from './views/message.ts';
import type { Words } from './words/words.ts';

const bodyLimit_bytes = 1_024;

/** Six digits that the simulated bank takes for a wrong code: the payment is declined (docs/testing.md). */
const wrongTestCode = '000000';

/** Whether the payment waits for its buyer at the bank. */
const awaitsBuyer = (checkout: Checkout): boolean =>
  checkout.status === 'processing' && checkout.step !== null && checkout.step !== 'wait';

const sendUnknown = (context: PageContext, reply: FastifyReply, words: Words): FastifyReply =>
  reply.code(404).type('text/html; charset=utf-8').send(unknownPage(words, context.assets));

const showBank = (
  context: PageContext,
  reply: FastifyReply,
  checkout: Checkout,
  words: Words,
  wrongCode: boolean,
): FastifyReply =>
  reply
    .code(wrongCode ? 422 : 200)
    .type('text/html; charset=utf-8')
    .send(bankPage(checkout, words, context.assets, wrongCode));

/**
 * Adds the routes. A live payment has no such page; one that does not wait for its buyer is shown
 * on the hosted page.
 */
export const playBank = (app: FastifyInstance, context: PageContext): void => {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: bodyLimit_bytes },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );

  app.get<TokenRoute>('/:token/bank', async (request, reply) => {
    guardPage(reply, 'own form');
    rememberSwitch(request, reply);
    const { words, found } = await findCheckout(context, request);
    if (found?.checkout.mode !== 'test') return sendUnknown(context, reply, words);
    if (!awaitsBuyer(found.checkout)) return reply.redirect(pageAddress(request), 303);
    return showBank(context, reply, found.checkout, words, false);
  });

  app.post<TokenRoute>('/:token/bank', { bodyLimit: bodyLimit_bytes }, async (request, reply) => {
    guardPage(reply, 'own form');
    const { words, call } = visitOf(context, request);
    if (!call || !isSameOrigin(request, true)) return sendUnknown(context, reply, words);
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const code = (form.get('code') ?? '').trim();
    const approve = form.get('answer') !== 'decline' && code !== wrongTestCode;
    const coded = /^\d{6}$/.test(code);
    const answer = await context.calls.confirm(call, { approve, coded });
    const refusedCheckout = isRefused(answer) ? await context.calls.read(call) : null;
    if (isRefused(answer) && refusedCheckout?.mode !== 'test')
      return sendUnknown(context, reply, words);
    if (refusedCheckout && awaitsBuyer(refusedCheckout))
      return showBank(context, reply, refusedCheckout, words, true);
    return reply.redirect(pageAddress(request), 303);
  });
};
