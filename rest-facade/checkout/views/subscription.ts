/**
 * The terms of a subscription that a payment begins: before the buyer agrees, and on the receipt.
 * The first charge is counted from the binding.
 */
import type { Checkout } from '../call-checkout.ts';
import { formatAmount, formatDay } from '../language.ts';
import { html, type Piece, day, fact } from '../html.ts';
import type { Words } from '../words/en.ts';
import type { SavableMethod } from '../words/words.ts';

type Terms = NonNullable<Checkout['subscription']>;

const day_ms = 86_400_000;

/** When the trial ends of what is bound at `boundAt` (RFC 3339). */
const trialEnd = ({ trialDays }: Terms, boundAt: string): string =>
  new Date(Date.parse(boundAt) + trialDays * day_ms).toISOString();

/** What every period costs. */
export const priceOf = (
  {
    amount,
    currency,
    period,
    intervalCount,
  }: Pick<Terms, 'amount' | 'currency' | 'period' | 'intervalCount'>,
  words: Words,
): string =>
  words.subscription.price(formatAmount(amount, currency, words.locale), period, intervalCount);

/** The terms of a binding that is free today: what it charges later is what matters. */
export const trialTerms = ({ verification, subscription }: Checkout): Terms | null =>
  verification ? subscription : null;

/** What the payment is about, in the largest letters: its amount, or the price after a trial. */
export const headline = (checkout: Checkout, words: Words): string => {
  const terms = trialTerms(checkout);
  return terms
    ? priceOf(terms, words)
    : formatAmount(checkout.amount, checkout.currency, words.locale);
};

/** What the button of a trial agrees to; null for any other payment. */
const trialWords = (checkout: Checkout, words: Words): string | null => {
  const terms = trialTerms(checkout);
  if (!terms) return null;
  const end = formatDay(trialEnd(terms, checkout.now), words);
  return words.subscription.begin(priceOf(terms, words), end);
};

/** When a trial that is about to begin is charged first; null for any other payment. */
const trialChargeWords = (checkout: Checkout, words: Words): string | null => {
  const terms = trialTerms(checkout);
  const awaitsBuyer = checkout.status === 'pending' || checkout.status === 'processing';
  return terms && awaitsBuyer ? words.subscription.chargedIn(terms.trialDays) : null;
};

const host = ({ shopSite }: Checkout): string | null =>
  (shopSite && URL.parse(shopSite)?.host) || null;

const planFact = ({ planName }: Terms, { subscription }: Words): Piece =>
  fact(subscription.plan, planName);

const trialFact = (terms: Terms, end: string, words: Words): Piece =>
  fact(
    words.subscription.trial,
    html`${words.subscription.days(terms.trialDays)}, ${words.subscription.until} ${day(end, words)}`,
  );

const firstCharge = ({ amount, currency }: Terms, end: string, words: Words): Piece =>
  fact(
    words.subscription.firstCharge,
    html`${formatAmount(amount, currency, words.locale)}, ${day(end, words)}`,
  );

/** What the buyer is about to agree to; nothing where the payment begins no subscription. */
export const offeredTermsView = (checkout: Checkout, words: Words): Piece => {
  const { subscription: terms, status, now } = checkout;
  if (!terms || (status !== 'pending' && status !== 'processing')) return null;
  const end = trialEnd(terms, now);
  const { title, firstCharge: first, today, cancel } = words.subscription;
  return html`<section class="terms" aria-labelledby="terms-title">
    <h2 class="terms-title" id="terms-title">${title}</h2>
    <dl class="facts">
      ${planFact(terms, words)} ${fact(words.subscription.priceLabel, priceOf(terms, words))}
      ${
        terms.trialDays > 0
          ? html`${trialFact(terms, end, words)} ${firstCharge(terms, end, words)}`
          : fact(first, today)
      }
    </dl>
    <p class="terms-cancel">${cancel(host(checkout))}</p>
  </section>`;
};

/** What the buyer agreed to; nothing before that, and where the payment begins no subscription. */
export const agreedTermsView = (checkout: Checkout, words: Words): Piece => {
  const { subscription: terms, status, paidAt } = checkout;
  if (!terms || paidAt === null || (status !== 'succeeded' && status !== 'refunded')) return null;
  const { title, ended, nextCharge, cancel } = words.subscription;
  const isOver = terms.status === 'cancelled';
  const first = terms.firstChargeAt ?? trialEnd(terms, paidAt);
  const next = terms.nextChargeAt ?? (terms.trialDays > 0 ? first : null);
  return html`<section class="terms" aria-labelledby="terms-title">
    <h3 class="terms-title" id="terms-title">${title}</h3>
    <dl class="facts">
      ${planFact(terms, words)} ${fact(words.subscription.priceLabel, priceOf(terms, words))}
      ${terms.trialDays > 0 && !isOver && trialFact(terms, first, words)}
      ${!isOver && next !== null && fact(nextCharge, day(next, words))}
    </dl>
    <p class="terms-cancel">${isOver ? ended : cancel(host(checkout))}</p>
  </section>`;
};

// A payment that binds the buyer's method: what the shop saves, and what becomes of the money
// (docs/contract.md#tokens).

const savable = ['cards', 'sbp', 'tpay'] as const satisfies readonly SavableMethod[];

/** The text about the method that this payment saves; null when it saves none. */
export const savingWords = (
  checkout: Checkout,
  words: Words,
): Words['saving'][SavableMethod] | null => {
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
