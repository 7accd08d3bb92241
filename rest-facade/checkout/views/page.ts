/**
 * The document of a page, and the regions of the hosted page that page.js replaces when they
 * change.
 */
import type { Checkout } from '../call-checkout.ts';
import { html, markupText, type Html, type Piece, linkable } from '../html.ts';
import { assetAddress, moduleNames } from '../serve-assets.ts';
import type { Words } from '../words/en.ts';
import { languages, type Message } from '../words/words.ts';
import { wordsOf, failureWords } from '../language.ts';
import { lock, arrow, methodMarks, onwards, spinner, printer, seals, drawQr } from './icons.ts';
import { asksCardAgain, payForm, payableMethod, wayOnView, bankLinks } from './pay-form.ts';
import { summaryView, sellerView, receiptView } from './summary.ts';
import { savingWords, headline } from './subscription.ts';

/*
 * A payment with which the buyer is done: how it ended, or that the money is held, why, and the way
 * back to the shop.
 */

/**
 * How long the success screen is shown; other outcomes return at once
 * (docs/contract.md#buyer-return).
 */
const successShown_ms = 2_000;

type FinalStatus = Exclude<Checkout['status'], 'pending' | 'processing'>;

/** Whether money came, so that the page is a receipt. */
const isReceipt = ({ status, paidAt }: Checkout): boolean =>
  paidAt !== null || status === 'succeeded' || status === 'refunded';

/**
 * Whether the payment ended before anyone paid. The page then has nothing to show and returns every
 * visitor; otherwise only the browser session that paid.
 */
const endedUntried = ({ status, failureCode, paidAt }: Checkout): boolean =>
  paidAt === null &&
  (status === 'cancelled' || (status === 'expired' && failureCode === 'link_expired'));

/** When and for whom the page returns automatically, in milliseconds; null: it stays. */
const leaving = (checkout: Checkout): Piece => {
  if (checkout.status === 'failed' && checkout.onDecline === 'stay') return null;
  const after_ms =
    checkout.status === 'succeeded' || checkout.status === 'authorized' ? successShown_ms : 0;
  const whom = endedUntried(checkout) ? 'anybody' : 'payer';
  return html`data-return-after="${after_ms}" data-return-for="${whom}"`;
};

const wayBack = (checkout: Checkout, words: Words): Html => {
  const address = linkable(checkout.returnTo);
  const receipt = isReceipt(checkout);
  if (!address)
    return html`<p class="panel-fine">${receipt ? words.keepPage : words.closePage}</p>`;
  return html`${onwards('return', address, words.backToShop, leaving(checkout))}
    <p class="panel-fine" id="returning" hidden>${words.returning}</p>`;
};

const printButton = (words: Words): Html =>
  html`<button type="button" class="print" data-print>${printer}${words.print}</button>`;

interface Ending {
  readonly seal: Html;
  readonly title: string;
  readonly texts: readonly Piece[];
}

/** Money that came after the payment had ended: why, and that it goes back. */
const lateEnding = (status: FinalStatus, words: Words): Ending => {
  const { title, text, because } = words.late;
  const why = status === 'cancelled' || status === 'expired' ? because[status] : because.failed;
  return { seal: seals.back, title, texts: [why, text] };
};

const endingOf = (checkout: Checkout, status: FinalStatus, words: Words): Ending => {
  if (checkout.paidLate) return lateEnding(status, words);
  const why = failureWords(words, checkout.failureCode ?? '');
  const saving = savingWords(checkout, words);
  switch (status) {
    case 'authorized':
      return { seal: seals.good, title: words.held.title, texts: [words.held.text] };
    case 'succeeded': {
      const { title, text } = saving?.saved ?? words.succeeded;
      return { seal: seals.good, title, texts: [text] };
    }
    case 'failed': {
      const { reason, advice } = why ?? words.failures.unknown_bank_code;
      return {
        seal: seals.bad,
        title: saving?.notSaved ?? words.failed,
        texts: [`${reason}. ${words.notCharged}`, advice],
      };
    }
    case 'expired': {
      const { reason, advice } = why ?? words.failures.link_expired;
      return { seal: seals.late, title: words.expired, texts: [`${reason}.`, advice] };
    }
    case 'cancelled':
      return { seal: seals.none, title: words.cancelled.title, texts: [words.cancelled.text] };
    case 'refunded':
      return { seal: seals.back, title: words.refunded.title, texts: [words.refunded.text] };
  }
};

/** What a payment in a final status shows. */
export const outcomeView = (checkout: Checkout, status: FinalStatus, words: Words): Html => {
  const { seal, title, texts } = endingOf(checkout, status, words);
  const code = checkout.failureCode;
  return html` <div class="outcome">
    ${seal}
    <h2 class="panel-title" tabindex="-1">${title}</h2>
    ${texts.map((text) => text && html`<p class="panel-text">${text}</p>`)}
    ${receiptView(checkout, words)} ${wayBack(checkout, words)}
    ${isReceipt(checkout) && printButton(words)}
    ${code && !checkout.paidLate && html`<p class="panel-code">${words.failureCode}: <code>${code}</code></p>`}
  </div>`;
};

