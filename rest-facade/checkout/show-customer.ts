/**
 * The page of a customer. GET shows what the shop may charge; POST ends one of these and shows the
 * rest. Plain forms, which work without any script.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import type { CustomerThing } from './call-checkout.ts';
import { chooseLanguage, rememberSwitch } from './choose-language.ts';
import type { PageContext } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { isSameOrigin } from './same-origin.ts';
import { customerPage } from './views/customer.ts';
import { unknownPage } from './views/message.ts';
import { wordsOf } from './words/words-of.ts';

const bodyLimit_bytes = 1_024;
const things = ['token', 'subscription'] as const satisfies readonly CustomerThing[];

/** Its address is longer than a parameter of a route may be. */
export const customerRoute = '/pay/c/*';

interface CustomerRoute {
  Params: { '*': string };
  Querystring: { done?: unknown };
}

type Request = FastifyRequest<CustomerRoute>;

const callOf = ({ id }: Request): Call => ({
  principal: { kind: 'edge', name: 'customer-page' },
  requestId: id,
  isInLane: false,
});

/** Messengers and mail programs like to end an address with a slash. */
const addressOf = ({ params }: Request): string => params['*'].replace(/\/$/, '');

/** Sets the headers of the page; gives its words. */
const begin = (request: Request, reply: FastifyReply) => {
  guardPage(reply, 'own form');
  const words = wordsOf(chooseLanguage(request));
  void reply.type('text/html; charset=utf-8').header('content-language', words.language);
  return words;
};

/** Adds the routes. An address that is not ours, or has ended, is a page about it, with 404. */
export const showCustomer = (app: FastifyInstance, { calls, assets }: PageContext): void => {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: bodyLimit_bytes },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );

  app.get<CustomerRoute>('/c/*', async (request, reply) => {
    rememberSwitch(request, reply);
    const words = begin(request, reply);
    const page = await calls.readCustomer(callOf(request), addressOf(request));
    if (!page) return reply.code(404).send(unknownPage(words, assets));
    const done = things.find((thing) => thing === request.query.done) ?? null;
    return reply.send(customerPage(page, words, assets, done));
  });

  app.post<CustomerRoute>('/c/*', { bodyLimit: bodyLimit_bytes }, async (request, reply) => {
    const words = begin(request, reply);
    const address = addressOf(request);
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const thing = things.find((one) => form.has(one));
    const ended =
      thing !== undefined &&
      isSameOrigin(request, true) &&
      (await calls.endOfCustomer[thing](callOf(request), address, form.get(thing) ?? ''));
    return ended
      ? reply.redirect(`/pay/c/${address}?done=${thing}`, 303)
      : reply.code(404).send(unknownPage(words, assets));
  });
};
