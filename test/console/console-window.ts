/** A browser's window at the console, with a session of a person. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright-core';
import pg from 'pg';
import { type Browser, watchComplaints, windowPatience_ms } from '../browser/chromium.ts';
import type { ServiceInUse } from '../support/plain-service.ts';

export interface Look {
  readonly language?: 'ru-RU' | 'en-GB';
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
}

export interface ConsoleWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: readonly string[];
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

/** Opens a window; with a cookie the person is logged in. */
export const openConsole = async (
  browser: Browser,
  rest: string,
  cookie: string | null,
  { language = 'en-GB', theme = 'light', width = 1_440 }: Look = {},
): Promise<ConsoleWindow> => {
  const context = await browser.newContext({
    locale: language,
    colorScheme: theme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(windowPatience_ms);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  if (cookie !== null) await context.addCookies([{ name: 'console', value: cookie, url: rest }]);
  const page = await context.newPage();
  return { page, context, complaints: watchComplaints(page) };
};
