/**
 * The hosted page in the browser: paying, changing the plan in test mode, switching the language.
 */
import { readCard, watchCardForm } from './card-form.js';
import {
  setClock,
  startClock,
  announce,
  notice,
  refusal,
  rememberRegions,
  showLanguage,
  wake,
  words,
} from './regions.js';
import {
  ask,
  askNow,
  busyFor_ms,
  follow,
  inLanguage,
  isTooOften,
  page,
  readState,
  setShown,
  show,
  rememberPaying,
  returnWhenOver,
  watchReturn,
} from './follow.js';

/** The bank may take 10 s to answer, and the network is slow. */
const answer_ms = 40_000;
/** How often one action is sent at most, and the longest that it waits in between. */
const sendTries_max = 6;
const sendWait_max_ms = 10_000;

/** Between two looks at the state when an answer was lost. */
const look_ms = 2_000;
/**
 * What was sent may still be on its way: so many looks must find nothing before it counts as lost.
 */
const looks_max = 3;
/** How often a method is chosen without an answer: choosing the same one again changes nothing. */
const choices_max = 3;

/** One thing at a time: a double click does nothing. */
let busy = false;

/** @typedef {import('./follow.js').State} State */

/**
 * Waits.
 * @param {number} time_ms
 */
const pause = (time_ms) => new Promise((resolve) => setTimeout(resolve, time_ms));

/**
 * Sends it. What the server refused because it was asked too often was not looked at: it is sent
 * again when it may be.
 * @param {string} what
 * @param {object} body
 * @returns {Promise<Response>}
 */
const deliver = async (what, body, tries = sendTries_max) => {
  const answer = await fetch(inLanguage(`${page}/${what}`), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answer_ms),
  });
  if (!isTooOften(answer) || tries <= 1 || busyFor_ms() > sendWait_max_ms) return answer;
  await pause(busyFor_ms());
  return deliver(what, body, tries - 1);
};

/**
 * Posts to the page's own address; null when there was no answer, so that the outcome is unknown.
 * @param {string} what
 * @param {object} body
 * @returns {Promise<{ ok: true, state: State } | { ok: false, code: string } | null>}
 */
const send = async (what, body) => {
  try {
    const answer = await deliver(what, body);
    const said = await answer.json();
    return answer.ok ? { ok: true, state: said } : { ok: false, code: String(said.error.code) };
  } catch {
    return null;
  }
};

/**
 * Finds out what became of a lost call: the state with its effect, or null when it never arrived.
 * Without a network it keeps looking.
 * @param {(state: State) => boolean} took whether a state has the effect
 * @param {number} most looks that find nothing
 */
const recover = async (took, most) => {
  notice(() => words().unsure, true);
  for (let looks = 0; looks < most;) {
    const state = await readState();
    if (state && took(state)) {
      notice(null);
      return state;
    }
    if (state) looks += 1;
    await pause(look_ms);
  }
  return null;
};

/**
 * Posts, and gives the new state. A refusal is shown in words and the state is read again. Whatever
 * is posted here has its effect once, however often it is sent.
 * @param {string} what
 * @param {object} body
 * @param {(state: State) => boolean} took whether a state has its effect
 * @param {number} attempts how often it is sent while there is no answer
 * @returns {Promise<State | null>} null when it was refused or never arrived
 */
const post = async (what, body, took, attempts = 1) => {
  const answer = await send(what, body);
  if (answer?.ok) return answer.state;
  if (answer) {
    await ask();
    notice(() => refusal(answer.code));
    return null;
  }
  const state = await recover(took, attempts > 1 ? 1 : looks_max);
  if (!state && attempts > 1) return post(what, body, took, attempts - 1);
  if (!state) notice(() => words().unsent, true);
  return state;
};

/**
 * Runs one action with its button busy.
 * @param {Element | null} button
 * @param {() => Promise<void>} action
 */
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

/**
 * Whether the bank has the payment; not while it waits for its buyer to press again.
 * @param {State} state
 */
const hasBegun = ({ status, step }) =>
  status !== 'pending' && !(status === 'processing' && step === null);

/**
 * Chooses the method when it is the buyer's to choose, pays, and continues to the bank.
 * @param {HTMLFormElement} form
 */
const pay = async (form) => {
  const data = new FormData(form);
  const chosen = data.get('method');
  const method = chosen ?? data.get('fixed-method');
  // Without fields for it the card is typed on the bank's page.
  const card = method === 'cards' && form.querySelector('.card-fields') ? readCard() : undefined;
  if (card === null) return;
  await alone(form.querySelector('.primary'), async () => {
    const isChosen = (/** @type {State} */ now) =>
      now.method === chosen || now.status !== 'pending';
    if (chosen !== null && !(await post('method', { method: chosen }, isChosen, choices_max)))
      return;
    rememberPaying();
    const state = await post('pay', card ? { card } : {}, hasBegun);
    if (!state) return;
    show(state);
    const leaves =
      state.status === 'processing' &&
      (state.step === 'redirect' || state.step === 'three_d_secure');
    const onwards = document.querySelector('#onwards');
    if (leaves && onwards instanceof HTMLAnchorElement) location.assign(onwards.href);
  });
};

/**
 * Plans another outcome: `failed:insufficient_funds`, or just an outcome.
 * @param {string} value
 */
const plan = async (value) => {
  const [outcome, failureCode = null] = value.split(':');
  await alone(null, async () => {
    const state = await post(
      'plan',
      { outcome, failureCode },
      (now) => now.plannedOutcome === outcome,
    );
    if (state) show(state);
  });
};

/**
 * Shows the page in another language and keeps what was typed.
 * @param {HTMLAnchorElement} link
 */
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

const bankKey = 'pay_bank';

/** SBP: the bank that this device paid with last stands first. */
const lastBankFirst = () => {
  try {
    const last = CSS.escape(localStorage.getItem(bankKey) ?? '');
    const bank = document.querySelector(`[data-bank="${last}"]`)?.closest('li');
    bank?.parentElement?.prepend(bank);
  } catch {
    // A browser that keeps nothing shows the banks in their own order.
  }
};

/** @param {Element} link */
const rememberBank = (link) => {
  try {
    localStorage.setItem(bankKey, link.getAttribute('data-bank') ?? '');
  } catch {
    // As above.
  }
};

const listen = () => {
  document.addEventListener('redrawn', lastBankFirst);
  document.addEventListener('submit', (event) => {
    if (!(event.target instanceof HTMLFormElement)) return;
    event.preventDefault();
    void pay(event.target);
  });
  document.addEventListener('change', (event) => {
    if (event.target instanceof HTMLSelectElement && event.target.id === 'plan')
      void plan(event.target.value);
    if (event.target instanceof HTMLInputElement && event.target.name === 'method') notice(null);
  });
  document.addEventListener('click', (event) => {
    const bank = event.target instanceof Element ? event.target.closest('[data-bank]') : null;
    if (bank) rememberBank(bank);
    const link = event.target instanceof Element ? event.target.closest('a[data-language]') : null;
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    void switchLanguage(link);
  });
};

rememberRegions();
setClock(document.body.dataset['now'], document.body.dataset['stands'] === 'true');
startClock(askNow);
watchCardForm(announce);
watchReturn();
listen();
lastBankFirst();
wake();
returnWhenOver();
follow();
