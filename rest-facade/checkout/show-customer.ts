/**
 * The pages of a customer: of all that the shop may charge, and of one subscription. GET shows, POST
 * ends what the page is about. Plain forms, which work without any script.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { edgeCall } from '../../gateway/callers/caller.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import {
  isRefusal,
  type CustomerThing,
  type CustomerFrame,
  type CustomerPage,
  type FoundSubscription,
} from './call-checkout.ts';
import { rememberSwitch, formatDay, formatTime, formatAmount, failureWords } from './language.ts';
import { type PageContext, beginPage, isSameOrigin, sendMessage } from './page-context.ts';
import { formOf } from './forms.ts';
import type { Words } from './words/en.ts';
import { html, linkable, type Html, type Piece, day, fact } from './html.ts';
import { lock, methodMarks, onwards } from './views/icons.ts';
import { framedView } from './views/page.ts';
import { priceOf } from './views/subscription.ts';
import { cardText, sellerView, shopView, sizeOf } from './views/summary.ts';

/* The page of one subscription of a customer: its state, its terms, its charges, and its end. */

type Found = NonNullable<FoundSubscription['subscription']>;
type Charge = Found['charges'][number];

/** Whether the free days of a trial run, and nothing has been charged. */
const isOnTrial = ({ subscription: { trialDays, lastChargeAt } }: Found): boolean =>
  trialDays > 0 && lastChargeAt === null;

const stateOf = ({ subscription }: Found, words: Words): string => {
  const { status, cancelledAt, token } = subscription;
  if (status === 'cancelled')
    return cancelledAt === null
      ? words.subscription.ended
      : words.customer.one.cancelledOn(formatDay(cancelledAt, words));
  if (token.status === 'cancelled') return words.customer.unpaid;
  return words.customer.states[status === 'pending' ? 'active' : status];
};

/** The charge that comes next: its day and amount; nothing where none comes. */
const nextFact = ({ subscription }: Found, words: Words): Piece => {
  const { status, nextChargeAt, retryAt, amount, currency, token } = subscription;
  if (token.status === 'cancelled') return null;
  const sum = formatAmount(amount, currency, words.locale);
  const at = (instant: string): Html => html`${day(instant, words)}, ${sum}`;
  if (status === 'past_due') {
    const { retry, underWay } = words.customer.one;
    return fact(retry, retryAt === null ? underWay : at(retryAt));
  }
  return nextChargeAt !== null && fact(words.subscription.nextCharge, at(nextChargeAt));
};

const stateView = (found: Found, words: Words): Html => {
  const { subscription, paidUntil } = found;
  const { one, paidWith } = words.customer;
  const until = isOnTrial(found)
    ? `${words.subscription.trial} ${words.subscription.until}`
    : one.paidUntil;
  return html`<dl class="facts own-facts">
    ${fact(one.state, stateOf(found, words))} ${nextFact(found, words)}
    ${paidUntil !== null && fact(until, day(paidUntil, words))}
    ${fact(paidWith, methodText(subscription.token, words))}
  </dl>`;
};

const termsView = ({ subscription, agreedAt }: Found, shopName: string, words: Words): Html => {
  const { trialDays } = subscription;
  const price = priceOf(subscription, words);
  const { priceLabel, trial, days } = words.subscription;
  return html`<section class="things">
    <h2 class="things-title">${words.customer.one.terms}</h2>
    <dl class="facts own-facts">
      ${fact(priceLabel, price)} ${trialDays > 0 && fact(trial, days(trialDays))}
    </dl>
    ${
      agreedAt !== null &&
      html`<p class="thing-more">
        ${words.customer.one.agreed(formatDay(agreedAt, words), shopName, price)}
      </p>`
    }
  </section>`;
};

/** What became of a charge, and why it failed. */
const chargeState = (charge: Charge, words: Words): string => {
  const { status, amountRefunded, currency, failureCode } = charge;
  const { chargeStates, refunded } = words.customer.one;
  if (amountRefunded > 0) return refunded(formatAmount(amountRefunded, currency, words.locale));
  const why = failureCode === null ? null : failureWords(words, failureCode);
  return why ? `${chargeStates[status]}: ${why.reason}` : chargeStates[status];
};

const chargeView = (charge: Charge, words: Words): Html => {
  const { period, amount, currency, status, at } = charge;
  return html`<li class="charge">
    <span class="charge-day">${day(at, words)}</span>
    <span class="charge-amount">${formatAmount(amount, currency, words.locale)}</span>
    <span class="charge-state ${status}">${chargeState(charge, words)}</span>
    ${period === 0 && html`<span class="charge-state">${words.customer.one.check}</span>`}
  </li>`;
};

