/** The buyer's record of an ended payment: when, how, what was refunded, and the reason. */
import type { Checkout } from '../call-checkout.ts';
import { formatAmount, formatDay, formatTime } from '../format.ts';
import { html, type Html, type Piece } from '../html.ts';
import type { Words } from '../words/words.ts';
import { payableMethod } from './pay-form.ts';
import { agreedTermsView } from './subscription.ts';

/** Brands in the spelling of the page, by the letters of what a bank calls them. */
const brandName = (brand: string, words: Words): string => {
  const letters = brand.toLowerCase().replaceAll(/[^a-z]/g, '');
  return Object.entries(words.brands).find(([known]) => known === letters)?.[1] ?? brand;
};

/** A card: brand and last 4 digits, as they stand on it. */
export const cardText = (
  { cardBrand, cardMask }: Pick<Checkout, 'cardBrand' | 'cardMask'>,
  words: Words,
): string | null => {
  const digits = cardMask?.slice(-4);
  const parts = [cardBrand && brandName(cardBrand, words), digits && `•• ${digits}`];
  return parts.filter(Boolean).join(' ') || null;
};

const methodText = ({ method }: Checkout, words: Words): string | null => {
  const known = payableMethod(method);
  if (known) return words.methods[known].name;
  return method === 'recurrent' ? words.savedMethod : null;
};

const time = (instant: string, text: string): Html =>
  html`<time datetime="${instant}">${text}</time>`;

const fact = (name: string, value: Html | string | null): Piece =>
  value !== null &&
  html`<div class="fact">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

/**
 * One refund. The service gives the reason for the automatic refund of a late success, not the
 * shop.
 */
const refundView = (
  refund: Checkout['refunds'][number],
  { currency, paidLate }: Checkout,
  words: Words,
): Html => {
  const { amount, status, at } = refund;
  const state = status === 'pending' ? 'pending' : 'succeeded';
  const reason = paidLate ? words.lateReason : refund.reason;
  return html`<li>
    <span class="refund-words">${words.refunds[state]}</span>
    <span class="refund-amount">${formatAmount(amount, currency, words.locale)}</span>
    <span class="refund-day">${time(at, formatDay(at, words))}</span>
    ${reason && html`<span class="refund-reason">${reason}</span>`}
  </li>`;
};

/**
 * What became of the receipt that goes to the buyer by mail or phone. One that the cash register
 * refused is sent again: there is nothing that the buyer could do.
 */
const fiscalState = ({ fiscalReceipt }: Checkout, words: Words): string | null =>
  fiscalReceipt &&
  words.fiscalStates[fiscalReceipt === 'registered' ? 'registered' : 'beingRegistered'];

/** The receipt; of a payment that ended without money, the little that there is. */
export const receiptView = (checkout: Checkout, words: Words): Html => {
  const instant = checkout.paidAt ?? checkout.endedAt;
  const { refunds, captured } = checkout;
  return html`<div class="receipt">
    <dl class="facts">
      ${fact(words.date, instant && time(instant, formatTime(instant, words)))}
      ${fact(words.captured, captured === null ? null : formatAmount(captured, checkout.currency, words.locale))}
      ${fact(words.paidWith, methodText(checkout, words))}
      ${fact(words.card, cardText(checkout, words))}
      ${fact(words.fiscalReceipt, fiscalState(checkout, words))}
    </dl>
    ${agreedTermsView(checkout, words)}
    ${
      refunds.length > 0 &&
      html`<ul class="refunds" aria-label="${words.refundsLabel}">
        ${refunds.map((refund) => refundView(refund, checkout, words))}
      </ul>`
    }
  </div>`;
};
