/**
 * The parts of the page that follow the payment. The server draws them; here they are put in place
 * when they changed, without taking away what the buyer is doing: typed text stays, focus goes
 * where it makes sense, changes are announced.
 */

const names = /** @type {const} */ (['ribbon', 'summary', 'panel']);

/**
 * What the server last drew, as the browser writes it.
 * @type {Map<string, string>}
 */
const drawn = new Map();

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
const part = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
};

/** @typedef {import('../words/en.ts').Words} Words */

/**
 * What this page says by itself, in its language.
 * @returns {Words['browser'] & Pick<Words, 'refusals' | 'refused'>}
 */
export const words = () => JSON.parse(document.body.dataset['words'] ?? '{}');

/**
 * Says a text to screen readers.
 * @param {string} text
 */
export const announce = (text) => {
  part('live').textContent = text;
};

/**
 * What the message over the panel says, in the page's language.
 * @type {(() => string) | null}
 */
let said = null;

/**
 * Shows a message over the panel; null takes it away.
 * @param {(() => string) | null} say asked again when the language changes
 * @param {boolean} calm nothing is wrong with the payment
 */
export const notice = (say, calm = false) => {
  const place = part('notice');
  const isNew = say !== null && say() !== place.textContent;
  said = say;
  if (place.hidden && say === null) return;
  place.hidden = say === null;
  if (isNew || say === null) place.textContent = say?.() ?? '';
  place.classList.toggle('calm', calm);
  if (isNew) place.scrollIntoView({ block: 'nearest' });
};

/**
 * Takes a message away if it is the one that is shown.
 * @param {() => string} say
 */
export const withdraw = (say) => {
  if (said === say) notice(null);
};

/**
 * A refusal's words by its code.
 * @param {string} code
 */
export const refusal = (code) => {
  const { refusals, refused } = words();
  return Object.entries(refusals).find(([known]) => known === code)?.[1] ?? refused;
};

/** What waits for this module may be used now. */
export const wake = () => {
  document.body.dataset['awake'] = 'yes';
  for (const control of document.querySelectorAll('[data-wakes]'))
    control.removeAttribute('disabled');
};

/** Remembers what the server drew into the page. Called once, before anything is changed. */
export const rememberRegions = () => {
  for (const name of names) drawn.set(name, part(name).innerHTML);
};

/**
 * Carries what was typed and chosen over to the new drawing.
 * @param {Element} from
 * @param {Element} to
 */
const carryOver = (from, to) => {
  for (const input of from.querySelectorAll('input')) {
    const twin = input.id ? to.querySelector(`#${CSS.escape(input.id)}`) : null;
    if (!(twin instanceof HTMLInputElement)) continue;
    if (input.type === 'radio') twin.checked = input.checked;
    else twin.value = input.value;
    // What was said of it is said again, in the language of the new drawing.
    twin.toggleAttribute('data-flaw', input.hasAttribute('data-flaw'));
  }
  for (const opened of from.querySelectorAll('details[id][open]'))
    to.querySelector(`#${CSS.escape(opened.id)}`)?.setAttribute('open', '');
};

/**
 * Puts a new drawing in place.
 * @param {string} name
 * @param {HTMLElement} place
 * @param {Element} fresh
 */
const redraw = (name, place, fresh) => {
  const active = document.activeElement;
  // A pressed button that is disabled loses focus to the body.
  const hadFocus =
    name === 'panel' && (place.contains(active) || active === document.body || active === null);
  const focusedId = place.contains(active) ? active?.id : undefined;
  carryOver(place, fresh);
  place.replaceChildren(...fresh.childNodes);
  wake();
  document.dispatchEvent(new Event('redrawn'));
  const same = focusedId ? document.getElementById(focusedId) : null;
  const heading = place.querySelector('[tabindex="-1"]');
  if (same) same.focus();
  else if (hadFocus && heading instanceof HTMLElement) heading.focus({ preventScroll: true });
};

/** The panel's words, to be said when it changed. */
const panelWords = () => {
  /** @param {string} selector */
  const textsOf = (selector) =>
    [...part('panel').querySelectorAll(selector)].map((text) => text.textContent?.trim() ?? '');
  return [...textsOf('.panel-title').map((title) => `${title}.`), ...textsOf('.panel-text')].join(
    ' ',
  );
};

// Time left. The buyer's clock may be wrong, so the page counts by the server's. That one is the
// shop's test clock where the shop has one, and such a clock may stand.

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

/** Counts down, and says once when the time is over. @param {() => void} over */
export const startClock = (over) => {
  tick();
  setInterval(() => {
    if (tick()) over();
  }, 500);
};

/**
 * Puts the regions in place that changed.
 * @param {Readonly<Record<string, string>>} regions markup by region
 */
export const showRegions = (regions) => {
  for (const name of names) {
    const fresh = document.createElement('template');
    fresh.innerHTML = regions[name] ?? '';
    if (fresh.innerHTML === drawn.get(name)) continue;
    drawn.set(name, fresh.innerHTML);
    const holder = document.createElement('div');
    holder.append(fresh.content);
    redraw(name, part(name), holder);
    if (name !== 'panel') continue;
    announce(panelWords());
    if (part('panel').getBoundingClientRect().top < 0) window.scrollTo({ top: 0 });
  }
  tick();
};

/**
 * Shows the page that the server drew in another language.
 * @param {Document} page
 */
export const showLanguage = (page) => {
  document.documentElement.lang = page.documentElement.lang;
  document.title = page.title;
  document.body.dataset['words'] = page.body.dataset['words'] ?? '{}';
  /** @type {Record<string, string>} */
  const regions = {};
  for (const name of names) regions[name] = page.getElementById(name)?.innerHTML ?? '';
  for (const id of ['top', 'asleep', 'foot'])
    part(id).innerHTML = page.getElementById(id)?.innerHTML ?? '';
  part('summary').setAttribute(
    'aria-label',
    page.getElementById('summary')?.getAttribute('aria-label') ?? '',
  );
  showRegions(regions);
  if (said) part('notice').textContent = said();
};
