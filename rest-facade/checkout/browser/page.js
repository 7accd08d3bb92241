/** The hosted page in the browser: paying, changing the plan in test mode, switching the language. */
import { readCard, watchCardForm } from './card-form.js';
import { setClock, startClock } from './clock.js';
import { ask, askNow, follow, inLanguage, page, returnWhenOver, setShown, show } from './follow.js';
import { announce, notice, rememberRegions, showLanguage, wake, words } from './regions.js';

/** The bank may take 10 s to answer (decision D-31), and the network is slow. */
const answer_ms = 40_000;

/** One thing at a time: a double click does nothing. */
let busy = false;

/**
 * Posts to the page's own address. The answer is the new state; a refusal is shown in words and the state is read again.
 * @param {string} what
 * @param {object} body
 * @returns {Promise<import('./follow.js').State | null>} null when it was refused or nobody knows
 */
const post = async (what, body) => {
  try {
    const answer = await fetch(inLanguage(`${page}/${what}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answer_ms),
    });
    const said = await answer.json();
    if (answer.ok) return said;
    await ask();
    notice(said.error.message);
  } catch {
    // It may have reached the bank: nothing is sent again, the state says what happened.
    await ask();
    notice(words()['unsure'] ?? '', true);
  }
  return null;
};

/** Runs one action with its button busy. @param {Element | null} button @param {() => Promise<void>} action */
const alone = async (button, action) => {
  if (busy) return;
  busy = true;
  notice(null);
  button?.setAttribute('aria-busy', 'true');
  button?.setAttribute('aria-disabled', 'true');
  try {
    await action();
  } finally {
    busy = false;
    button?.removeAttribute('aria-busy');
    button?.removeAttribute('aria-disabled');
    askNow();
  }
};

/** Chooses the method when it is the buyer's to choose, pays, and goes on to the bank. @param {HTMLFormElement} form */
const pay = async (form) => {
  const data = new FormData(form);
  const chosen = data.get('method');
  const method = chosen ?? data.get('fixed-method');
  // Without fields for it the card is typed on the bank's page.
  const card = method === 'cards' && form.querySelector('.card-fields') ? readCard() : undefined;
  if (card === null) return;
  await alone(form.querySelector('.primary'), async () => {
    if (chosen !== null && !(await post('method', { method: chosen }))) return;
    const state = await post('pay', card ? { card } : {});
    if (!state) return;
    show(state);
    const leaves = state.status === 'processing' && (state.step === 'redirect' || state.step === 'three_d_secure');
    const onwards = document.querySelector('#onwards');
    if (leaves && onwards instanceof HTMLAnchorElement) location.assign(onwards.href);
  });
};

/** Plans another outcome: `failed:insufficient_funds`, or just an outcome. @param {string} value */
const plan = async (value) => {
  const [outcome, failureCode = null] = value.split(':');
  await alone(null, async () => {
    const state = await post('plan', { outcome, failureCode });
    if (state) show(state);
  });
};

/** Shows the page in another language and keeps what was typed. @param {HTMLAnchorElement} link */
const switchLanguage = async (link) => {
  try {
    const answer = await fetch(link.href, { signal: AbortSignal.timeout(answer_ms) });
    const drawing = new DOMParser().parseFromString(await answer.text(), 'text/html');
    showLanguage(drawing);
    setShown(drawing.body.dataset['tag'] ?? '');
    history.replaceState(null, '', page);
    announce(document.querySelector('.languages [aria-current]')?.textContent ?? '');
    // The link that was pressed is gone; the other language's stands in its place.
    const other = document.querySelector('.languages a');
    if (other instanceof HTMLElement) other.focus();
  } catch {
    location.assign(link.href);
  }
};

const listen = () => {
  document.addEventListener('submit', (event) => {
    if (!(event.target instanceof HTMLFormElement)) return;
    event.preventDefault();
    void pay(event.target);
  });
  document.addEventListener('change', (event) => {
    if (event.target instanceof HTMLSelectElement && event.target.id === 'plan') void plan(event.target.value);
    if (event.target instanceof HTMLInputElement && event.target.name === 'method') notice(null);
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-language]') : null;
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    void switchLanguage(link);
  });
};

rememberRegions();
setClock(document.body.dataset['now']);
startClock(askNow);
watchCardForm(announce);
listen();
wake();
returnWhenOver();
follow();
