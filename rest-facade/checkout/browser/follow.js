/**
 * Follows the payment: the server pushes it (server-sent events), and this page asks when no event
 * came for a while.
 */
import { setClock, notice, showRegions, withdraw, words } from './regions.js';

/**
 * @typedef {object} State The answer of /state and of what the buyer does.
 * @property {string} status
 * @property {string} method
 * @property {string | null} plannedOutcome
 * @property {string | null} step
 * @property {string | null} stepUrl
 * @property {string} title
 * @property {string} tag digest, for If-None-Match
 * @property {string} now the page's time
 * @property {boolean} clockStands
 * @property {Readonly<Record<string, string>>} regions
 */

const poll_ms = 3_000;
/** While the stream is open and the bank is not at work, nothing changes without an event. */
const calmPoll_ms = 15_000;
const answer_ms = 10_000;
/** How long a stream that was refused is not asked for again, and up to twice as long. */
const listenAgain_ms = 20_000;

/** This page's address, without a slash at the end. */
export const page = location.pathname.replace(/\/$/, '');

/**
 * Adds the language that the page speaks.
 * @param {string} address
 */
export const inLanguage = (address) => `${address}?lang=${document.documentElement.lang}`;

/** The digest of what is shown. */
let tag = document.body.dataset['tag'] ?? '';
let status = document.body.dataset['status'] ?? '';
/** Counts what was shown: an answer to an older question is not shown over a newer one. */
let shown = 0;
let streaming = false;
let offline = false;
/** Until when the server wants to be left alone, by this device's clock. */
let busyUntil_ms = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

const sayOffline = () => words().offline;

const isFinal = () => status !== 'pending' && status !== 'processing';

/**
 * Whether the server refused because it was asked too often; then it is left alone for as long as
 * it says.
 * @param {Response} answer
 */
export const isTooOften = (answer) => {
  if (answer.status !== 429) return false;
  const wait_s = Number(answer.headers.get('retry-after')) || 1;
  // Pages that were refused together do not come again together.
  busyUntil_ms = Math.max(busyUntil_ms, Date.now() + wait_s * (1_000 + Math.random() * 500));
  return true;
};

/** Milliseconds until the server may be asked again. */
export const busyFor_ms = () => Math.max(0, busyUntil_ms - Date.now());

// The way back to the shop. Only the browser session that paid is sent back, and once: for
// others, and afterwards, the page is the receipt. A payment that ended before it was paid has
// nothing to show, so it sends every session back.

/** What this browser session did; a cookie, since a bank's app may come back in another tab. */
const name = 'pay_session';

/** Kept beside the cookie, for browsers that keep none. @type {'paying' | 'returned' | null} */
let done = null;

const remembered = () =>
  done ?? new RegExp(`(?:^|; )${name}=(\\w+)`).exec(document.cookie)?.[1] ?? null;

/** @param {'paying' | 'returned'} what */
const remember = (what) => {
  done = what;
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `${name}=${what}; Path=${location.pathname.replace(/\/$/, '')}; SameSite=Lax${secure}`;
};

/** The buyer continues to the bank from here. */
export const rememberPaying = () => remember('paying');

/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaving;

/** The buyer wants to stay. */
const stay = () => {
  clearTimeout(leaving);
  document.querySelector('#returning')?.setAttribute('hidden', '');
};

const link = () => {
  const found = document.querySelector('#return');
  return found instanceof HTMLAnchorElement ? found : null;
};

/**
 * Goes back when the payment is over: 2 s after a success, at once otherwise (the server says
 * which).
 */
export const returnWhenOver = () => {
  const found = link();
  // A hidden tab waits: the visible one returns.
  if (!found?.dataset['returnAfter'] || found.dataset['going'] || document.hidden) return;
  const did = remembered();
  if (did === 'returned' || (did === null && found.dataset['returnFor'] !== 'anybody')) return;
  found.dataset['going'] = 'yes';
  remember('returned');
  document.querySelector('#returning')?.removeAttribute('hidden');
  leaving = setTimeout(() => location.replace(found.href), Number(found.dataset['returnAfter']));
};

/** Watches for the buyer's own way back, and for a receipt that is printed. */
export const watchReturn = () => {
  document.addEventListener('visibilitychange', returnWhenOver);
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return;
    if (event.target.closest('#return')) remember('returned');
    if (!event.target.closest('[data-print]')) return;
    stay();
    window.print();
  });
};

/**
 * Shows a state.
 * @param {State} state
 */
export const show = (state) => {
  setClock(state.now, state.clockStands);
  if (state.tag === tag) return;
  shown += 1;
  tag = state.tag;
  status = state.status;
  document.title = state.title;
  document.body.dataset['status'] = status;
  showRegions(state.regions);
  if (isFinal()) notice(null);
  returnWhenOver();
};

/**
 * Another drawing of the page has been put in place.
 * @param {string} drawnTag
 */
export const setShown = (drawnTag) => {
  shown += 1;
  tag = drawnTag;
};

/** Asks for the state. True when the server answered. */
export const ask = async () => {
  const before = shown;
  try {
    const answer = await fetch(inLanguage(`${page}/state`), {
      headers: { 'if-none-match': `"${tag}"` },
      signal: AbortSignal.timeout(answer_ms),
    });
    setClock(answer.headers.get('page-time'));
    isTooOften(answer);
    const state = answer.status === 200 ? await answer.json() : null;
    if (state && shown === before) show(state);
    withdraw(sayOffline);
    offline = false;
    return answer.ok || answer.status === 304;
  } catch {
    offline = true;
    notice(sayOffline, true);
    return false;
  }
};

/**
 * Reads the state whatever is shown; null when there was no answer.
 * @returns {Promise<State | null>}
 */
export const readState = async () => {
  try {
    const answer = await fetch(inLanguage(`${page}/state`), {
      signal: AbortSignal.timeout(answer_ms),
    });
    isTooOften(answer);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
};

const askLater = () => {
  clearTimeout(timer);
  if (isFinal() && !offline) return;
  const calm = streaming && status === 'pending';
  timer = setTimeout(askNow, Math.max(calm ? calmPoll_ms : poll_ms, busyFor_ms()));
};

/** Asks now and then in intervals. A hidden page does not ask. */
export const askNow = () => {
  if (document.hidden) return;
  if (busyFor_ms() > 0) {
    askLater();
    return;
  }
  void ask().finally(askLater);
};

const listen = () => {
  const language = document.documentElement.lang;
  const source = new EventSource(`${inLanguage(`${page}/events`)}&tag=${tag}`);
  source.addEventListener('open', () => {
    streaming = true;
  });
  source.addEventListener('error', () => {
    streaming = false;
    // A stream that was refused does not come again by itself: there may be a place for it later.
    if (source.readyState === EventSource.CLOSED && !isFinal())
      setTimeout(listen, listenAgain_ms * (1 + Math.random()));
  });
  source.addEventListener('state', (event) => {
    // Another language's drawing: a switch just happened, and the next question brings the right
    // one.
    const state = JSON.parse(event.data);
    if (language === document.documentElement.lang) show(state);
    else askNow();
    if (isFinal()) source.close();
  });
};

/**
 * Starts following. A payment that is over is only looked at again when the buyer looks: it may
 * have been given back.
 */
export const follow = () => {
  // Back from the bank's app, or the network is back: look at once.
  document.addEventListener('visibilitychange', askNow);
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) askNow();
  });
  window.addEventListener('online', askNow);
  if (isFinal()) return;
  listen();
  askLater();
};
