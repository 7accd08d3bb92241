/** A pending payment: the buyer picks a method when it is `any`, and pays. */
import type { Checkout } from '../call-checkout.ts';
import { html, type Html, type Piece } from '../html.ts';
import type { PayableMethod, Message, Words } from '../words/words.ts';
import { cardFields } from './card-form.ts';
import { methodMarks, spinner } from './icons.ts';
import { consentView, payWords } from './saving.ts';
import { shopLink, wayOnView } from './way-on.ts';

const payable = ['sbp', 'cards', 'tpay', 'sberpay'] as const satisfies readonly PayableMethod[];

/** The method when a buyer can pay by it; null for `any` and `recurrent`. */
export const payableMethod = (method: string): PayableMethod | null =>
  payable.find((candidate) => candidate === method) ?? null;

/**
 * Whether the card that was typed was lost on its way: the bank has no order, and the buyer types
 * it again.
 */
export const asksCardAgain = ({ status, step, method, asksCard }: Checkout): boolean =>
  status === 'processing' && step === null && method === 'cards' && asksCard;

const beforePaying = (method: PayableMethod, checkout: Checkout, words: Words): string => {
  if (asksCardAgain(checkout)) return words.cardAgain;
  return method === 'cards' && !checkout.asksCard ? words.cardAtBank : words.beforePaying[method];
};

/** The card's fields where the buyer types a card here, and not on the bank's page. */
const fieldsOf = (
  method: PayableMethod,
  { asksCard, asksHolder, mode }: Checkout,
  words: Words,
): Html | false =>
  method === 'cards' && asksCard && cardFields(words, { asksHolder, test: mode === 'test' });

const choice = (method: PayableMethod, chosen: boolean, words: Words, checkout: Checkout): Html =>
  html` <div class="method">
    <input
      type="radio"
      name="method"
      id="method-${method}"
      value="${method}"
      ${chosen && html`checked`}
    />
    <label for="method-${method}">
      ${methodMarks[method]}
      <span class="method-words"
        ><span class="method-name">${words.methods[method].name}</span
        ><span class="method-hint">${words.methods[method].hint}</span></span
      >
      <span class="dot" aria-hidden="true"></span>
    </label>
    ${fieldsOf(method, checkout, words)}
  </div>`;

const picker = (methods: readonly PayableMethod[], words: Words, checkout: Checkout): Html =>
  html` <h2 class="panel-title" tabindex="-1" id="methods-title">${words.chooseMethod}</h2>
    <fieldset class="methods" aria-labelledby="methods-title">
      ${methods.map((method, index) => choice(method, index === 0, words, checkout))}
    </fieldset>`;

const payButton = (checkout: Checkout, words: Words): Html =>
  html` ${consentView(checkout, words)}
    <button class="primary" type="submit" disabled data-wakes>
      <span class="primary-words">${payWords(checkout, words)}</span>
      <span class="primary-busy">${spinner}${words.paying}</span>
      <span class="primary-asleep">${words.asleepButton}</span>
    </button>`;

/** A method that is fixed already: the card's form, or one button on the way to the bank. */
const single = (method: PayableMethod, words: Words, checkout: Checkout, button: Html): Html => {
  const fields = fieldsOf(method, checkout, words);
  const title = html`<h2 class="panel-title" tabindex="-1">${words.methods[method].name}</h2>`;
  const text = beforePaying(method, checkout, words);
  const fixed = html`<input type="hidden" name="fixed-method" value="${method}" />`;
  return fields
    ? html`${fixed}
        <div class="card-head">
          ${methodMarks[method]}
          <div>
            ${title}
            <p class="before-paying">${text}</p>
          </div>
        </div>
        ${fields} ${button}`
    : html`${fixed}
        <div class="step">
          <div class="step-mark">${methodMarks[method]}</div>
          ${title}
          <p class="panel-text">${text}</p>
          ${button}
        </div>`;
};

const nothingToDo = ({ title, text }: Message, onwards: Piece): Html =>
  html`<div class="step">
    <h2 class="panel-title" tabindex="-1">${title}</h2>
    <p class="panel-text">${text}</p>
    ${onwards}
  </div>`;

/**
 * The form of a pending payment, or of one whose card was lost on its way. Its button is disabled
 * without page.js: a card must never be sent by a plain form.
 */
export const payForm = (checkout: Checkout, words: Words): Html => {
  const fixed = payableMethod(checkout.method);
  const methods = checkout.methods.map(payableMethod).filter((method) => method !== null);
  if (checkout.method === 'recurrent') return nothingToDo(words.noBuyer, null);
  if (methods.length === 0) return nothingToDo(words.noMethods, shopLink(checkout, words));
  const button = payButton(checkout, words);
  return html`<form id="pay" class="pay-form" novalidate>
      ${fixed ? single(fixed, words, checkout, button) : html`${picker(methods, words, checkout)} ${button}`}
    </form>
    ${fixed && wayOnView(checkout, words)}`;
};
