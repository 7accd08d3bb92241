/** A pending payment: the buyer picks a method when it is `any`, and pays. */
import { grouped } from '../browser/card-rules.js';
import type { Checkout } from '../call-checkout.ts';
import { html, type Html, type Piece, linkable } from '../html.ts';
import type { Words } from '../words/en.ts';
import { payableMethods, type PayableMethod, type Message, type Language } from '../words/words.ts';
import { methodMarks, spinner, brandMarks, cardBrands, type CardBrand } from './icons.ts';
import { consentView, payWords } from './subscription.ts';

/*
 * A way back to the shop for a buyer who cannot pay as the page offers, while nothing is decided.
 */

/** A link to the shop's site; nothing when its address is unknown. */
const shopLink = ({ shopSite }: Checkout, words: Words): Piece => {
  const address = linkable(shopSite);
  return address && html`<p><a href="${address}">${words.toSite(new URL(address).host)}</a></p>`;
};

/**
 * What a buyer who is stuck can do. A fixed method cannot be changed, so another method needs
 * another payment; and a buyer who has confirmed must not pay twice.
 */
export const wayOnView = (checkout: Checkout, words: Words): Html => {
  const { title, text } =
    words.stuck[
      checkout.status === 'pending' ? 'fixed' : checkout.step === 'wait' ? 'waiting' : 'atBank'
    ];
  return html`<details class="way-on" id="way-on">
    <summary>${title}</summary>
    <p>${text}</p>
    ${shopLink(checkout, words)}
  </details>`;
};

/*
 * The fields of a card. Browsers fill them by their `autocomplete`; browser/card-form.js checks
 * them.
 */

/** Numbers that the simulator takes; each passes the check digit. */
export const testCards: readonly { readonly brand: CardBrand; readonly number: string }[] = [
  { brand: 'mir', number: '2200000000000004' },
  { brand: 'visa', number: '4111111111111111' },
  { brand: 'mastercard', number: '5555555555554444' },
  { brand: 'unionpay', number: '6200000000000005' },
];

interface Field {
  readonly name: string;
  readonly label: string;
  readonly autocomplete: string;
  readonly placeholder: string;
  readonly numeric: boolean;
  readonly longest: number;
  readonly hint?: string;
  /** Message beside the label: the field may stay empty. */
  readonly optional?: string | false;
  /** The last field: the keyboard's key pays instead of going on. */
  readonly last?: boolean;
}

const field = (of: Field, beside: Piece = null): Html =>
  html` <div class="field" data-field="${of.name}">
    <label for="card-${of.name}"
      >${of.label}${of.optional && html` <span class="optional">(${of.optional})</span>`}</label
    >
    <div class="box">
      <input
        id="card-${of.name}"
        name="${of.name}"
        type="text"
        autocomplete="${of.autocomplete}"
        inputmode="${of.numeric ? 'numeric' : 'text'}"
        placeholder="${of.placeholder}"
        maxlength="${of.longest}"
        enterkeyhint="${of.last ? 'go' : 'next'}"
        ${!of.optional && html`required`}
        spellcheck="false"
        autocorrect="off"
        autocapitalize="characters"
        aria-describedby="card-${of.name}-problem"
        title="${of.hint ?? of.label}"
      />
      ${beside}
    </div>
    <p class="problem" id="card-${of.name}-problem" aria-live="polite"></p>
  </div>`;

const brands = cardBrands.map(
  (brand) => html`<span data-brand="${brand}">${brandMarks[brand]}</span>`,
);

const testCardList = (words: Words): Html =>
  html` <details class="test-cards" id="test-cards">
    <summary>${words.testCards}</summary>
    <p>${words.testCardsHint}</p>
    <ul>
      ${testCards.map(
        ({ brand, number }) =>
          html`<li>
            <button
              type="button"
              class="test-card"
              data-fill="${number}"
              aria-label="${words.fillIn(words.brands[brand], grouped(number))}"
            >
              ${brandMarks[brand]}<code>${grouped(number)}</code>
            </button>
          </li>`,
      )}
    </ul>
  </details>`;

