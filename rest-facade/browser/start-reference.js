/**
 * Starts the reference on `/docs/reference`. Loaded in front of the reference's own script, whose
 * load it waits for.
 */

/**
 * The library that checks the configuration would try `eval` otherwise, which the policy of the
 * page reports.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

/** @typedef {{ method: string, headers: Headers }} RequestBuilder */

/**
 * Gives each request that is tried out an idempotency key of its own. A key that the reader has
 * typed is sent as it is.
 * @param {{ request: RequestBuilder, requestBuilder?: RequestBuilder }} hook
 */
const withFreshKey = ({ request, requestBuilder: { method, headers } = request }) => {
  if (method.toUpperCase() === 'POST' && !headers.get('Idempotency-Key'))
    headers.set('Idempotency-Key', crypto.randomUUID());
};

/** The reference's own colours have less contrast than small text needs (WCAG 2.2, 1.4.3). */
const colours = `
body.light-mode {
  --scalar-color-2: #595959; --scalar-color-3: #636363; --scalar-color-green: #04694a; --scalar-color-blue: #005c93;
  --scalar-color-orange: #a33800; --scalar-color-red: #b80006; --scalar-color-query: #00595c;
}
body.dark-mode { --scalar-color-2: #b8b8b8; --scalar-color-3: #a3a3a3; }
`;

/**
 * What the reference leaves undone for screen readers and keyboards, by selector.
 * @type {readonly (readonly [selector: string, repair: (element: HTMLElement) => void])[]}
 */
const repairs = [
  // A picture alone, or beside a text that a narrow screen hides.
  [
    'a:has(svg):not([aria-label])',
    (link) =>
      void (
        link.innerText.trim() || link.setAttribute('aria-label', link.getAttribute('href') ?? '')
      ),
  ],
  [
    '.scalar-code-copy:not([aria-label="Copy"])',
    (button) => button.setAttribute('aria-label', 'Copy'),
  ],
  ['.scalar-code-copy[aria-labelledby]', (button) => button.removeAttribute('aria-labelledby')],
  // A name has to begin with the text that is seen; it is not "Show all ... endpoints".
  [
    'button.show-more[aria-label^="Show all"]',
    (button) =>
      button.setAttribute('aria-label', `${button.innerText.trim()}: ${button.ariaLabel}`),
  ],
  ['ul.endpoints:not([tabindex])', (list) => list.setAttribute('tabindex', '0')],
  // One landmark for each operation, all with one name, lead nowhere.
  ['.response-card[role="region"]', (card) => card.setAttribute('role', 'group')],
];

/** Repairs what has been drawn since, once for however many changes come together. */
const repairDrawn = () => {
  let waiting = false;
  new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      for (const [selector, repair] of repairs)
        document
          .querySelectorAll(selector)
          .forEach((element) => element instanceof HTMLElement && repair(element));
    }, 100);
  }).observe(document.body, { childList: true, subtree: true });
};

/** @typedef {{ createApiReference(root: string, configuration: object): void }} Reference */

addEventListener('DOMContentLoaded', () => {
  /** What the reference's script leaves in the page. @type {Reference} */
  const reference = Reflect.get(globalThis, 'Scalar');
  reference.createApiReference('#app', {
    url: '/v1/public/openapi.json',
    // Nothing from elsewhere: no fonts, no counting, no assistant, no proxy between the page and
    // this service.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
    favicon: 'data:,',
    customCss: colours,
    onBeforeRequest: withFreshKey,
  });
  repairDrawn();
});
