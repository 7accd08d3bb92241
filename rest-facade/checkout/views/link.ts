/** The page of a payment link: its description, and the form that continues to a payment. */
import { randomBytes } from 'node:crypto';
import { digitsOf } from '../../../schema/currencies.ts';
import { signsOf } from '../../../schema/money-format.ts';
import type { LinkPage } from '../call-checkout.ts';
import { formatAmount } from '../format-amount.ts';
import { html, type Html, type Piece } from '../html.ts';
import type { Assets } from '../serve-assets.ts';
import type { Words } from '../words/words.ts';
import { lock, seals } from './icons.ts';
import { documentView, languageSwitch } from './page.ts';
import { descriptionView, shopView, sizeOf } from './summary.ts';

interface Bounds {
  readonly least: string;
  readonly most: string;
}

const boundsOf = ({ amountMin, amountMax, currency }: LinkPage, { locale }: Words): Bounds => ({
  least: formatAmount(amountMin ?? 0, currency, locale),
  most: formatAmount(amountMax ?? 0, currency, locale),
});

/** The mistake in the buyer's input: the typed amount, or the request to continue. */
export interface LinkMistake {
  readonly typed: string;
  readonly problem: string;
}

/** The message about an invalid amount, or one out of the link's bounds. */
export const amountMistake = (link: LinkPage, words: Words): string => {
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
const form = (link: LinkPage, words: Words, mistake: LinkMistake | null): Html =>
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

const frame = (
  kind: 'checkout' | 'message',
  link: LinkPage,
  words: Words,
  assets: Assets,
  main: Piece,
): string =>
  documentView({
    words,
    title:
      link.amount === null
        ? link.shopName
        : words.pageTitle(formatAmount(link.amount, link.currency, words.locale), link.shopName),
    assets,
    head:
      link.amount === null &&
      link.isOpen &&
      html`<script type="module" src="${assets.address('link.js')}"></script>`,
    body: html`<body class="${kind}">
      ${
        link.mode === 'test' &&
        html`<aside class="ribbon">
          <p><b>${words.testMode}</b> — ${words.testModeText}</p>
        </aside>`
      }
      <div class="frame">
        <header class="top">
          <p class="secure">${lock}${words.secure}</p>
          ${languageSwitch(words)}
        </header>
        ${main}
      </div>
    </body>`,
  });

/** The page of a link that may be paid. */
export const linkPage = (
  link: LinkPage,
  words: Words,
  assets: Assets,
  mistake: LinkMistake | null = null,
): string =>
  frame(
    'checkout',
    link,
    words,
    assets,
    html`<main class="sheet">
      <section class="summary" aria-label="${words.summaryLabel}">${summary(link, words)}</section>
      <div class="work"><div class="panel">${form(link, words, mistake)}</div></div>
    </main>`,
  );

/** The page of a link that has ended. */
export const endedLinkPage = (link: LinkPage, words: Words, assets: Assets): string => {
  const { ended } = words.link;
  const { title, text } = ended[link.status === 'active' ? 'expired' : link.status];
  return frame(
    'message',
    link,
    words,
    assets,
    html`<main class="sheet sheet-message">
      <div class="outcome">
        ${link.status === 'paid' ? seals.none : seals.lost}
        <h1 class="panel-title">${title}</h1>
        <p class="panel-text">${text}</p>
      </div>
    </main>`,
  );
};
