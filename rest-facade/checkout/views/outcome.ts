/**
 * A payment with which the buyer is done: how it ended, or that the money is held, why, and the way
 * back to the shop.
 */
import type { Checkout } from '../call-checkout.ts';
import { html, linkable, type Html, type Piece } from '../html.ts';
import { failureWords, type Words } from '../words/words.ts';
import { arrow, printer, seals } from './icons.ts';
import { receiptView } from './receipt.ts';
import { savingWords } from './saving.ts';

/**
 * How long the success screen is shown; other outcomes return at once
 * (docs/contract.md#buyer-return).
 */
const successShown_ms = 2_000;

export type FinalStatus = Exclude<Checkout['status'], 'pending' | 'processing'>;

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
  return html`<a class="primary" id="return" href="${address}" ${leaving(checkout)}
      ><span class="primary-words">${words.backToShop}${arrow}</span></a
    >
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
