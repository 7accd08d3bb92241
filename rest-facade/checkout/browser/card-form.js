/** The card's fields: tidied while typing, checked on leaving, and read out when the buyer pays. */
import {
  brandOf,
  cardOf,
  digitsOf,
  fieldNames,
  flawOf,
  grouped,
  lengthsOf,
  tidyExpiry,
  unacceptedBrandOf,
} from './card-rules.js';
import { serverNow, words } from './regions.js';

/** @typedef {import('./card-rules.js').FieldName} FieldName */

/**
 * @param {FieldName} name
 * @returns {HTMLInputElement | null}
 */
const inputOf = (name) => document.querySelector(`#card-${name}`);

/**
 * @param {EventTarget | null} target
 * @returns {FieldName | null}
 */
const fieldOf = (target) =>
  target instanceof HTMLInputElement && target.closest('.card-fields')
    ? (fieldNames.find((name) => name === target.name) ?? null)
    : null;

/**
 * What a field holds, tidied.
 * @param {FieldName} name
 * @param {string} text
 */
const tidied = (name, text) => {
  switch (name) {
    case 'number': {
      const digits = digitsOf(text);
      return grouped(digits.slice(0, lengthsOf(digits).most));
    }
    case 'expiry':
      return tidyExpiry(text);
    case 'cvc':
      return digitsOf(text).slice(0, 3);
    case 'holder':
      return text;
  }
};

/** @typedef {import('./card-rules.js').Flaw} Flaw */

/**
 * What is said of a flaw.
 * @param {FieldName} name
 * @param {Flaw} flaw
 * @returns {string}
 */
const flawWords = (name, flaw) =>
  Object.entries(/** @type {import('../words/en.ts').Words['browser']} */ (words())).find(
    ([key]) => key === `${name}${flaw}`,
  )?.[1] ?? '';

/**
 * Says what is wrong with a field, or takes it back.
 * @param {FieldName} name
 * @param {Flaw | null} flaw
 */
const markField = (name, flaw) => {
  const input = inputOf(name);
  if (flaw) input?.setAttribute('data-flaw', flaw);
  else input?.removeAttribute('data-flaw');
  if (flaw) input?.setAttribute('aria-invalid', 'true');
  else input?.removeAttribute('aria-invalid');
  const text = flaw ? flawWords(name, flaw) : '';
  const problem = document.querySelector(`#card-${name}-problem`);
  if (problem && problem.textContent !== text) problem.textContent = text;
};

/**
 * Shows or clears what is wrong with a field.
 * @param {FieldName} name
 * @param {boolean} gently leave an untouched field alone
 */
const check = (name, gently) => {
  const input = inputOf(name);
  if (!input) return true;
  const found = flawOf(name, input.value, new Date(serverNow()));
  // A name that the bank does not ask for may be left out.
  const flaw = found === 'Empty' && !input.required ? null : found;
  markField(name, gently && flaw === 'Empty' ? null : flaw);
  return !flaw;
};

/**
 * Writes the tidied text and keeps the caret after the same digit.
 * @param {HTMLInputElement} input
 * @param {string} text
 */
const rewrite = (input, text) => {
  if (input.value === text) return;
  const before = digitsOf(input.value.slice(0, input.selectionStart ?? input.value.length)).length;
  const atEnd = input.selectionStart === input.value.length;
  input.value = text;
  if (document.activeElement !== input) return;
  let caret = 0;
  for (let seen = 0; caret < text.length && seen < before; caret += 1)
    if (/\d/.test(text[caret] ?? '')) seen += 1;
  if (atEnd) caret = text.length;
  input.setSelectionRange(caret, caret);
};

/** @param {string} digits */
const showBrand = (digits) => {
  const brand = brandOf(digits);
  for (const mark of document.querySelectorAll('[data-brand]'))
    mark.classList.toggle('shown', mark.getAttribute('data-brand') === brand);
};

/**
 * Tidies a field as it is typed in.
 * @param {HTMLInputElement} input
 * @param {FieldName} name
 * @param {boolean} deleting
 */
const typed = (input, name, deleting) => {
  // While deleting, a slash that was just removed must not come back.
  if (!(name === 'expiry' && deleting)) rewrite(input, tidied(name, input.value));
  if (name === 'number') showBrand(digitsOf(input.value));
  // A card that is not accepted is named before it is typed to its end. Another
  // number takes the word back, before it is whole.
  const unaccepted = name === 'number' ? unacceptedBrandOf(digitsOf(input.value)) : null;
  const marked = input.getAttribute('data-flaw');
  if (unaccepted) markField(name, unaccepted);
  else if (marked === 'Amex' || marked === 'Jcb' || marked === 'Diners') markField(name, null);
  else if (marked !== null) check(name, false);
};

/** The form has been drawn anew: the brand and what was said of the fields come back. */
const redrawn = () => {
  showBrand(digitsOf(inputOf('number')?.value ?? ''));
  for (const name of fieldNames) if (inputOf(name)?.hasAttribute('data-flaw')) check(name, false);
};

/**
 * The first field after this one that must be filled and is empty.
 * @param {FieldName} name
 */
const nextEmpty = (name) =>
  fieldNames
    .slice(fieldNames.indexOf(name) + 1)
    .map(inputOf)
    .find((input) => input?.required && input.value === '');

/**
 * The keyboard's "next" continues to what is still empty; with nothing left it pays.
 * @param {KeyboardEvent} event
 */
const enter = (event) => {
  const name = event.key === 'Enter' && !event.isComposing ? fieldOf(event.target) : null;
  const next = name && nextEmpty(name);
  if (!next) return;
  event.preventDefault();
  next.focus();
};

/**
 * Fills the form with a test card.
 * @param {string} number
 */
const fill = (number) => {
  const year = String(new Date(serverNow()).getFullYear() + 3).slice(2);
  const values = {
    number: grouped(number),
    expiry: `12/${year}`,
    cvc: '123',
    holder: 'TEST BUYER',
  };
  for (const name of fieldNames) {
    const input = inputOf(name);
    if (input) input.value = values[name];
    check(name, false);
  }
  showBrand(number);
};

/**
 * Listens to the fields, wherever in the page they are put.
 * @param {(text: string) => void} announce
 */
export const watchCardForm = (announce) => {
  document.addEventListener('input', (event) => {
    const name = fieldOf(event.target);
    const deleting = event instanceof InputEvent && event.inputType.startsWith('delete');
    if (name && event.target instanceof HTMLInputElement) typed(event.target, name, deleting);
  });
  document.addEventListener('redrawn', redrawn);
  document.addEventListener('keydown', enter);
  document.addEventListener('focusout', (event) => {
    const name = fieldOf(event.target);
    if (name) check(name, true);
  });
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-fill]') : null;
    if (!button) return;
    fill(button.getAttribute('data-fill') ?? '');
    announce(words().filled ?? '');
  });
};

/**
 * The card, or null when something is wrong with it: then every problem is shown and the first
 * field has focus.
 * @returns {{ number: string, expiry: string, cvc: string, holder: string } | null}
 */
export const readCard = () => {
  const wrong = fieldNames.filter((name) => !check(name, false));
  if (wrong[0]) {
    inputOf(wrong[0])?.focus();
    return null;
  }
  return cardOf((name) => inputOf(name)?.value ?? '');
};
