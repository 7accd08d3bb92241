/**
 * Time left. The buyer's clock may be wrong, so the page counts by the server's. That one is the
 * shop's test clock where the shop has one, and such a clock may stand.
 */

/** The page's time minus this device's, in milliseconds. */
let offset_ms = 0;
/** Where the page's clock stands; null while it runs. @type {number | null} */
let stood_ms = null;

/** Below this the clock stands out. */
const soon_ms = 120_000;

/**
 * Sets the clock by the server's.
 * @param {string | null | undefined} now RFC 3339
 * @param {boolean} [stands] as before when it is not said
 */
export const setClock = (now, stands = stood_ms !== null) => {
  const shown = Date.parse(now ?? '');
  if (!Number.isFinite(shown)) return;
  offset_ms = shown - Date.now();
  stood_ms = stands ? shown : null;
};

/** The page's time, in milliseconds. */
export const serverNow = () => stood_ms ?? Date.now() + offset_ms;

/** A time left in words or digits. @param {number} left_ms */
const leftText = (left_ms) => {
  const seconds = Math.ceil(left_ms / 1000);
  const days = Math.floor(seconds / 86_400);
  if (days >= 2)
    return new Intl.NumberFormat(document.documentElement.lang, {
      style: 'unit',
      unit: 'day',
      unitDisplay: 'long',
    }).format(days);
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
};

/** Shows the time left; true when it has just run out. */
const tick = () => {
  const clock = document.querySelector('[data-deadline]');
  if (!clock) return false;
  const left_ms = Math.max(0, Date.parse(clock.getAttribute('data-deadline') ?? '') - serverNow());
  const text = leftText(left_ms);
  if (clock.textContent !== text) clock.textContent = text;
  clock.classList.toggle('soon', left_ms < soon_ms);
  if (left_ms > 0 || clock.hasAttribute('data-over')) return false;
  clock.setAttribute('data-over', '');
  return true;
};

/** Shows the time left now. */
export const showClock = () => void tick();

/** Counts down, and says once when the time is over. @param {() => void} over */
export const startClock = (over) => {
  tick();
  setInterval(() => {
    if (tick()) over();
  }, 500);
};
