/**
 * The page of a payment link with an open amount: checks the amount on leaving its field and before
 * going on, as the card's fields are. The server checks it again; without this the page works, too.
 */
import { amountOf } from './amount-rules.js';

/** @type {HTMLInputElement | null} */
const input = document.querySelector('#amount');
const field = input?.closest('.field');
const problem = document.querySelector('#amount-problem');

/** Whether what is typed may be paid. */
const isPayable = () => {
  const { digits, signs = '', least, most } = input?.dataset ?? {};
  const amount = amountOf(input?.value ?? '', Number(digits), signs.split(' '));
  return amount !== null && amount >= Number(least) && amount <= Number(most);
};

/**
 * Says what is wrong with the amount, or takes it back.
 * @param {boolean} isRight
 */
const mark = (isRight) => {
  field?.classList.toggle('wrong', !isRight);
  if (isRight) input?.removeAttribute('aria-invalid');
  else input?.setAttribute('aria-invalid', 'true');
  const text = isRight ? '' : (input?.dataset['problem'] ?? '');
  if (problem && problem.textContent !== text) problem.textContent = text;
};

input?.addEventListener('blur', () => mark(input.value === '' || isPayable()));
input?.addEventListener('input', () => {
  if (input.hasAttribute('aria-invalid') && isPayable()) mark(true);
});
input?.form?.addEventListener('submit', (event) => {
  if (isPayable()) return;
  event.preventDefault();
  mark(false);
  input.focus();
});
