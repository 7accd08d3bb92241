/**
 * A way back to the shop for a buyer who cannot pay as the page offers, while nothing is decided.
 */
import type { Checkout } from '../call-checkout.ts';
import { html, linkable, type Html, type Piece } from '../html.ts';
import type { Words } from '../words/words.ts';

/** A link to the shop's site; nothing when its address is unknown. */
export const shopLink = ({ shopSite }: Checkout, words: Words): Piece => {
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
