/** What is being paid for: shop, amount, order, time left. */
import type { Checkout } from '../call-checkout.ts';
import { html, type Html, linkable, type Piece } from '../html.ts';
import type { Words } from '../words/words.ts';
import { verificationView, headline, offeredTermsView, trialTerms } from './subscription.ts';

/** A shorter description fits its box even in the largest letters. */
const scrolls_characters = 120;

/** The first letter or digit of the shop's name, for its badge. */
const initialOf = (name: string): string => /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '·';

const row = (name: string, value: Html | string, kind = ''): Html =>
  html`<div class="fact ${kind}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

const timeLeft = (checkout: Checkout, words: Words): Html | null =>
  checkout.status === 'pending' || checkout.status === 'processing'
    ? row(
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
      ${row(words.order, checkout.orderId)} ${row(words.paymentNumber, checkout.publicId)}
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
