/**
 * The plain forms under /pay, which work without any script. POST /pay/:token is the page's form as
 * a browser sends it by itself, without page.js. The answer leads back to the page, so that loading it again sends nothing twice; a card is never shown again.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CardInput } from '../../schema/generated/operations.ts';
import { cardOf, fieldNames, flawOf } from './browser/card-rules.js';
import { payableMethod } from './views/pay-form.ts';
import type { Words } from './words/en.ts';
import { isRefusal, type Checkout } from './call-checkout.ts';
import {
  pageAddress,
  visitOf,
  type BuyerCall,
  type PageContext,
  type TokenRoute,
  guardPage,
  isSameOrigin,
  sendMessage,
} from './page-context.ts';

/** What is wrong with a card first, as page.js words it: `numberShort`; null: nothing. */
const firstFlaw = (card: CardInput, { asksHolder, now }: Checkout): string | null => {
  const flaws = fieldNames.flatMap((name) => {
    if (name === 'holder' && card.holder === '' && !asksHolder) return [];
    const flaw = flawOf(name, card[name], new Date(now));
    return flaw === null ? [] : [`${name}${flaw}`];
  });
  return flaws[0] ?? null;
};

/** Pays as the form says; gives what is wrong with it, null when the bank has the payment. */
const payByForm = async (
  { calls }: PageContext,
  call: BuyerCall,
  checkout: Checkout,
  form: URLSearchParams,
): Promise<string | null> => {
  const chosen = payableMethod(form.get('method') ?? '');
  const method = chosen ?? payableMethod(checkout.method);
  const card =
    method === 'cards' && checkout.asksCard ? cardOf((name) => form.get(name) ?? '') : null;
  const flaw = card && firstFlaw(card, checkout);
  if (flaw) return flaw;
  const choice = chosen && (await calls.choose(call, { method: chosen }));
  if (choice && isRefusal(choice)) return choice.code;
  const paid = await calls.pay(call, { card });
  return isRefusal(paid) ? paid.code : null;
};

/** Every problem that the page has words for, by its code. */
const problems = ({ browser, refusals, refused }: Words): ReadonlyMap<string, string> =>
  new Map(Object.entries({ ...browser, ...refusals, refused }));

/** The words of a problem; null for what is none. */
export const problemWords = (code: unknown, words: Words): string | null =>
  problems(words).get(String(code)) ?? null;

/** The form that was sent; an empty one when it was none. */
export const formOf = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();

/** Adds the route. */
export const takePlainForm = (app: FastifyInstance, context: PageContext): void => {
  app.post<TokenRoute>('/:token', async (request, reply) => {
    guardPage(reply, 'own form');
    const { words, call } = visitOf(context, request);
    const checkout = call && isSameOrigin(request, true) ? await context.calls.read(call) : null;
    if (!call || !checkout) return sendMessage(reply, 404, 'unknownPage', words);
    const page = pageAddress(request);
    const problem = await payByForm(context, call, checkout, formOf(request));
    if (problem !== null) {
      const code = problems(words).has(problem) ? problem : 'refused';
      return reply.redirect(`${page}?problem=${code}`, 303);
    }
    // As page.js remembers it: this browser is led back to the shop afterwards.
    void reply.header('set-cookie', `pay_session=paying; Path=${page}; SameSite=Lax`);
    return reply.redirect(page, 303);
  });
};