/** The card's fields, and in test mode cards to try. */
const cardFields = (
  words: Words,
  { asksHolder, test }: { readonly asksHolder: boolean; readonly test: boolean },
): Html =>
  html` <div class="card-fields">
    ${field(
      {
        name: 'number',
        label: words.cardNumber,
        autocomplete: 'cc-number',
        placeholder: '0000 0000 0000 0000',
        numeric: true,
        longest: 23,
      },
      html`<span class="brands" aria-hidden="true">${brands}</span>`,
    )}
    <div class="pair">
      ${field({ name: 'expiry', label: words.cardExpiry, autocomplete: 'cc-exp', placeholder: words.cardExpiryExample, numeric: true, longest: 9 })}
      ${field({ name: 'cvc', label: words.cardCvc, autocomplete: 'cc-csc', placeholder: '•••', numeric: true, longest: 3, hint: words.cardCvcHint })}
    </div>
    ${field({
      name: 'holder',
      label: words.cardHolder,
      autocomplete: 'cc-name',
      placeholder: words.cardHolderExample,
      numeric: false,
      longest: 64,
      optional: !asksHolder && words.optional,
      last: true,
    })}
    ${test && testCardList(words)}
  </div>`;

/** The method when a buyer can pay by it; null for `any` and `recurrent`. */
export const payableMethod = (method: string): PayableMethod | null =>
  payableMethods.find((candidate) => candidate === method) ?? null;

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
    <button class="primary" type="submit">
      <span class="primary-words">${payWords(checkout, words)}</span>
      <span class="primary-busy">${spinner}${words.paying}</span>
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
 * The form of a pending payment, or of one whose card was lost on its way. Without page.js the
 * browser posts it to the page's own address (forms.ts).
 */
export const payForm = (checkout: Checkout, words: Words): Html => {
  const fixed = payableMethod(checkout.method);
  const methods = checkout.methods.map(payableMethod).filter((method) => method !== null);
  if (checkout.method === 'recurrent') return nothingToDo(words.noBuyer, null);
  if (methods.length === 0) return nothingToDo(words.noMethods, shopLink(checkout, words));
  const button = payButton(checkout, words);
  return html`<form id="pay" class="pay-form" method="post" novalidate>
      ${fixed ? single(fixed, words, checkout, button) : html`${picker(methods, words, checkout)} ${button}`}
    </form>
    ${fixed && wayOnView(checkout, words)}`;
};

// SBP on a phone: the apps of the banks that most buyers have. page.js puts the one first that this
// device paid with last.

interface LikelyBank {
  /** The id of the bank's member of SBP. */
  readonly id: string;
  readonly name: Readonly<Record<Language, string>>;
}

/** The most frequent first. */
export const likelyBanks: readonly LikelyBank[] = [
  { id: '100000000111', name: { ru: 'Сбербанк', en: 'Sberbank' } },
  { id: '100000000004', name: { ru: 'Т-Банк', en: 'T-Bank' } },
  { id: '110000000005', name: { ru: 'ВТБ', en: 'VTB' } },
  { id: '100000000008', name: { ru: 'Альфа-Банк', en: 'Alfa-Bank' } },
  { id: '100000000001', name: { ru: 'Газпромбанк', en: 'Gazprombank' } },
  { id: '100000000273', name: { ru: 'Озон Банк', en: 'Ozon Bank' } },
];

/** The hosts of SBP's links: of payments and of bindings. */
const sbpHosts = new Set(['qr.nspk.ru', 'sub.nspk.ru']);

/**
 * A link of SBP that opens in the app of one bank. The simulated bank is the same for all; null for
 * any other address, which chooses the app by itself.
 */
export const appLink = (address: string, bankId: string, test: boolean): string | null => {
  const url = URL.parse(address);
  if (url?.protocol === 'https:' && sbpHosts.has(url.host))
    return `bank${bankId}:${url.href.slice(url.protocol.length)}`;
  return test ? address : null;
};

/** The apps for a link of SBP, the most likely first; empty for an address that is none. */
export const bankLinks = (address: string, test: boolean, words: Words): readonly Html[] =>
  likelyBanks.flatMap(({ id, name }) => {
    const link = appLink(address, id, test);
    return link === null
      ? []
      : html`<li>
          <a class="secondary" href="${link}" data-bank="${id}">${name[words.language]}</a>
        </li>`;
  });
