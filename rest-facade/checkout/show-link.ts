/**
 * The page of a payment link. GET shows what is paid for; POST makes a payment and leads to its own
 * page. A plain form, which works without any script. Additions.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { edgeCall } from '../../gateway/callers/caller.ts';
import { digitsOf } from '../../schema/currencies.ts';
import { signsOf } from '../../schema/money-format.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import { amountOf } from './browser/amount-rules.js';
import { isRefusal, type LinkPage } from './call-checkout.ts';
import { rememberSwitch, formatAmount, refusalWords } from './language.ts';
import type { PageLimiter } from './limit-page.ts';
import { type PageContext, beginPage, isSameOrigin, sendMessage } from './page-context.ts';
import { formOf } from './forms.ts';
import type { Words } from './words/en.ts';
import { html, type Html } from './html.ts';
import { assetAddress } from './serve-assets.ts';
import { lock, seals } from './views/icons.ts';
import { framedView } from './views/page.ts';
import { sellerView, descriptionView, shopView, sizeOf } from './views/summary.ts';

/* The page of a payment link: its description, and the form that continues to a payment. */

const boundsOf = ({ amountMin, amountMax, currency }: LinkPage, { locale }: Words) => ({
  least: formatAmount(amountMin ?? 0, currency, locale),
  most: formatAmount(amountMax ?? 0, currency, locale),
});

/** The mistake in the buyer's input: the typed amount, or the request to continue. */
interface LinkMistake {
  readonly typed: string;
  readonly problem: string;
}

/** The message about an invalid amount, or one out of the link's bounds. */
const amountMistake = (link: LinkPage, words: Words): string => {
  const { least, most } = boundsOf(link, words);
  return words.link.amountWrong(least, most);
};

const amountField = (link: LinkPage, words: Words, mistake: LinkMistake | null): Html => {
  const { least, most } = boundsOf(link, words);
  return html` <div class="field ${mistake && 'wrong'}">
    <label for="amount">${words.link.amountLabel}</label>
    <div class="box">
      <input
        id="amount"
        name="amount"
        type="text"
        inputmode="decimal"
        autocomplete="transaction-amount"
        maxlength="20"
        enterkeyhint="go"
        required
        autofocus
        data-digits="${digitsOf(link.currency)}"
        data-signs="${signsOf(link.currency).join(' ')}"
        data-least="${link.amountMin ?? 0}"
        data-most="${link.amountMax ?? 0}"
        data-problem="${amountMistake(link, words)}"
        value="${mistake?.typed ?? ''}"
        aria-describedby="amount-hint amount-problem"
        ${mistake && html`aria-invalid="true"`}
      />
    </div>
    <p class="before-paying" id="amount-hint">${words.link.bounds(least, most)}</p>
    <p class="problem" id="amount-problem" role="alert">${mistake?.problem}</p>
  </div>`;
};

/** The form's key makes one payment of a button that is pressed twice, or whose answer is lost. */
const linkForm = (link: LinkPage, words: Words, mistake: LinkMistake | null): Html =>
  html`<form class="link-form" method="post" novalidate>
    <input type="hidden" name="idempotency_key" value="${randomBytes(16).toString('base64url')}" />
    ${
      link.amount === null
        ? amountField(link, words, mistake)
        : html`<p class="problem" role="alert">${mistake?.problem}</p>`
    }
    <p class="panel-text">${words.link.hint}</p>
    <button class="primary" type="submit">
      <span class="primary-words">${words.link.goOn}</span>
    </button>
  </form>`;

const summary = (link: LinkPage, words: Words): Html => {
  const amount =
    link.amount === null ? null : formatAmount(link.amount, link.currency, words.locale);
  return html`${shopView(link.shopName)}
  ${
    amount === null
      ? html`<h1 class="amount long">${words.link.title}</h1>`
      : html`<h1 class="amount ${sizeOf(amount)}">
          <span class="unseen">${words.payTo} </span>${amount}
        </h1>`
  }
  ${link.description && descriptionView(link.description)}`;
};

