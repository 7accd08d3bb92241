/**
 * The JSON routes of the hosted page: the payment's state, and what the buyer and the tester may
 * do. Every answer holds the state and the page's regions as they are now, so one round trip is
 * enough on a slow network.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import * as v from 'valibot';
import { errorJson } from '../../schema/wire.ts';
import { refusalHttp } from '../refusal-http.ts';
import { isRefusal, type CheckoutAnswer, type Checkout } from './call-checkout.ts';
import {
  findCheckout,
  visitOf,
  type BuyerCall,
  type PageContext,
  type TokenRoute,
  guardPage,
  isSameOrigin,
} from './page-context.ts';
import type { Words } from './words/en.ts';
import { payableMethods } from './words/words.ts';
import { refusalWords } from './language.ts';
import { markupText } from './html.ts';
import { pageTitle, regionViews } from './views/page.ts';

/*
 * The state of the page as page.js gets it: the Checkout, the page's regions drawn anew, and a
 * digest of both. An answer is drawn once, whatever is made of it.
 */

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Draws what is shown; the time is not, so that a state stays the same while it passes. */
export const drawState = (checkout: Checkout, words: Words) => {
  const regions = regionViews(checkout, words);
  const { ribbon, summary, panel } = regions;
  const title = pageTitle(checkout, words);
  const { now, ...shown } = checkout;
  const texts = {
    ribbon: markupText(ribbon),
    summary: markupText(summary),
    panel: markupText(panel),
  };
  const state = JSON.stringify({ ...shown, title, regions: texts });
  const tag = digestOf(state);
  return {
    title,
    regions,
    /** The digest of what is shown: equal tags look equal. */
    tag,
    /** The state as JSON. The page's clock is set by its `now`. */
    json: (): string => `${state.slice(0, -1)},${JSON.stringify({ tag, now }).slice(1)}`,
  };
};

/** Answers in the error envelope; `code` decides the buyer's words. */
export const sendError = (
  reply: FastifyReply,
  status: number,
  code: string,
  words: Words,
): FastifyReply => reply.code(status).send(errorJson(code, refusalWords(words, code)));

const sendState = (
  reply: FastifyReply,
  { tag, json }: ReturnType<typeof drawState>,
): FastifyReply =>
  reply.header('etag', `"${tag}"`).type('application/json; charset=utf-8').send(json());

const word = (longest: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(longest));

const card = v.strictObject({
  number: word(19),
  expiry: word(5),
  cvc: word(4),
  holder: v.pipe(v.string(), v.maxLength(64)),
});
const methodBody = v.strictObject({ method: v.picklist(payableMethods) });
const payBody = v.strictObject({ card: v.optional(card) });
const planBody = v.strictObject({
  outcome: v.picklist(['succeeded', 'failed', 'requires_action', 'pending']),
  failureCode: v.nullish(word(64)),
});

/** Adds the routes. Another content type is 415, a large body 413. */
export const answerJson = (app: FastifyInstance, context: PageContext): void => {
  const { calls } = context;
  app.get<TokenRoute>('/:token/state', async (request, reply) => {
    guardPage(reply);
    const { words, found } = await findCheckout(context, request);
    if (!found) return sendError(reply, 404, 'not_found', words);
    // Who has seen the state still learns the time: a test clock may have been advanced.
    void reply.header('page-time', found.checkout.now);
    const drawing = drawState(found.checkout, words);
    const seen = request.headers['if-none-match'] === `"${drawing.tag}"`;
    return seen ? reply.code(304).send() : sendState(reply, drawing);
  });

  /**
   * Adds what the buyer or the tester does. A body that does not match is 400; what did not come
   * from the page itself as JSON is refused; else it answers with the new state or the refusal.
   */
  const act = <Schema extends v.GenericSchema>(
    what: string,
    schema: Schema,
    does: (call: BuyerCall, body: v.InferOutput<Schema>) => Promise<CheckoutAnswer>,
  ): void => {
    app.post<TokenRoute>(`/:token/${what}`, async (request, reply) => {
      guardPage(reply);
      const { words, call } = visitOf(context, request);
      const read = v.safeParse(schema, request.body);
      if (!read.success || Array.isArray(request.body))
        return sendError(reply, 400, 'bad_request', words);
      if (!isSameOrigin(request)) return sendError(reply, 403, 'cross_origin', words);
      if (!call) return sendError(reply, 404, 'not_found', words);
      const answer = await does(call, read.output);
      return isRefusal(answer)
        ? sendError(reply, refusalHttp[answer.code].status, answer.code, words)
        : sendState(reply, drawState(answer, words));
    });
  };
  act('method', methodBody, (call, body) => calls.choose(call, body));
  act('pay', payBody, (call, body) => calls.pay(call, { card: body.card ?? null }));
  act('plan', planBody, (call, { outcome, failureCode = null }) =>
    calls.plan(call, { outcome, failureCode }),
  );
};
