/**
 * A real Chromium for browser tests: found, started once per process, watched for everything that a
 * clean page does not say.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  chromium,
  type BrowserContext,
  type Browser as Chromium,
  type Page,
} from 'playwright-core';
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
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser as a test file uses it. Its `close` closes the windows that were opened through it. */
export interface Browser extends Pick<Chromium, 'newContext' | 'newPage' | 'version'> {
  close(): Promise<void>;
}

const launch = async (fontSize_px: number): Promise<Chromium> => {
  const browser = await chromium.launch({
    executablePath: found ?? '',
    args: [...programArguments, `--blink-settings=defaultFontSize=${fontSize_px}`],
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

/** By the size of its letters: the files of this process share them. */
const started = new Map<number, Promise<Chromium>>();

/**
 * Gives a browser that writes letters of `fontSize_px` by default. Throws when there is none. It is
 * started once per process; windows share nothing.
 */
export const startChromium = async (fontSize_px = 16): Promise<Browser> => {
  const starting = started.get(fontSize_px) ?? launch(fontSize_px);
  started.set(fontSize_px, starting);
  const browser = await starting;
  const windows: BrowserContext[] = [];
  const newContext: Browser['newContext'] = async (options) => {
    const opened = await browser.newContext(options);
    windows.push(opened);
    return opened;
  };
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    version: () => browser.version(),
    close: async () => {
      await Promise.all(windows.splice(0).map((opened) => opened.close()));
    },
  };
};

/** How long a window waits for what is to come: a busy machine takes its time. */
export const windowPatience_ms = 60_000;

export interface Visitor {
  readonly language?: 'ru-RU' | 'en-GB' | 'de-DE';
  readonly phone?: boolean;
  readonly script?: boolean;
}

/** What the merchant's shop shows to a buyer who has come back. */
const shopPage = { contentType: 'text/html', body: '<title>shop</title>' };

/** A buyer's browser window: no cookies of others, and `https://shop.example` answers. */
export const openWindow = async (
  browser: Browser,
  { language = 'ru-RU', phone = false, script = true }: Visitor = {},
): Promise<BrowserContext> => {
  const context = await browser.newContext({
    locale: language,
    javaScriptEnabled: script,
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    hasTouch: phone,
    isMobile: phone,
  });
  context.setDefaultTimeout(windowPatience_ms);
  await context.route('https://shop.example/**', (route) => route.fulfill(shopPage));
  return context;
};

/** Answers that the browser complains of although they are meant. */
const meant = /status of (404|409|422)/;

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
