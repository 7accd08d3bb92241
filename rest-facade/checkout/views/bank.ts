/**
 * Test mode: the simulated bank's own page. A plain form, without any script, as some banks still
 * are.
 */
import type { Checkout } from '../call-checkout.ts';
import { formatAmount } from '../format-amount.ts';
import { html, type Html } from '../html.ts';
import type { Assets } from '../serve-assets.ts';
import type { Words } from '../words/words.ts';
import { methodMarks } from './icons.ts';
import { documentView, languageSwitch } from './page.ts';
import { payableMethod } from './pay-form.ts';

const codeField = (words: Words, wrong: boolean): Html =>
  html` <div class="field ${wrong && 'wrong'}">
    <label for="code">${words.bankCodeLabel}</label>
    <input
      id="code"
      name="code"
      class="code"
      type="text"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="6"
      pattern="[0-9]{6}"
      placeholder="123456"
      autofocus
      aria-describedby="code-problem"
      ${wrong && html`aria-invalid="true"`}
    />
    <p class="problem" id="code-problem" role="alert">${wrong && words.bankCodeWrong}</p>
  </div>`;

const paymentFacts = (checkout: Checkout, words: Words): Html =>
  html`<dl class="facts">
    <div class="fact">
      <dt>${words.bankShop}</dt>
      <dd>${checkout.shopName}</dd>
    </div>
    <div class="fact">
      <dt>${words.bankAmount}</dt>
      <dd><b>${formatAmount(checkout.amount, checkout.currency, words.locale)}</b></dd>
    </div>
    <div class="fact">
      <dt>${words.order}</dt>
      <dd>${checkout.orderId}</dd>
    </div>
  </dl>`;

/**
 * The bank's page for a card's holder (a code) or for its app (a button). `wrongCode`: what was
 * entered is no code.
 */
export const bankPage = (
  checkout: Checkout,
  words: Words,
  assets: Assets,
  wrongCode: boolean,
): string => {
  const card = checkout.step === 'three_d_secure';
  const method = payableMethod(checkout.method);
  const { title, text } = card
    ? words.bankCode
    : words.bankApp(method ? words.methods[method].name : words.bankName);
  return documentView({
    words,
    title: words.bankPageTitle,
    assets,
    body: html`<body class="bank">
      <aside class="ribbon">
        <p><b>${words.testMode}</b> — ${words.bankNotice}</p>
      </aside>
      <div class="frame frame-bank">
        <header class="top">
          <p class="bank-name">
            <span class="bank-badge" aria-hidden="true"></span>${words.bankName}
          </p>
          ${languageSwitch(words)}
        </header>
        <main class="sheet sheet-bank">
          <div class="bank-head">
            ${method && methodMarks[method]}
            <div>
              <h1 class="panel-title">${title}</h1>
              <p class="panel-text">${text}</p>
            </div>
          </div>
          ${paymentFacts(checkout, words)}
          <form method="post" novalidate>
            ${card && codeField(words, wrongCode)}
            <button class="primary" type="submit" name="answer" value="approve">
              <span class="primary-words">${words.bankApprove}</span>
            </button>
            <button class="secondary" type="submit" name="answer" value="decline">
              ${words.bankDecline}
            </button>
          </form>
        </main>
      </div>
    </body>`,
  });
};
