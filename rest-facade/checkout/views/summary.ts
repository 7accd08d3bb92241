/** What is paid for (shop, amount, order, time left), and the record of an ended payment. */
import type { Checkout } from '../call-checkout.ts';
import { html, type Html, linkable, type Piece, day, fact, time } from '../html.ts';
import { formatAmount, formatTime } from '../language.ts';
import type { Words } from '../words/en.ts';
import { payableMethod } from './pay-form.ts';
import {
  verificationView,
  headline,
  offeredTermsView,
  trialTerms,
  agreedTermsView,
} from './subscription.ts';

/** A shorter description fits its box even in the largest letters. */
const scrolls_characters = 120;

/** The first letter or digit of the shop's name, for its badge. */
const initialOf = (name: string): string => /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '·';

const timeLeft = (checkout: Checkout, words: Words): Piece =>
  checkout.status === 'pending' || checkout.status === 'processing'
    ? fact(
        words.timeLeft,
        html`<span class="clock" role="timer" aria-live="off" data-deadline="${checkout.deadline}"
          >&nbsp;</span
        >`,
        'left',
      )
    : null;

/** A long description is a box that scrolls: who has no pointer scrolls it with the keyboard. */
export const descriptionView = (text: string): Html =>
  html`<p class="description" ${text.length > scrolls_characters && html`tabindex="0"`}>
    ${text}
  </p>`;

/** Long amounts are set smaller, so that they stay in one line. */
export const sizeOf = (amount: string): string =>
  amount.length > 17 ? 'longest' : amount.length > 12 ? 'long' : '';

/** Whom the buyer pays. */
export const shopView = (name: string): Html =>
  html`<p class="shop">
    <span class="badge" aria-hidden="true">${initialOf(name)}</span
    ><span class="shop-name">${name}</span>
  </p>`;

/** The summary of the payment. */
export const summaryView = (checkout: Checkout, words: Words): Html => {
  const amount = headline(checkout, words);
  return html`
    ${shopView(checkout.shopName)}
    <h1 class="amount ${trialTerms(checkout) ? 'long' : sizeOf(amount)}">
      <span class="unseen">${words.payTo} </span>${amount}
    </h1>
    ${verificationView(checkout, words)}
    ${checkout.description && descriptionView(checkout.description)}
    ${offeredTermsView(checkout, words)}
    <dl class="facts">
      ${fact(words.order, checkout.orderId)} ${fact(words.paymentNumber, checkout.publicId)}
      ${timeLeft(checkout, words)}
    </dl>
  `;
};

type Seller = Checkout['seller'];

const nameOf = ({ legalName, inn }: Seller, words: Words): string | null => {
  const number = inn === null ? null : `${words.seller.inn} ${inn}`;
  const known = [legalName, number].filter((text) => text !== null);
  return known.length === 0 ? null : `${words.seller.title}: ${known.join(', ')}`;
};

/** What is known of the seller; nothing where nothing is. The offer opens beside the page. */
export const sellerView = (seller: Seller, words: Words): Piece => {
  const { contactEmail: email, contactPhone: phone } = seller;
  const offer = linkable(seller.offerUrl);
  const pieces: readonly Piece[] = [
    nameOf(seller, words),
    email && html`<a href="mailto:${email}">${email}</a>`,
    phone && html`<a href="tel:${phone}">${phone}</a>`,
    offer &&
      html`<a href="${offer}" target="_blank" rel="noopener noreferrer">${words.seller.offer}</a>`,
  ];
  const known: readonly Html[] = pieces.flatMap((piece) =>
    piece ? [html`<li>${piece}</li>`] : [],
  );
  return (
    known.length > 0 &&
    html`<ul class="seller">
      ${known}
    </ul>`
  );
};

// The buyer's record of an ended payment: when, how, what was refunded, and the reason.

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
    <span class="refund-day">${day(at, words)}</span>
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