const frame = (kind: 'checkout' | 'message', link: LinkPage, words: Words, main: Html): string =>
  framedView({
    words,
    title:
      link.amount === null
        ? link.shopName
        : words.pageTitle(formatAmount(link.amount, link.currency, words.locale), link.shopName),
    head:
      link.amount === null &&
      link.isOpen &&
      html`<script type="module" src="${assetAddress('link.js')}"></script>`,
    kind,
    test: link.mode === 'test' ? words.testModeText : null,
    top: html`<p class="secure">${lock}${words.secure}</p>`,
    main,
    foot: sellerView(link.seller, words),
  });

/** The page of a link that may be paid. */
const linkPage = (link: LinkPage, words: Words, mistake: LinkMistake | null = null): string =>
  frame(
    'checkout',
    link,
    words,
    html`<main class="sheet">
      <section class="summary" aria-label="${words.summaryLabel}">${summary(link, words)}</section>
      <div class="work"><div class="panel">${linkForm(link, words, mistake)}</div></div>
    </main>`,
  );

const endedLinkPage = (link: LinkPage, words: Words): string => {
  const { ended } = words.link;
  const { title, text } = ended[link.status === 'active' ? 'expired' : link.status];
  return frame(
    'message',
    link,
    words,
    html`<main class="sheet sheet-message">
      <div class="outcome">
        ${link.status === 'paid' ? seals.none : seals.lost}
        <h1 class="panel-title">${title}</h1>
        <p class="panel-text">${text}</p>
      </div>
    </main>`,
  );
};

/** A key as the page's form carries it; a form without one makes a payment each time. */
const idempotencyKey = /^[\w-]{22}$/;

interface LinkRoute {
  Params: { address: string };
}

const callOf = ({ id }: FastifyRequest<LinkRoute>): Call => edgeCall('link-page', id);

const sendBusy = (reply: FastifyReply, words: Words, wait_s: number): FastifyReply =>
  sendMessage(reply.header('retry-after', String(wait_s)), 429, 'busyPage', words);

/** A link's page as it was asked for; null when it was answered already. */
const visit = async (
  context: PageContext,
  limiter: PageLimiter,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
) => {
  const words = beginPage(request, reply);
  const wait_s = limiter.link(request.raw);
  if (wait_s > 0) {
    await sendBusy(reply, words, wait_s);
    return null;
  }
  const link = await context.calls.readLink(callOf(request), request.params);
  if (link?.isOpen) return { link, words };
  await (link
    ? reply.code(410).send(endedLinkPage(link, words))
    : sendMessage(reply, 404, 'unknownPage', words));
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
  app.get<LinkRoute>('/l/:address', async (request, reply) => {
    rememberSwitch(request, reply);
    const seen = await visit(context, limiter, request, reply);
    return seen ? reply.send(linkPage(seen.link, seen.words)) : reply;
  });

  app.post<LinkRoute>('/l/:address', async (request, reply) => {
    const seen = await visit(context, limiter, request, reply);
    if (!seen) return reply;
    const { link, words } = seen;
    if (!isSameOrigin(request, true)) return sendMessage(reply, 404, 'unknownPage', words);
    const form = formOf(request);
    const typed = (form.get('amount') ?? '').slice(0, 20);
    const key = form.get('idempotency_key') ?? '';
    const again = (problem: string): FastifyReply =>
      reply.code(422).send(linkPage(link, words, { typed, problem }));
    const amount =
      link.amount === null
        ? amountOf(typed, digitsOf(link.currency), signsOf(link.currency))
        : null;
    if (link.amount === null && amount === null) return again(amountMistake(link, words));
    const wait_s = limiter.linkPayment(request.raw, request.params.address);
    if (wait_s > 0) return sendBusy(reply, words, wait_s);
    const begun = await context.calls.payLink(callOf(request), {
      address: request.params.address,
      amount,
      idempotencyKey: idempotencyKey.test(key) ? key : null,
    });
    if (!isRefusal(begun)) return reply.redirect(pathOf(begun.paymentUrl), 303);
    if (begun.code === 'bad_request') return again(amountMistake(link, words));
    return again(refusalWords(words, begun.code));
  });
};
