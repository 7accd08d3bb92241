/**
 * A payment that binds the buyer's method: what the shop saves, and what becomes of the money
 * (docs/contract.md#tokens).
 */
import type { Checkout } from '../call-checkout.ts';
import { formatAmount } from '../format-amount.ts';
import { html, type Piece } from '../html.ts';
import type { SavableMethod, SavingWords, Words } from '../words/words.ts';
import { trialChargeWords, trialWords } from './subscription.ts';

const savable = ['cards', 'sbp', 'tpay'] as const satisfies readonly SavableMethod[];

/** The text about the method that this payment saves; null when it saves none. */
export const savingWords = (checkout: Checkout, words: Words): SavingWords | null => {
  const method = checkout.saves
    ? savable.find((candidate) => candidate === checkout.method)
    : undefined;
  return method ? words.saving[method] : null;
};

/** The text of the form's button. */
export const payWords = (checkout: Checkout, words: Words): string => {
  const amount = formatAmount(checkout.amount, checkout.currency, words.locale);
  const saving = savingWords(checkout, words);
  if (!saving) return words.pay(amount);
  return (
    trialWords(checkout, words) ??
    (checkout.verification ? saving.verify : saving.payAndSave(amount))
  );
};

/** What the buyer agrees to; nothing when the payment saves no method. */
export const consentView = (checkout: Checkout, words: Words): Piece => {
  const saving = savingWords(checkout, words);
  return saving && html`<p class="consent">${saving.consent(checkout.shopName)}</p>`;
};

/** What becomes of the 1 RUB; nothing when it is a payment like any other. */
export const verificationView = (checkout: Checkout, words: Words): Piece => {
  const saving = checkout.verification ? savingWords(checkout, words) : null;
  return (
    saving &&
    html`<p class="description">${trialChargeWords(checkout, words)} ${saving.verification}</p>`
  );
};
