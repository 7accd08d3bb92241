/**
 * The fields of a card. Browsers fill them by their `autocomplete`; browser/card-form.js checks
 * them.
 */
import { html, type Html, type Piece } from '../html.ts';
import type { Words } from '../words/words.ts';
import { brandMarks, cardBrands, type CardBrand } from './icons.ts';

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

const grouped = (number: string): string => number.replace(/(\d{4})(?=\d)/g, '$1 ');

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
export const cardFields = (
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
