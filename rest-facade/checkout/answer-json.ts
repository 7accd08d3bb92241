/**
 * The JSON routes of the hosted page: the payment's state, and what the buyer and the tester may
 * do. Every answer holds the state and the page's regions as they are now, so one round trip is
 * enough on a slow network.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type {
  CardInput,
  PaymentMethod,
  SimulatorOutcome,
} from '../../schema/generated/operations.ts';
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
import { refusalWords } from './language.ts';
import { markupText } from './html.ts';
import { pageTitle, regionViews, type Regions } from './views/page.ts';

/*
 * The state of the page as page.js gets it: the Checkout, the page's regions drawn anew, and a
 * digest of both. An answer is drawn once, whatever is made of it.
 */

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** What a page shows. */
interface Drawing {
  readonly title: string;
  readonly regions: Regions;
  /** The digest of what is shown: equal tags look equal. */
  readonly tag: string;
  /** The state as JSON. The page's clock is set by its `now`. */
  readonly json: () => string;
}

/** Draws what is shown; the time is not, so that a state stays the same while it passes. */
export const drawState = (checkout: Checkout, words: Words): Drawing => {
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
    tag,
    json: () => `${state.slice(0, -1)},${JSON.stringify({ tag, now }).slice(1)}`,
  };
};

/** A card is the largest thing that is sent here. */
const bodyLimit_bytes = 2_048;

/** Answers in the error envelope; `code` decides the buyer's words. */
export const sendError = (
  reply: FastifyReply,
  status: number,
  code: string,
  words: Words,
): FastifyReply => reply.code(status).send(errorJson(code, refusalWords(words, code)));

const sendState = (reply: FastifyReply, { tag, json }: Drawing): FastifyReply =>
  reply.header('etag', `"${tag}"`).type('application/json; charset=utf-8').send(json());

type Act = (call: BuyerCall) => Promise<CheckoutAnswer>;

/**
 * Refuses what did not come from the page itself as JSON; else does it and answers with the new
 * state or the refusal.
 */
const act = async (
  context: PageContext,
  request: FastifyRequest<TokenRoute>,
  reply: FastifyReply,
  does: Act,
): Promise<FastifyReply> => {
  guardPage(reply);
  const { words, call } = visitOf(context, request);
  if (!isSameOrigin(request)) return sendError(reply, 403, 'cross_origin', words);
  if (!call) return sendError(reply, 404, 'not_found', words);
  const answer = await does(call);
  return isRefusal(answer)
    ? sendError(reply, refusalHttp[answer.code].status, answer.code, words)
    : sendState(reply, drawState(answer, words));
};

const word = (longest: number) => ({ type: 'string', minLength: 1, maxLength: longest }) as const;

const schemas = {
  method: {
    type: 'object',
    required: ['method'],
    additionalProperties: false,
    properties: { method: { enum: ['sbp', 'cards', 'tpay', 'sberpay'] } },
  },
  pay: {
    type: 'object',
    additionalProperties: false,
    properties: {
      card: {
        type: 'object',
        required: ['number', 'expiry', 'cvc', 'holder'],
        additionalProperties: false,
        properties: {
          number: word(19),
          expiry: word(5),
          cvc: word(4),
          holder: { type: 'string', maxLength: 64 },
        },
      },
    },
  },
  plan: {
    type: 'object',
    required: ['outcome'],
    additionalProperties: false,
    properties: {
      outcome: { enum: ['succeeded', 'failed', 'requires_action', 'pending'] },
      failureCode: { ...word(64), nullable: true },
    },
  },
} as const;

/**
 * Adds the routes. A body that does not match the schema is 400, another content type 415, a
 * large one 413.
 */
export const answerJson = (app: FastifyInstance, context: PageContext): void => {
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

  const options = (body: object) => ({ bodyLimit: bodyLimit_bytes, schema: { body } });
  app.post<TokenRoute & { Body: { method: PaymentMethod } }>(
    '/:token/method',
    options(schemas.method),
    (request, reply) =>
      act(context, request, reply, (call) => context.calls.choose(call, request.body.method)),
  );
  app.post<TokenRoute & { Body: { card?: CardInput } }>(
    '/:token/pay',
    options(schemas.pay),
    (request, reply) =>
      act(context, request, reply, (call) => context.calls.pay(call, request.body.card ?? null)),
  );
  app.post<TokenRoute & { Body: { outcome: SimulatorOutcome; failureCode?: string | null } }>(
    '/:token/plan',
    options(schemas.plan),
    (request, reply) =>
      act(context, request, reply, (call) =>
        context.calls.plan(call, request.body.outcome, request.body.failureCode ?? null),
      ),
  );
};
