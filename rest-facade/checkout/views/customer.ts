/** The page of a customer: what the shop may charge, and the removal of a saved method. */
import type { CustomerFrame, CustomerPage, CustomerThing } from '../call-checkout.ts';
import { formatDay, formatTime } from '../language.ts';
import { html, linkable, type Html, type Piece } from '../html.ts';
import type { Assets } from '../serve-assets.ts';
import type { Words } from '../words/en.ts';
import { arrow, lock, methodMarks } from './icons.ts';
import { framedView } from './page.ts';
import { priceOf } from './subscription.ts';
import { cardText, sellerView, shopView, sizeOf } from './summary.ts';

type Token = CustomerPage['tokens'][number];
type Subscription = CustomerPage['subscriptions'][number];
type Method = Pick<Token, 'method' | 'cardBrand' | 'cardMask'>;

/** A saved method: the card's brand and last digits, else the method's name. */
export const methodText = (method: Method, words: Words): string =>
  cardText(method, words) ?? words.methods[method.method].name;

/** A confirmation before anything ends: a `details` element, which needs no script. */
export const endForm = (
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
export const nameOf = ({ planName }: Pick<Subscription, 'planName'>, words: Words): string =>
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
  const day = formatDay(nextChargeAt, words);
  return trialDays > 0 && lastChargeAt === null
    ? words.customer.freeUntil(day)
    : html`${words.subscription.nextCharge}: ${day}`;
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

const list = (title: string, none: string, things: readonly Html[]): Html =>
  html`<section class="things">
    <h2 class="things-title">${title}</h2>
    ${
      things.length > 0
        ? html`<ul>
            ${things}
          </ul>`
        : html`<p class="panel-text">${none}</p>`
    }
  </section>`;

const wayBack = ({ returnUrl }: CustomerFrame, words: Words): Piece => {
  const address = linkable(returnUrl);
  return (
    address &&
    html`<a class="primary" id="return" href="${address}"
      ><span class="primary-words">${words.backToShop}${arrow}</span></a
    >`
  );
};

/** What was just ended, in words; nothing when nothing was. */
const doneView = (done: CustomerThing | null, words: Words): Piece =>
  done && html`<p class="notice good" role="status">${words.customer[done].done}</p>`;

interface Shown {
  readonly title: string;
  readonly text: string;
  readonly panel: Piece;
  readonly done: CustomerThing | null;
}

/** The document of a customer's pages: the shop, a heading, what the page is about, the seller. */
export const customerDocument = (
  frame: CustomerFrame,
  { title, text, panel, done }: Shown,
  words: Words,
  assets: Assets,
): string =>
  framedView({
    words,
    title: `${title} — ${frame.shopName}`,
    assets,
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

/** The page at an address; `done`: what was just ended on it. */
export const customerPage = (
  page: CustomerPage,
  words: Words,
  assets: Assets,
  { address, done }: { readonly address: string; readonly done: CustomerThing | null },
): string => {
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
  const shown = { title, text: text(page.shopName), panel, done };
  return customerDocument(page, shown, words, assets);
};
