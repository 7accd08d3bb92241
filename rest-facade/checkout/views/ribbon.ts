/** Test mode, stated plainly: no money moves, and what the simulator will answer. */
import type { Checkout } from '../call-checkout.ts';
import { html, type Html } from '../html.ts';
import { failureWords, type Words } from '../words/words.ts';

/** Expiry is not an answer of the bank, so these are not planned. */
const unplannable = ['session_expired', 'link_expired', 'capture_expired'];

const option = (value: string, text: string, planned: string): Html =>
  html`<option value="${value}" ${value === planned && html`selected`}>${text}</option>`;

const plannedValue = (checkout: Checkout): string =>
  checkout.plannedOutcome === 'failed'
    ? `failed:${checkout.plannedFailureCode ?? 'do_not_honor'}`
    : (checkout.plannedOutcome ?? 'succeeded');

const planSelect = (checkout: Checkout, words: Words): Html => {
  const planned = plannedValue(checkout);
  const codes = Object.entries(words.failures).filter(([code]) => !unplannable.includes(code));
  return html`<label class="plan"
    ><span>${words.plan}</span>
    <select id="plan" aria-label="${words.planSelect}" disabled data-wakes>
      ${(['succeeded', 'requires_action', 'pending'] as const).map((outcome) => option(outcome, words.outcomes[outcome], planned))}
      <optgroup label="${words.planFails}">
        ${codes.map(([code, { reason }]) => option(`failed:${code}`, `${reason} · ${code}`, planned))}
      </optgroup>
    </select></label
  >`;
};

const planText = (checkout: Checkout, words: Words): Html | null => {
  if (!checkout.plannedOutcome) return null;
  const why =
    checkout.plannedOutcome === 'failed'
      ? failureWords(words, checkout.plannedFailureCode ?? '')
      : null;
  return html`<span class="planned"
    >${words.plan}:
    <b>${words.outcomes[checkout.plannedOutcome]}${why && ` — ${why.reason}`}</b></span
  >`;
};

/** The ribbon of a test payment; null in live mode. */
export const ribbonView = (checkout: Checkout, words: Words): Html | null =>
  checkout.mode === 'test'
    ? html`<aside class="ribbon" aria-label="${words.testMode}">
        <p><b>${words.testMode}</b><span class="ribbon-text"> — ${words.testModeText}</span></p>
        ${checkout.status === 'pending' ? planSelect(checkout, words) : planText(checkout, words)}
      </aside>`
    : null;
