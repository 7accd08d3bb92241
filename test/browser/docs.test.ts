/**
 * The reference and the pages beside it in a real browser: the policy of the hosted page's origin,
 * trying out, narrow screens, screen readers.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { comesTo } from '../support/eventually.ts';
import { isLong, size } from '../support/size.ts';
import { type Browser, flawsOf, noChromium, startChromium, watchComplaints } from './chromium.ts';

/** How axe looks at the pages. A run of what takes long adds what is left out here. */
const views = [
  { width: 1_280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  ...(isLong
    ? ([
        { width: 390, colorScheme: 'light' },
        { width: 1_280, colorScheme: 'dark' },
      ] as const)
    : []),
] as const;
type View = (typeof views)[number];

const operation = '#tag/payments/POST/v1/public/payments';

describe('the documentation', { skip: noChromium }, () => {
  let service: ServiceInUse;
  let browser: Browser;
  /** To load the reference costs more than all else here: this page loads it once. */
  let page: Page;
  let complaints: readonly string[];
  const elsewhere: string[] = [];
  before(async () => {
    [service, browser] = await Promise.all([openPlainService(), startChromium()]);
    page = await browser.newPage();
    complaints = watchComplaints(page);
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== service.rest) elsewhere.push(request.url());
    });
    await page.addInitScript(
      'addEventListener("securitypolicyviolation", ({ violatedDirective }) => console.error(`violation of ${violatedDirective}`))',
    );
    // Where operations were once: it leads to the reference.
    await page.goto(`${service.rest}/docs${operation}`);
    await page.getByRole('heading', { name: 'Create a payment' }).first().waitFor();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  /** The page complained of nothing: violations of its policy and calls elsewhere included. */
  const assertQuiet = (): void =>
    assert.deepEqual({ complaints, elsewhere }, { complaints: [], elsewhere: [] });

  const show = async ({ width, colorScheme }: View): Promise<void> => {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
  };

  /** Axe finds nothing, once the page has come to rest, and the page has the width of the window. */
  const assertClean = async (view: View): Promise<void> => {
    await show(view);
    assert.equal(await page.getAttribute('html', 'lang'), 'en');
    await comesTo([], () => flawsOf(page));
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), view.width);
  };

  test('the reference runs scripts of its own files alone, and leads to the guides by their short addresses, and back', async () => {
    const { headers } = await fetch(`${service.rest}/docs/reference`);
    const policy = (headers.get('content-security-policy') ?? '').split('; ');
    assert.ok(policy.includes("script-src 'self'"), String(policy));
    assert.ok(policy.includes("default-src 'none'"), String(policy));
    for (const [name, path, guide] of [
      ['Details of the API', '/docs/notes/', 'details'],
      ['Verify webhooks', '/docs/webhooks/', 'verify-webhooks'],
    ] as const) {
      assert.equal(await page.getByRole('link', { name }).first().getAttribute('href'), path);
      for (const language of ['en', 'ru']) {
        const headers = { 'accept-language': language };
        const { url } = await fetch(service.rest + path, { headers });
        assert.equal(url, `${service.rest}/docs/${language}/${guide}/`);
      }
      const headers = { 'accept-language': 'en' };
      const text = await (await fetch(service.rest + path, { headers })).text();
      assert.match(text, /<a [^>]*href="\/docs\/reference\/"[^>]*>API reference<\/a>/);
    }
    // Where the search of the guides leads to an operation.
    await page.evaluate("location.hash = '#tag/payouts/POST/v1/public/payouts/batch'");
    await page.getByRole('heading', { name: 'Create a batch of payouts' }).first().waitFor();
    assertQuiet();
  });

  // In short, one operation.
  const places = [
    [operation, 'Create a payment'],
    ...(isLong
      ? ([
          ['#tag/webhooks', 'Webhooks'],
          ['#description/introduction', 'Payment Service Public API'],
        ] as const)
      : []),
  ] as const;
  // The reference is a package's: in short, one look at it.
  for (const view of size<readonly View[]>(views.slice(0, 1), views))
    test(`the reference is clean for axe at ${JSON.stringify(view)}`, async () => {
      // The reference keeps more than its style of the look that it was loaded in.
      if (isLong) {
        await page.goto(`${service.rest}/docs/changelog`);
        await show(view);
        await page.goto(`${service.rest}/docs/reference${operation}`);
      }
      for (const [place, heading] of places) {
        await page.evaluate(`location.hash = '${place}'`);
        await page.getByRole('heading', { name: heading }).first().waitFor();
        await assertClean(view);
      }
      assertQuiet();
    });

  test('a request is tried out each time with a key of its own', async () => {
    const { key } = await makeMerchant(service);
    await page.evaluate(`location.hash = '${operation}'`);
    await show(views[0]);
    const keys: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
    });
    await page.getByPlaceholder('Token').first().fill(key);
    await page
      .getByRole('button', { name: /^test request/i })
      .first()
      .click();
    for (let sent = 1; sent <= 2; sent += 1) {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button', { name: /^send/i }).first().click();
      assert.equal((await answered).status(), 201, `try ${sent}`);
      await page.getByText('201 Created').first().waitFor();
    }
    assert.equal(keys.length, 2);
    assert.equal(new Set(keys).size, 2);
    for (const sent of keys) assert.match(sent ?? '', /^[0-9a-f-]{36}$/);
    assertQuiet();
  });

  for (const path of ['/docs/changelog'])
    test(`${path} is clean for axe and fits`, async () => {
      await page.goto(service.rest + path);
      for (const view of views) await assertClean(view);
      assertQuiet();
    });
});
