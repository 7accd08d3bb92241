/** A payment that is over: how it ended, why, and the way back to the shop (decision D-39). */
import type { Checkout } from '../call-checkout.ts';
import { formatAmount } from '../format-amount.ts';
import { html, linkable, type Html, type Piece } from '../html.ts';
import { failureWords, type Words } from '../words/words.ts';
import { arrow, seals } from './icons.ts';
import { savingWords } from './saving.ts';

/** Contract "Buyer return": about 2 seconds after the success screen, at once after the others. */
const successShown_ms = 2_000;

export type FinalStatus = Exclude<Checkout['status'], 'pending' | 'processing'>;

const wayBack = (checkout: Checkout, words: Words): Html => {
  const address = linkable(checkout.returnTo);
  if (!address) return html`<p class="panel-fine">${words.closePage}</p>`;
  const after_ms = checkout.status === 'succeeded' ? successShown_ms : 0;
  return html`<a class="primary" id="return" href="${address}" data-return-after="${after_ms}"
      ><span class="primary-words">${words.backToShop}${arrow}</span></a
    >
    <p class="panel-fine">${words.returning}</p>`;
};

/** What was given back, and why: contract "Refund", the reason is shown to the buyer. */
const refundsView = ({ refunds, currency }: Checkout, words: Words): Html | false =>
  refunds.length > 0 &&
  html`<ul class="refunds">
    ${refunds.map(({ amount, reason, status }) => {
      const said = words.refunds[status === 'pending' ? 'pending' : 'succeeded'](formatAmount(amount, currency, words.locale));
      return html`<li>${said}${reason && html`<span class="refund-reason">${reason}</span>`}</li>`;
    })}
  </ul>`;

const ending = (seal: Html, title: string, texts: readonly Piece[], checkout: Checkout, words: Words): Html =>
  html` <div class="outcome">
    ${seal}
    <h2 class="panel-title" tabindex="-1">${title}</h2>
    ${texts.map((text) => text && html`<p class="panel-text">${text}</p>`)} ${refundsView(checkout, words)} ${wayBack(checkout, words)}
    ${checkout.failureCode && html`<p class="panel-code">${words.failureCode}: <code>${checkout.failureCode}</code></p>`}
  </div>`;

/** What a payment in a final status shows. */
export const outcomeView = (checkout: Checkout, status: FinalStatus, words: Words): Html => {
  const why = failureWords(words, checkout.failureCode ?? '');
  const saving = savingWords(checkout, words);
  switch (status) {
    case 'succeeded': {
      const { title, text } = saving?.saved ?? words.succeeded;
      return ending(seals.good, title, [text], checkout, words);
    }
    case 'failed': {
      const failure = why ?? words.failures.unknown_bank_code;
      return ending(seals.bad, saving?.notSaved ?? words.failed, [`${failure.reason}. ${words.notCharged}`, failure.advice], checkout, words);
    }
    case 'expired': {
      const failure = why ?? words.failures.link_expired;
      return ending(seals.late, words.expired, [`${failure.reason}.`, failure.advice], checkout, words);
    }
    case 'cancelled':
      return ending(seals.none, words.cancelled.title, [words.cancelled.text], checkout, words);
    case 'refunded':
      return ending(seals.back, words.refunded.title, [words.refunded.text], checkout, words);
  }
};