const chargesView = ({ charges, hasOlderCharges }: Found, words: Words): Html => {
  const { charges: title, noCharges, olderCharges } = words.customer.one;
  const shown = charges.map((charge) => chargeView(charge, words));
  const older = hasOlderCharges && html`<p class="thing-more">${olderCharges}</p>`;
  return list(title, noCharges, shown, 'charges', older);
};

/** The way to cancel, with what stays afterwards; nothing when it is cancelled. */
const cancelView = (found: Found, words: Words): Piece => {
  const { subscription, paidUntil, charges } = found;
  if (subscription.status === 'cancelled') return null;
  const { leaves, leavesCharge } = words.customer.one;
  const left = leaves[isOnTrial(found) ? 'trial' : 'paid'];
  const isCharging = charges.some(({ status }) => status === 'open');
  const beside = html`${paidUntil !== null && left(formatDay(paidUntil, words))}
  ${isCharging && leavesCharge}`;
  const { id } = subscription;
  return endForm('subscription', { id, name: nameOf(subscription, words), beside }, words);
};

/** The page; `address`: of the customer's page. */
const subscriptionPage = (found: Found, shopName: string, words: Words, address: string): Shown => {
  const panel = html`<p class="own-back">
      <a href="/pay/c/${address}">${words.customer.one.back}</a>
    </p>
    ${stateView(found, words)} ${cancelView(found, words)} ${termsView(found, shopName, words)}
    ${chargesView(found, words)}`;
  return {
    title: nameOf(found.subscription, words),
    text: priceOf(found.subscription, words),
    panel,
  };
};

/* The page of a customer: what the shop may charge, and the removal of a saved method. */

type Token = CustomerPage['tokens'][number];
type Subscription = CustomerPage['subscriptions'][number];
type Method = Pick<Token, 'method' | 'cardBrand' | 'cardMask'>;

/** A saved method: the card's brand and last digits, else the method's name. */
const methodText = (method: Method, words: Words): string =>
  cardText(method, words) ?? words.methods[method.method].name;

/** A confirmation before anything ends: a `details` element, which needs no script. */
const endForm = (
  thing: CustomerThing,
  { id, name, beside }: { readonly id: string; readonly name: string; readonly beside: Piece },
  words: Words,
): Html => {
  const { begin, sure, go } = words.customer[thing];
  return html`<details class="end">
    <summary>${begin}<span class="unseen">: ${name}</span></summary>
    <p>${sure} ${beside}</p>
    <form method="post">
      <input type="hidden" name="${thing}" value="${id}" />
      <button type="submit" class="end-go">${go}</button>
    </form>
  </details>`;
};

/** The merchant's name of the plan, else what it is. */
const nameOf = ({ planName }: Pick<Subscription, 'planName'>, words: Words): string =>
  planName ?? words.subscription.title;

const tokenView = (token: Token, { subscriptions }: CustomerPage, words: Words): Html => {
  const { lastCharge, savedOn, pays } = words.customer;
  const name = methodText(token, words);
  const paid = subscriptions
    .filter((one) => one.token.id === token.id)
    .map((one) => `${nameOf(one, words)}, ${priceOf(one, words)}`);
  return html`<li class="thing">
    ${methodMarks[token.method]}
    <div class="thing-words">
      <p class="thing-name">${name}</p>
      <p class="thing-more">
        ${
          token.lastChargedAt === null
            ? savedOn(formatDay(token.createdAt, words))
            : lastCharge(formatDay(token.lastChargedAt, words))
        }
      </p>
      ${endForm('token', { id: token.id, name, beside: paid.length > 0 && pays(paid) }, words)}
    </div>
  </li>`;
};

/** When it is charged next. Before the first charge the trial runs. */
const nextCharge = (subscription: Subscription, words: Words): Piece => {
  const { status, trialDays, lastChargeAt, nextChargeAt, token } = subscription;
  if (token.status === 'cancelled') return words.customer.unpaid;
  if (status === 'past_due' || status === 'paused') return words.customer.states[status];
  if (nextChargeAt === null) return null;
  const next = formatDay(nextChargeAt, words);
  return trialDays > 0 && lastChargeAt === null
    ? words.customer.freeUntil(next)
    : html`${words.subscription.nextCharge}: ${next}`;
};

const subscriptionView = (subscription: Subscription, address: string, words: Words): Html => {
  const { id, token } = subscription;
  const name = nameOf(subscription, words);
  return html`<li class="thing">
    <div class="thing-words">
      <p class="thing-name">${name}</p>
      <p class="thing-price">${priceOf(subscription, words)}</p>
      <p class="thing-more">${nextCharge(subscription, words)}</p>
      <p class="thing-more">${words.customer.paidWith}: ${methodText(token, words)}</p>
      <a class="thing-open" href="/pay/c/${address}/${id}"
        >${words.customer.one.open}<span class="unseen">: ${name}</span></a
      >
      ${endForm('subscription', { id, name, beside: null }, words)}
    </div>
  </li>`;
};

