/** A browser's window at the console, with a session of a person. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright-core';
import pg from 'pg';
import { type Browser, watchComplaints } from '../browser/chromium.ts';
import { patience_ms } from '../support/eventually.ts';
import type { ServiceInUse } from '../support/plain-service.ts';

export interface ConsoleWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: readonly string[];
  /** Ends what the person did here, and keeps the window for the next person of the file. */
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

const openPage = async (browser: Browser, language: Language): Promise<Page> => {
  const context = await browser.newContext({
    locale: language,
    viewport: { width: 1_440, height: 900 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(patience_ms);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return context.newPage();
};

/**
 * Windows that people have left, by their language: a new one would start a process and compile the
 * console again, which takes three times as long.
 */
const left = new WeakMap<Browser, Map<Language, Page[]>>();

/** Opens a window; with a cookie the person is logged in. */
export const openConsole = async (
  browser: Browser,
  rest: string,
  cookie: string | null,
  { language = 'en-GB' }: { readonly language?: Language } = {},
): Promise<ConsoleWindow> => {
  const ofBrowser = left.get(browser) ?? new Map<Language, Page[]>();
  left.set(browser, ofBrowser);
  const page = ofBrowser.get(language)?.pop() ?? (await openPage(browser, language));
  const context = page.context();
  if (cookie !== null) await context.addCookies([{ name: 'console', value: cookie, url: rest }]);
  const leave = async (): Promise<void> => {
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // A page of the service without a program, which would keep something again.
    await page.goto(`${rest}/readyz`);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await context.clearCookies();
    ofBrowser.set(language, [...(ofBrowser.get(language) ?? []), page]);
  };
  return { page, context, complaints: watchComplaints(page), leave };
};
