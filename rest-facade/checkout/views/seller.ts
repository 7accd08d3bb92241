/** The seller at the foot of a page: its legal name, how to reach it, and its offer. */
import type { Checkout } from '../call-checkout.ts';
import { html, linkable, type Html, type Piece } from '../html.ts';
import type { Words } from '../words/words.ts';

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
