/**
 * A request of the hosted page: its context (the caller's address, the language and the payment), and
 * the headers of its answer.
 */
import type { FastifyRequest, FastifyReply } from 'fastify';
import { type Keys, readPageToken } from '../../subgraphs/platform/access/keys.ts';
import type { BuyerPrincipal, Call } from '../../subgraphs/platform/access/principal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { contentPolicy, html } from './html.ts';
import type { Words } from './words/en.ts';
import type { CheckoutCalls } from './call-checkout.ts';
import { chooseLanguage, wordsOf } from './language.ts';
import { seals } from './views/icons.ts';
import { framedView } from './views/page.ts';

/* Pages with a message alone: an unknown address, a fault of ours. */

/**
 * A message page: the address is not ours (`unknownPage`), the service could not answer
 * (`brokenPage`), or the page was asked for too often (`busyPage`).
 */
const messagePage = (message: 'unknownPage' | 'brokenPage' | 'busyPage', words: Words): string => {
  const { title, text } = words[message];
  const isUnknown = message === 'unknownPage';
  const main = html`<main class="sheet sheet-message">
    <div class="outcome">
      ${isUnknown ? seals.lost : seals.none}
      <h1 class="panel-title">${title}</h1>
      <p class="panel-text">${text}</p>
      ${!isUnknown && html`<a class="primary" href=""><span class="primary-words">${words.tryAgain}</span></a>`}
    </div>
  </main>`;
  return framedView({ words, title, kind: 'message', main });
};

export interface PageContext {
  readonly calls: CheckoutCalls;
  readonly pageSecret: Keys;
  readonly log: Logger;
}

export interface TokenRoute {
  Params: { token: string };
}

export interface BuyerCall extends Call {
  readonly principal: BuyerPrincipal;
}

/**
 * The buyer whose page a request is for, null when the token is not ours; and the language to
 * answer in.
 */
export const visitOf = ({ pageSecret }: PageContext, request: FastifyRequest<TokenRoute>) => {
  const subject = readPageToken(pageSecret, request.params.token);
  const call: BuyerCall | null = subject && {
    principal: { kind: 'buyer', ...subject },
    requestId: request.id,
    isInLane: false,
  };
  return { call, words: wordsOf(chooseLanguage(request)) };
};

/** Reads the payment of a request; `found` is null when the token or the payment is unknown. */
export const findCheckout = async (context: PageContext, request: FastifyRequest<TokenRoute>) => {
  const { words, call } = visitOf(context, request);
  const checkout = call && (await context.calls.read(call));
  return { words, found: call && checkout ? { call, checkout } : null };
};

/** The page's address as seen from the browser. */
export const pageAddress = (request: FastifyRequest<TokenRoute>): string =>
  `/pay/${request.params.token}`;

/**
 * True for a request of our own page, and for a program that is no browser (it sends neither header
 * and carries no browser's rights). Sec-Fetch-Site decides where the browser sends it. Older ones send
 * Origin, which `no-referrer` turns into "null" for a plain form: there `nullAllowed` lets it
 * through, since the address of a page with a form is a secret.
 */
export const isSameOrigin = (request: FastifyRequest, nullAllowed = false): boolean => {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (origin === 'null') return nullAllowed;
  return URL.parse(origin)?.host === request.host;
};

/** Whether the answer is a page with a plain form. */
type Forms = 'no forms' | 'own form';

const policies: Readonly<Record<Forms, string>> = {
  'no forms': contentPolicy(),
  // Forms go nowhere else.
  'own form': contentPolicy({ 'form-action': "'self'" }),
};

/**
 * Sets the headers of a page or an answer of the hosted page: never cached, never framed, never
 * indexed, nothing from elsewhere.
 */
export const guardPage = (reply: FastifyReply, forms: Forms = 'no forms'): void => {
  void reply.headers({
    'cache-control': 'no-store',
    'content-security-policy': policies[forms],
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
  });
};

/** Begins an answer that is a page with a plain form; gives its words. */
export const beginPage = (request: FastifyRequest, reply: FastifyReply): Words => {
  guardPage(reply, 'own form');
  const words = wordsOf(chooseLanguage(request));
  void reply.type('text/html; charset=utf-8').header('content-language', words.language);
  return words;
};

/** Answers with a page that only says something. */
export const sendMessage = (
  reply: FastifyReply,
  status: number,
  message: Parameters<typeof messagePage>[0],
  words: Words,
): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(messagePage(message, words));
