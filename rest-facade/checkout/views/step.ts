/**
 * A payment that is at the bank: what the buyer does there, or that there is nothing to do but
 * wait.
 */
import type { Checkout } from '../call-checkout.ts';
import { drawQr } from '../draw-qr.ts';
import { html, linkable, type Html, type Piece } from '../html.ts';
import type { Message, Words } from '../words/words.ts';
import { arrow, methodMarks, spinner } from './icons.ts';
import { payableMethod } from './pay-form.ts';
import { wayOnView } from './way-on.ts';

const messageView = ({ title, text }: Message): Html =>
  html` <h2 class="panel-title" tabindex="-1">${title}</h2>
    <p class="panel-text">${text}</p>`;

const waiting = (words: Words): Html =>
  html`<p class="waiting">${spinner}${words.waitingForBank}</p>`;

const onwards = (address: string | null, text: string): Piece =>
  address &&
  html`<a class="primary" id="onwards" href="${address}"
    ><span class="primary-words">${text}${arrow}</span></a
  >`;

const qr = (checkout: Checkout, words: Words): Html => {
  const address = linkable(checkout.stepUrl);
  return html`<div class="step step-qr">
    <h2 class="panel-title" tabindex="-1">${words.qr.title}</h2>
    ${
      address &&
      html`<p class="panel-text on-phone">${words.qrPhone}</p>
        <a class="primary on-phone" id="onwards" href="${address}"
          ><span class="primary-words">${words.qrOpen}${arrow}</span></a
        >`
    }
    <p class="panel-text ${address && 'on-desk'}">${words.qr.text}</p>
    <div class="qr-tile">${checkout.stepUrl && drawQr(checkout.stepUrl, words.qrLabel)}</div>
    ${address && html`<a class="link on-desk" href="${address}">${words.qrHere}</a>`}
    ${waiting(words)} ${wayOnView(checkout, words)}
  </div>`;
};

/** What a payment in `processing` shows. */
export const stepView = (checkout: Checkout, words: Words): Html => {
  const method = payableMethod(checkout.method);
  const name = method ? words.methods[method].name : '';
  const address = linkable(checkout.stepUrl);
  switch (checkout.step) {
    case 'qr':
      return qr(checkout, words);
    case 'redirect':
      return html`<div class="step">
        ${method && html`<div class="step-mark">${methodMarks[method]}</div>`}
        ${messageView(words.redirect(name))} ${onwards(address, words.redirectGo(name))}
        ${waiting(words)} ${wayOnView(checkout, words)}
      </div>`;
    case 'three_d_secure':
      return html`<div class="step">
        ${method && html`<div class="step-mark">${methodMarks[method]}</div>`}
        ${messageView(words.threeDSecure)} ${onwards(address, words.threeDSecureGo)}
        ${waiting(words)} ${wayOnView(checkout, words)}
      </div>`;
    case 'wait':
    case null:
      return html`<div class="step step-wait">
        <div class="big-spinner">${spinner}</div>
        ${messageView(words.wait)} ${wayOnView(checkout, words)}
      </div>`;
  }
};
