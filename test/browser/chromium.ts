/**
 * A real Chromium for browser tests: found, started once per process, watched for everything that a
 * clean page does not say.
 */
import assert from 'node:assert/strict';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { getTestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  chromium,
  type BrowserContext,
  type Browser as Chromium,
  type Page,
} from 'playwright-core';
import { patience_ms } from '../support/eventually.ts';
import { countBrowser } from '../support/file-cost.ts';
import { closeAtEnd } from '../support/shared.ts';

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const found =
  process.env['CHROMIUM'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isProgram);

/**
 * For `describe(name, { skip: noChromium }, ...)`: why browser tests cannot run here, or false when
 * they can.
 */
export const noChromium: string | false = found
  ? false
  : 'CHROMIUM names no browser, and PATH holds none';

const programArguments = [
  '--no-sandbox',
  '--disable-gpu',
  // A process that only draws costs a tenth of a file's CPU.
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The windows of a test file share one.
  '--renderer-process-limit=1',
  '--blink-settings=defaultFontSize=16',
  // No page lives long enough to win back what its scripts cost to compile: axe takes half as long.
  '--js-flags=--no-opt --no-maglev --no-sparkplug',
];

/**
 * A browser as a test file uses it: its windows are patient, and its `close` closes the windows that
 * were opened through it.
 */
export interface Browser extends Pick<Chromium, 'newContext' | 'newPage'> {
  close(): Promise<void>;
}

const launch = async (): Promise<Chromium> => {
  const browser = await chromium.launch({
    executablePath: found ?? '',
    args: programArguments,
    timeout: patience_ms,
  });
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  const endCounting = countBrowser(processInfo.find(({ type }) => type === 'browser')?.id ?? 0);
  closeAtEnd(async () => {
    endCounting();
    await browser.close();
  });
  return browser;
};

/** Closes a window that is open. What its pages still ask for is no longer the test's concern. */
const closeWindow = async (window: BrowserContext): Promise<void> => {
  if (!window.browser()?.contexts().includes(window)) return;
  const routed = [window, ...window.pages()];
  await Promise.all(routed.map((one) => one.unrouteAll({ behavior: 'ignoreErrors' })));
  await window.close();
};

/** The files of this process share it. */
let starting: Promise<Chromium> | null = null;

/**
 * Gives a browser. Throws when there is none. It is started once per process; windows share
 * nothing.
 */
export const startChromium = async (): Promise<Browser> => {
  starting ??= launch();
  const browser = await starting;
  const windows: BrowserContext[] = [];
  const newContext: Browser['newContext'] = async (options) => {
    const opened = await browser.newContext(options);
    opened.setDefaultTimeout(patience_ms);
    windows.push(opened);
    return opened;
  };
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    close: async () => {
      await Promise.all(windows.splice(0).map(closeWindow));
    },
  };
};

export interface Visitor {
  readonly language?: 'ru-RU' | 'en-GB' | 'de-DE';
  readonly phone?: boolean;
  readonly script?: boolean;
  /** The test moves the time of the page's scripts with `page.clock`. */
  readonly clock?: boolean;
}

/** What the merchant's shop shows to a buyer who has come back. */
const shopPage = { contentType: 'text/html', body: '<title>shop</title>' };

/**
 * A buyer's browser window: no cookies of others, and `https://shop.example` answers. It is closed at
 * the end of the test that opens it.
 */
export const openWindow = async (
  browser: Browser,
  { language = 'ru-RU', phone = false, script = true, clock = false }: Visitor = {},
): Promise<BrowserContext> => {
  const context = await browser.newContext({
    locale: language,
    javaScriptEnabled: script,
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    hasTouch: phone,
    isMobile: phone,
    // Animations are drawn all the time, and cost CPU.
    reducedMotion: 'reduce',
  });
  if (clock) await context.clock.install();
  // An open page keeps polling.
  const test = getTestContext();
  if (test && 'after' in test) test.after(() => closeWindow(context));
  await context.route('https://shop.example/**', (route) => route.fulfill(shopPage));
  return context;
};

/**
 * Answers that the browser complains of although they are meant. With 429 a document is told to wait,
 * as on a busy machine it may be; the console sends it again.
 */
const meant = /status of (404|409|422|429)/;

/**
 * Gathers what the page's console says of errors, violations of the policy included, and what it
 * throws.
 */
export const watchComplaints = (page: Page): readonly string[] => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !meant.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
};

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Runs in the page. */
const runAxe = `axe.run({ resultTypes: ['violations'] }).then(({ violations, passes }) => ({
  passed: passes.length,
  flaws: violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' at ' + target.join(' ') + ': ' + failureSummary)),
}))`;

/** What axe finds wrong with the page as it is, in words. */
export const flawsOf = async (page: Page): Promise<readonly string[]> => {
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    // `page.evaluate` takes twice as long, for it compiles the program anew each time.
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: `${axe}; 0` });
    await session.detach();
  }
  const { passed, flaws } = await page.evaluate<{
    readonly passed: number;
    readonly flaws: readonly string[];
  }>(runAxe);
  assert.ok(passed > 10, 'axe looked at the page');
  return flaws;
};