/*
 * A payment that is at the bank: what the buyer does there, or that there is nothing to do but
 * wait.
 */

const messageView = ({ title, text }: Message): Html =>
  html` <h2 class="panel-title" tabindex="-1">${title}</h2>
    <p class="panel-text">${text}</p>`;

const waiting = (words: Words): Html =>
  html`<p class="waiting">${spinner}${words.waitingForBank}</p>`;

const qr = (checkout: Checkout, words: Words): Html => {
  const address = linkable(checkout.stepUrl);
  const banks = address === null ? [] : bankLinks(address, checkout.mode === 'test', words);
  return html`<div class="step step-qr">
    <h2 class="panel-title" tabindex="-1">${words.qr.title}</h2>
    ${
      address &&
      html`<p class="panel-text on-phone">${banks.length > 0 ? words.qrBanks : words.qrPhone}</p>
        <ul class="banks on-phone">
          ${banks}
        </ul>
        <a class="primary on-phone" id="onwards" href="${address}"
          ><span class="primary-words"
            >${banks.length > 0 ? words.qrOther : words.qrOpen}${arrow}</span
          ></a
        >`
    }
    <p class="panel-text ${address && 'on-desk'}">${words.qr.text}</p>
    <div class="qr-tile">${checkout.stepUrl && drawQr(checkout.stepUrl, words.qrLabel)}</div>
    ${address && html`<a class="link on-desk" href="${address}">${words.qrHere}</a>`}
    ${waiting(words)} ${wayOnView(checkout, words)}
  </div>`;
};

/** The buyer continues on another page. */
const elsewhere = (checkout: Checkout, words: Words, message: Message, go: string): Html => {
  const method = payableMethod(checkout.method);
  const address = linkable(checkout.stepUrl);
  return html`<div class="step">
    ${method && html`<div class="step-mark">${methodMarks[method]}</div>`} ${messageView(message)}
    ${address && onwards('onwards', address, go)} ${waiting(words)} ${wayOnView(checkout, words)}
  </div>`;
};

/** What a payment in `processing` shows. */
const stepView = (checkout: Checkout, words: Words): Html => {
  const method = payableMethod(checkout.method);
  const name = method ? words.methods[method].name : '';
  switch (checkout.step) {
    case 'qr':
      return qr(checkout, words);
    case 'redirect':
      return elsewhere(checkout, words, words.redirect(name), words.redirectGo(name));
    case 'three_d_secure':
      return elsewhere(checkout, words, words.threeDSecure, words.threeDSecureGo);
    case 'wait':
    case null:
      return html`<div class="step step-wait">
        <div class="big-spinner">${spinner}</div>
        ${messageView(words.wait)} ${wayOnView(checkout, words)}
      </div>`;
  }
};

/* Test mode, stated plainly: no money moves, and what the simulator will answer. */

/** Expiry is not an answer of the bank, so these are not planned. */
const unplannable = ['session_expired', 'link_expired', 'capture_expired'];

const option = (value: string, text: string, planned: string): Html =>
  html`<option value="${value}" ${value === planned && html`selected`}>${text}</option>`;

const plannedValue = (checkout: Checkout): string =>
  checkout.plannedOutcome === 'failed'
    ? `failed:${checkout.plannedFailureCode ?? 'do_not_honor'}`
    : (checkout.plannedOutcome ?? 'succeeded');

const planSelect = (checkout: Checkout, words: Words): Html => {
  const planned = plannedValue(checkout);
  const codes = Object.entries(words.failures).filter(([code]) => !unplannable.includes(code));
  return html`<label class="plan"
    ><span>${words.plan}</span>
    <select id="plan" aria-label="${words.planSelect}" disabled data-wakes>
      ${(['succeeded', 'requires_action', 'pending'] as const).map((outcome) => option(outcome, words.outcomes[outcome], planned))}
      <optgroup label="${words.planFails}">
        ${codes.map(([code, { reason }]) => option(`failed:${code}`, `${reason} · ${code}`, planned))}
      </optgroup>
    </select></label
  >`;
};

const planText = (checkout: Checkout, words: Words): Html | null => {
  if (!checkout.plannedOutcome) return null;
  const why =
    checkout.plannedOutcome === 'failed'
      ? failureWords(words, checkout.plannedFailureCode ?? '')
      : null;
  return html`<span class="planned"
    >${words.plan}:
    <b>${words.outcomes[checkout.plannedOutcome]}${why && ` — ${why.reason}`}</b></span
  >`;
};

