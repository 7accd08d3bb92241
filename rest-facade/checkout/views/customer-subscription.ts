/** The page of one subscription of a customer: its state, its terms, its charges, and its end. */
import type { CustomerSubscriptionPage, CustomerThing } from '../call-checkout.ts';
import { formatAmount, formatDay, failureWords } from '../language.ts';
import { html, type Html, type Piece } from '../html.ts';
import type { Assets } from '../serve-assets.ts';
import { day, fact } from './facts.ts';
import { priceOf } from './subscription.ts';
import type { Words } from '../words/en.ts';
import { customerDocument, endForm, methodText, nameOf } from './customer.ts';

type Found = CustomerSubscriptionPage['subscription'];
type Charge = Found['charges'][number];

/** Whether the free days of a trial run, and nothing has been charged. */
const isOnTrial = ({ subscription: { trialDays, lastChargeAt } }: Found): boolean =>
  trialDays > 0 && lastChargeAt === null;

const stateOf = ({ subscription }: Found, words: Words): string => {
  const { status, cancelledAt, token } = subscription;
  if (status === 'cancelled')
    return cancelledAt === null
      ? words.subscription.ended
      : words.customer.one.cancelledOn(formatDay(cancelledAt, words));
  if (token.status === 'cancelled') return words.customer.unpaid;
  return words.customer.states[status === 'pending' ? 'active' : status];
};

/** The charge that comes next: its day and amount; nothing where none comes. */
const nextFact = ({ subscription }: Found, words: Words): Piece => {
  const { status, nextChargeAt, retryAt, amount, currency, token } = subscription;
  if (token.status === 'cancelled') return null;
  const sum = formatAmount(amount, currency, words.locale);
  const at = (instant: string): Html => html`${day(instant, words)}, ${sum}`;
  if (status === 'past_due') {
    const { retry, underWay } = words.customer.one;
    return fact(retry, retryAt === null ? underWay : at(retryAt));
  }
  return nextChargeAt !== null && fact(words.subscription.nextCharge, at(nextChargeAt));
};

const stateView = (found: Found, words: Words): Html => {
  const { subscription, paidUntil } = found;
  const { one, paidWith } = words.customer;
  const until = isOnTrial(found)
    ? `${words.subscription.trial} ${words.subscription.until}`
    : one.paidUntil;
  return html`<dl class="facts own-facts">
    ${fact(one.state, stateOf(found, words))} ${nextFact(found, words)}
    ${paidUntil !== null && fact(until, day(paidUntil, words))}
    ${fact(paidWith, methodText(subscription.token, words))}
  </dl>`;
};

const termsView = ({ subscription, agreedAt }: Found, shopName: string, words: Words): Html => {
  const { trialDays } = subscription;
  const price = priceOf(subscription, words);
  const { priceLabel, trial, days } = words.subscription;
  return html`<section class="things">
    <h2 class="things-title">${words.customer.one.terms}</h2>
    <dl class="facts own-facts">
      ${fact(priceLabel, price)} ${trialDays > 0 && fact(trial, days(trialDays))}
    </dl>
    ${
      agreedAt !== null &&
      html`<p class="thing-more">
        ${words.customer.one.agreed(formatDay(agreedAt, words), shopName, price)}
      </p>`
    }
  </section>`;
};

/** What became of a charge, and why it failed. */
const chargeState = (charge: Charge, words: Words): string => {
  const { status, amountRefunded, currency, failureCode } = charge;
  const { chargeStates, refunded } = words.customer.one;
  if (amountRefunded > 0) return refunded(formatAmount(amountRefunded, currency, words.locale));
  const why = failureCode === null ? null : failureWords(words, failureCode);
  return why ? `${chargeStates[status]}: ${why.reason}` : chargeStates[status];
};

const chargeView = (charge: Charge, words: Words): Html => {
  const { period, amount, currency, status, at } = charge;
  return html`<li class="charge">
    <span class="charge-day">${day(at, words)}</span>
    <span class="charge-amount">${formatAmount(amount, currency, words.locale)}</span>
    <span class="charge-state ${status}">${chargeState(charge, words)}</span>
    ${period === 0 && html`<span class="charge-state">${words.customer.one.check}</span>`}
  </li>`;
};

const chargesView = ({ charges, hasOlderCharges }: Found, words: Words): Html => {
  const { charges: title, noCharges, olderCharges } = words.customer.one;
  return html`<section class="things">
    <h2 class="things-title">${title}</h2>
    ${
      charges.length > 0
        ? html`<ul class="charges">
            ${charges.map((charge) => chargeView(charge, words))}
          </ul>`
        : html`<p class="panel-text">${noCharges}</p>`
    }
    ${hasOlderCharges && html`<p class="thing-more">${olderCharges}</p>`}
  </section>`;
};

/** The way to cancel, with what stays afterwards; nothing when it is cancelled. */
const cancelView = (found: Found, words: Words): Piece => {
  const { subscription, paidUntil, charges } = found;
  if (subscription.status === 'cancelled') return null;
  const { leaves, leavesCharge } = words.customer.one;
  const left = leaves[isOnTrial(found) ? 'trial' : 'paid'];
  const isCharging = charges.some(({ status }) => status === 'open');
  const beside = html`${paidUntil !== null && left(formatDay(paidUntil, words))}
  ${isCharging && leavesCharge}`;
  const { id } = subscription;
  return endForm('subscription', { id, name: nameOf(subscription, words), beside }, words);
};

/** The page; `address`: of the customer's page, `done`: what was just ended. */
export const customerSubscriptionPage = (
  page: CustomerSubscriptionPage,
  words: Words,
  assets: Assets,
  { address, done }: { readonly address: string; readonly done: CustomerThing | null },
): string => {
  const { subscription: found, shopName } = page;
  const panel = html`<p class="own-back">
      <a href="/pay/c/${address}">${words.customer.one.back}</a>
    </p>
    ${stateView(found, words)} ${cancelView(found, words)} ${termsView(found, shopName, words)}
    ${chargesView(found, words)}`;
  const [title, text] = [nameOf(found.subscription, words), priceOf(found.subscription, words)];
  return customerDocument(page, { title, text, panel, done }, words, assets);
};
