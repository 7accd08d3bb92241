/**
 * The document of a page, and the regions of the hosted page that page.js replaces when they
 * change.
 */
import type { Checkout } from '../call-checkout.ts';
import { formatAmount } from '../format-amount.ts';
import { html, markupText, type Html, type Piece } from '../html.ts';
import type { Assets } from '../serve-assets.ts';
import { languages, type Words } from '../words/words.ts';
import { wordsOf } from '../words/words-of.ts';
import { lock } from './icons.ts';
import { outcomeView } from './outcome.ts';
import { asksCardAgain, payForm } from './pay-form.ts';
import { ribbonView } from './ribbon.ts';
import { stepView } from './step.ts';
import { summaryView } from './summary.ts';

interface Document {
  readonly words: Words;
  readonly title: string;
  readonly assets: Assets;
  readonly body: Html;
  readonly head?: Piece;
}

/** A document with the page's style. */
export const documentView = ({ words, title, assets, body, head }: Document): string =>
  markupText(
    html`<!doctype html>
      <html lang="${words.language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
          <meta name="robots" content="noindex, nofollow" />
          <meta name="color-scheme" content="light dark" />
          <meta name="format-detection" content="telephone=no" />
          <title>${title}</title>
          <link
            rel="preload"
            href="${assets.address('onest-latin.woff2')}"
            as="font"
            type="font/woff2"
            crossorigin
          />
          ${words.language === 'ru' && html`<link rel="preload" href="${assets.address('onest-cyrillic.woff2')}" as="font" type="font/woff2" crossorigin />`}
          <link rel="stylesheet" href="${assets.address('page.css')}" />
          <link rel="icon" href="${assets.address('icon.svg')}" type="image/svg+xml" />
          ${head}
        </head>
        ${body}
      </html>`,
  );

/** The switch of languages; a plain link, so that it works without page.js as well. */
export const languageSwitch = (words: Words): Html =>
  html`<nav class="languages" aria-label="${words.languageChoice}">
    ${languages.map((language) => {
      const { languageName } = wordsOf(language);
      return language === words.language
        ? html`<span aria-current="true" lang="${language}">${languageName}</span>`
        : html`<a
            href="?lang=${language}"
            hreflang="${language}"
            lang="${language}"
            data-language="${language}"
            >${languageName}</a
          >`;
    })}
  </nav>`;

const panelView = (checkout: Checkout, words: Words): Html => {
  switch (checkout.status) {
    case 'pending':
      return payForm(checkout, words);
    case 'processing':
      return asksCardAgain(checkout) ? payForm(checkout, words) : stepView(checkout, words);
    case 'authorized':
    case 'succeeded':
    case 'failed':
    case 'expired':
    case 'cancelled':
    case 'refunded':
      return outcomeView(checkout, checkout.status, words);
  }
};

/** The parts of the page that follow the payment. */
export interface Regions {
  readonly ribbon: Html;
  readonly summary: Html;
  readonly panel: Html;
}

export const regionViews = (checkout: Checkout, words: Words): Regions => ({
  ribbon: html`${ribbonView(checkout, words)}`,
  summary: summaryView(checkout, words),
  panel: panelView(checkout, words),
});

/** The title of the document: the payment and the shop. */
export const pageTitle = (checkout: Checkout, words: Words): string =>
  words.pageTitle(
    formatAmount(checkout.amount, checkout.currency, words.locale),
    checkout.shopName,
  );

const modules = (assets: Assets, names: readonly string[]): Html =>
  html`${names.map((name) => html`<link rel="modulepreload" href="${assets.address(name)}" />`)}
    <script type="module" src="${assets.address('page.js')}"></script>`;

const footer = (checkout: Checkout, words: Words): string => {
  if (checkout.saves && checkout.method === 'cards') return words.footerSaving;
  return checkout.methods.includes('cards') || checkout.method === 'cards'
    ? words.footerCard
    : words.footer;
};

/** What is shown while the page's script is away, while there is something left to do. */
const withoutScript = ({ status }: Checkout, words: Words): Piece =>
  (status === 'pending' || status === 'processing') &&
  html`<noscript><p class="notice">${words.noScript}</p></noscript>
    <p class="notice calm asleep">
      <b>${words.asleep.title}</b> ${words.asleep.text}
      <a href="?lang=${words.language}">${words.reload}</a>.
    </p>`;

const bodyView = (checkout: Checkout, words: Words, { tag, regions }: PageParts): Html => {
  const { ribbon, summary, panel } = regions;
  const { now, clockStands, status } = checkout;
  const { refusals, refused, browser } = words;
  return html`<body
    class="checkout"
    data-now="${now}"
    data-stands="${String(clockStands)}"
    data-tag="${tag}"
    data-status="${status}"
    data-words="${JSON.stringify({ ...browser, refusals, refused })}"
  >
    <div id="ribbon">${ribbon}</div>
    <div class="frame">
      <header class="top" id="top">
        <p class="secure">${lock}${words.secure}</p>
        ${languageSwitch(words)}
      </header>
      <main class="sheet">
        <section class="summary" id="summary" aria-label="${words.summaryLabel}">
          ${summary}
        </section>
        <div class="work">
          <div id="asleep">${withoutScript(checkout, words)}</div>
          <p class="notice" id="notice" role="alert" hidden></p>
          <div class="panel" id="panel">${panel}</div>
        </div>
      </main>
      <footer class="foot" id="foot">${footer(checkout, words)}</footer>
    </div>
    <p class="unseen" id="live" role="status"></p>
  </body>`;
};

export interface PageParts {
  readonly title: string;
  readonly regions: Regions;
  /** The digest of what is shown. */
  readonly tag: string;
  readonly assets: Assets;
  readonly moduleNames: readonly string[];
}

/** The hosted page of a payment. */
export const checkoutPage = (checkout: Checkout, words: Words, parts: PageParts): string =>
  documentView({
    words,
    title: parts.title,
    assets: parts.assets,
    head: modules(parts.assets, parts.moduleNames),
    body: bodyView(checkout, words, parts),
  });
