/** A browser's window at the console, with a session of a person. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { getTestContext } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import pg from 'pg';
import { startChromium, watchComplaints } from '../browser/chromium.ts';
import type { ServiceInUse } from '../support/plain-service.ts';

export interface ConsoleWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: readonly string[];
  /** Ends what the person did here before the end of the test: the next person may have the window. */
  leave(): Promise<void>;
}

/** A session as the login makes it, written beside the service. Gives the cookie's value. */
export const makeSession = async (
  { databaseUrl }: Pick<ServiceInUse, 'databaseUrl'>,
  role: 'viewer' | 'support' | 'finance' | 'admin',
  merchantId: string | null = null,
): Promise<string> => {
  const secret = randomBytes(32).toString('base64url');
  const digest = createHash('sha256').update(secret).digest('hex');
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query(
      `insert into console_session (digest, id, subject, role, merchant_id, created_at, seen_at, ends_at)
        values ($1, $2, $3, $4, $5, now(), now(), now() + interval '1 hour')`,
      [digest, randomUUID(), `a ${role}`, role, merchantId],
    );
  } finally {
    await database.end();
  }
  return secret;
};

type Language = 'ru-RU' | 'en-GB';

const openPage = async (language: Language): Promise<Page> => {
  const browser = await startChromium();
  const context = await browser.newContext({
    locale: language,
    reducedMotion: 'reduce',
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return context.newPage();
};

/**
 * Windows that people have left, by their language, for all files of this process: a new one would
 * start a process and compile the console again, which takes three times as long.
 */
const left = new Map<Language, Page[]>();

const listenedTo = ['console', 'pageerror', 'request', 'websocket'] as const;

/**
 * Opens a window; with a cookie the person is logged in. At the end of the test that opens it, the
 * person leaves.
 */
export const openConsole = async (
  rest: string,
  cookie: string | null,
  { language = 'en-GB' }: { readonly language?: Language } = {},
): Promise<ConsoleWindow> => {
  const page = left.get(language)?.pop() ?? (await openPage(language));
  const context = page.context();
  await page.setViewportSize({ width: 1_440, height: 900 });
  if (cookie !== null) await context.addCookies([{ name: 'console', value: cookie, url: rest }]);
  let isHere = true;
  const leave = async (): Promise<void> => {
    if (!isHere || page.isClosed()) return;
    isHere = false;
    for (const other of context.pages()) if (other !== page) await other.close();
    for (const event of listenedTo) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // A page of the service without a program, which would keep something again.
    await page.goto(`${rest}/readyz`);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await context.clearCookies();
    left.set(language, [...(left.get(language) ?? []), page]);
  };
  const test = getTestContext();
  if (test && 'after' in test) test.after(leave);
  return { page, context, complaints: watchComplaints(page), leave };
};

/**
 * Goes from a screen of the console to another as its links do: to load the page anew costs six
 * times as much.
 */
export const go = (page: Page, url: string): Promise<void> =>
  page.evaluate<void>(`history.pushState({}, '', ${JSON.stringify(url)})`);