const list = (
  title: string,
  none: string,
  things: readonly Html[],
  kind: string | null = null,
  more: Piece = null,
): Html =>
  html`<section class="things">
    <h2 class="things-title">${title}</h2>
    ${
      things.length > 0
        ? html`<ul ${kind && html`class="${kind}"`}>
            ${things}
          </ul>`
        : html`<p class="panel-text">${none}</p>`
    }
    ${more}
  </section>`;

const wayBack = ({ returnUrl }: CustomerFrame, words: Words): Piece => {
  const address = linkable(returnUrl);
  return address && onwards('return', address, words.backToShop);
};

/** What was just ended, in words; nothing when nothing was. */
const doneView = (done: CustomerThing | null, words: Words): Piece =>
  done && html`<p class="notice good" role="status">${words.customer[done].done}</p>`;

interface Shown {
  readonly title: string;
  readonly text: string;
  readonly panel: Piece;
}

/**
 * The document of a customer's pages: the shop, a heading, what the page is about, the seller.
 * `done`: what was just ended.
 */
const customerDocument = (
  frame: CustomerFrame,
  { title, text, panel }: Shown,
  done: CustomerThing | null,
  words: Words,
): string =>
  framedView({
    words,
    title: `${title} — ${frame.shopName}`,
    kind: 'checkout customer',
    test: frame.mode === 'test' ? words.testModeText : null,
    top: html`<p class="secure">${lock}${frame.shopName}</p>`,
    main: html`<main class="sheet">
      <section class="summary">
        ${shopView(frame.shopName)}
        <h1 class="amount ${sizeOf(title) || 'long'}">${title}</h1>
        <p class="description">${text}</p>
      </section>
      <div class="work">
        <div class="panel">${doneView(done, words)} ${panel} ${wayBack(frame, words)}</div>
      </div>
    </main>`,
    foot: html`<p>${words.customer.until(formatTime(frame.expiresAt, words))}</p>
      ${sellerView(frame.seller, words)}`,
  });

/** The page at an address. */
const customerPage = (page: CustomerPage, words: Words, address: string): Shown => {
  const { title, text, tokens, noTokens, subscriptions, noSubscriptions } = words.customer;
  const panel = html`${list(
    subscriptions,
    noSubscriptions,
    page.subscriptions.map((one) => subscriptionView(one, address, words)),
  )}
  ${list(
    tokens,
    noTokens,
    page.tokens.map((one) => tokenView(one, page, words)),
  )}`;
  return { title, text: text(page.shopName), panel };
};

const things = ['token', 'subscription'] as const satisfies readonly CustomerThing[];

/** Its address is longer than a parameter of a route may be. */
export const customerRoute = '/pay/c/*';

interface CustomerRoute {
  Params: { '*': string };
  Querystring: { done?: unknown };
}

type Request = FastifyRequest<CustomerRoute>;

const callOf = ({ id }: Request): Call => edgeCall('customer-page', id);

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
  { calls }: PageContext,
  request: Request,
  words: Words,
): Promise<string | null> => {
  const { address, id } = partsOf(request.params['*']);
  const done = things.find((thing) => thing === request.query.done) ?? null;
  if (id === null) {
    const page = await calls.readCustomer(callOf(request), { address });
    return page && customerDocument(page, customerPage(page, words, address), done, words);
  }
  const page = await calls.readSubscription(callOf(request), { address, id });
  if (!page?.subscription) return null;
  const shown = subscriptionPage(page.subscription, page.shopName, words, address);
  return customerDocument(page, shown, done, words);
};

/** Adds the routes. An address that is not ours, or has ended, is a page about it, with 404. */
export const showCustomer = (app: FastifyInstance, context: PageContext): void => {
  const { calls } = context;

  app.get<CustomerRoute>('/c/*', async (request, reply) => {
    rememberSwitch(request, reply);
    const words = beginPage(request, reply);
    const document = await documentOf(context, request, words);
    return document ? reply.send(document) : sendMessage(reply, 404, 'unknownPage', words);
  });

  app.post<CustomerRoute>('/c/*', async (request, reply) => {
    const words = beginPage(request, reply);
    const { address, id } = partsOf(request.params['*']);
    const form = formOf(request);
    const thing = things.find((one) => form.has(one));
    const ended =
      thing && isSameOrigin(request, true)
        ? await calls.endOfCustomer[thing](callOf(request), { address, id: form.get(thing) ?? '' })
        : null;
    if (!ended || isRefusal(ended)) return sendMessage(reply, 404, 'unknownPage', words);
    const page = id === null ? address : `${address}/${encodeURIComponent(id)}`;
    return reply.redirect(`/pay/c/${page}?done=${thing}`, 303);
  });
};