/** The ribbon of a test payment; null in live mode. */
const ribbonView = (checkout: Checkout, words: Words): Html | null =>
  checkout.mode === 'test'
    ? html`<aside class="ribbon" aria-label="${words.testMode}">
        <p><b>${words.testMode}</b><span class="ribbon-text"> — ${words.testModeText}</span></p>
        ${checkout.status === 'pending' ? planSelect(checkout, words) : planText(checkout, words)}
      </aside>`
    : null;

interface Document {
  readonly words: Words;
  readonly title: string;
  readonly body: Html;
  readonly head?: Piece;
}

/** A document with the page's style. */
const documentView = ({ words, title, body, head }: Document): string =>
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
            href="${assetAddress('onest-latin.woff2')}"
            as="font"
            type="font/woff2"
            crossorigin
          />
          ${words.language === 'ru' && html`<link rel="preload" href="${assetAddress('onest-cyrillic.woff2')}" as="font" type="font/woff2" crossorigin />`}
          <link rel="stylesheet" href="${assetAddress('page.css')}" />
          <link rel="icon" href="${assetAddress('icon.svg')}" type="image/svg+xml" />
          ${head}
        </head>
        ${body}
      </html>`,
  );

/** The switch of languages; a plain link, so that it works without page.js as well. */
const languageSwitch = (words: Words): Html =>
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

interface Framed extends Omit<Document, 'body'> {
  readonly kind: string;
  /** What the ribbon of test mode says; without one there is no ribbon. */
  readonly test?: string | null;
  /** What the head says beside the languages. */
  readonly top?: Piece;
  readonly main: Html;
  readonly foot?: Piece;
}

/** A page that follows nothing: what is drawn here stays. */
export const framedView = ({ kind, test, top, main, foot, ...document }: Framed): string => {
  const { words } = document;
  return documentView({
    ...document,
    body: html`<body class="${kind}">
      ${
        test &&
        html`<aside class="ribbon">
          <p><b>${words.testMode}</b> — ${test}</p>
        </aside>`
      }
      <div class="frame">
        <header class="top">${top} ${languageSwitch(words)}</header>
        ${main} ${foot && html`<footer class="foot">${foot}</footer>`}
      </div>
    </body>`,
  });
};

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
export const regionViews = (checkout: Checkout, words: Words) => ({
  ribbon: html`${ribbonView(checkout, words)}`,
  summary: summaryView(checkout, words),
  panel: panelView(checkout, words),
});

/** The title of the document: the payment and the shop. */
export const pageTitle = (checkout: Checkout, words: Words): string =>
  words.pageTitle(headline(checkout, words), checkout.shopName);

const modules = (): Html =>
  html`${moduleNames.map((name) => html`<link rel="modulepreload" href="${assetAddress(name)}" />`)}
    <script type="module" src="${assetAddress('page.js')}"></script>`;

/** Without a script, a page that waits for the bank is loaded again. */
const reloads = (checkout: Checkout): Piece =>
  checkout.status === 'processing' &&
  !asksCardAgain(checkout) &&
  html`<noscript><meta http-equiv="refresh" content="5;url=?" /></noscript>`;

const footer = (checkout: Checkout, words: Words): string => {
  if (checkout.saves && checkout.method === 'cards') return words.footerSaving;
  return checkout.methods.includes('cards') || checkout.method === 'cards'
    ? words.footerCard
    : words.footer;
};

/** What is shown while the page's script is away and the bank is at work. */
const withoutScript = ({ status }: Checkout, words: Words): Piece =>
  status === 'processing' &&
  html`<noscript><p class="notice calm">${words.noScript}</p></noscript>
    <p class="notice calm asleep">
      <b>${words.asleep.title}</b> ${words.asleep.text}
      <a href="?lang=${words.language}">${words.reload}</a>.
    </p>`;

const bodyView = (checkout: Checkout, words: Words, { tag, regions, problem }: PageDeps): Html => {
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
          <p class="notice" id="notice" role="alert" ${problem === null && html`hidden`}>
            ${problem}
          </p>
          <div class="panel" id="panel">${panel}</div>
        </div>
      </main>
      <footer class="foot" id="foot">
        <p>${footer(checkout, words)}</p>
        ${sellerView(checkout.seller, words)}
      </footer>
    </div>
    <p class="unseen" id="live" role="status"></p>
  </body>`;
};

export interface PageDeps {
  readonly title: string;
  readonly regions: ReturnType<typeof regionViews>;
  /** The digest of what is shown. */
  readonly tag: string;
  /** Why the plain form was not taken; null: nothing is wrong. */
  readonly problem: string | null;
}

/** The hosted page of a payment. */
export const checkoutPage = (checkout: Checkout, words: Words, deps: PageDeps): string =>
  documentView({
    words,
    title: deps.title,
    head: html`${reloads(checkout)} ${modules()}`,
    body: bodyView(checkout, words, deps),
  });
