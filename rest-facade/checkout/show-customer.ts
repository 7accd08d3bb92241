/**
 * The pages of a customer: of all that the shop may charge, and of one subscription. GET shows, POST
 * ends what the page is about. Plain forms, which work without any script.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import { isRefusal, type CustomerThing } from './call-checkout.ts';
import { rememberSwitch } from './language.ts';
import { type PageContext, beginPage, isSameOrigin, sendMessage } from './page-context.ts';
import { formLimit_bytes, formOf, takeForms } from './forms.ts';
import { customerPage } from './views/customer.ts';
import { customerSubscriptionPage } from './views/customer-subscription.ts';
import type { Words } from './words/en.ts';

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

/**
 * The sealed address, and the subscription when the page is of one: `<address>` or
 * `<address>/<subscription>`. Messengers and mail programs like to end an address with a slash.
 */
const partsOf = (path: string): { readonly address: string; readonly id: string | null } => {
  const trimmed = path.replace(/\/$/, '');
  const place = trimmed.indexOf('/');
  return place === -1
    ? { address: trimmed, id: null }
    : { address: trimmed.slice(0, place), id: trimmed.slice(place + 1) };
};

/** The end of a sealed address is another for each. */
const named_characters = 22;

/** What calls of a customer's pages are counted under. */
export const customerPageName = (path: string): string =>
  partsOf(path).address.slice(-named_characters);

/** The document of a request; null when its address has none. */
const documentOf = async (
  { calls, assets }: PageContext,
  request: Request,
  words: Words,
): Promise<string | null> => {
  const { address, id } = partsOf(request.params['*']);
  const done = things.find((thing) => thing === request.query.done) ?? null;
  if (id === null) {
    const page = await calls.readCustomer(callOf(request), { address });
    return page && customerPage(page, words, assets, { address, done });
  }
  const page = await calls.readSubscription(callOf(request), { address, id });
  if (!page?.subscription) return null;
  const shown = { ...page, subscription: page.subscription };
  return customerSubscriptionPage(shown, words, assets, { address, done });
};

/** Adds the routes. An address that is not ours, or has ended, is a page about it, with 404. */
export const showCustomer = (app: FastifyInstance, context: PageContext): void => {
  const { calls, assets } = context;
  takeForms(app);

  app.get<CustomerRoute>('/c/*', async (request, reply) => {
    rememberSwitch(request, reply);
    const words = beginPage(request, reply);
    const document = await documentOf(context, request, words);
    return document ? reply.send(document) : sendMessage(reply, 404, 'unknownPage', words, assets);
  });

  app.post<CustomerRoute>('/c/*', { bodyLimit: formLimit_bytes }, async (request, reply) => {
    const words = beginPage(request, reply);
    const { address, id } = partsOf(request.params['*']);
    const form = formOf(request);
    const thing = things.find((one) => form.has(one));
    const ended =
      thing && isSameOrigin(request, true)
        ? await calls.endOfCustomer[thing](callOf(request), { address, id: form.get(thing) ?? '' })
        : null;
    if (!ended || isRefusal(ended)) return sendMessage(reply, 404, 'unknownPage', words, assets);
    const page = id === null ? address : `${address}/${encodeURIComponent(id)}`;
    return reply.redirect(`/pay/c/${page}?done=${thing}`, 303);
  });
};
