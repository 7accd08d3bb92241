/**
 * The way back to the shop. Only the browser session that paid is sent back, and
 * once: to everybody else, and afterwards, the page is the receipt. A payment that ended before
 * anybody paid has nothing to show, so it sends everybody back.
 */

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
let timer;

/** The buyer wants to stay. */
const stay = () => {
  clearTimeout(timer);
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
  timer = setTimeout(() => location.replace(found.href), Number(found.dataset['returnAfter']));
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
