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
import { isLong } from '../support/size.ts';
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

describe('the documentation', { skip: noChromium }, () => {
  let service: ServiceInUse;
  let browser: Browser;
  before(async () => {
    [service, browser] = await Promise.all([openPlainService(), startChromium()]);
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  /**
   * Opens a page and gathers what it complains of, violations of its policy and calls elsewhere
   * included.
   */
  const open = async (path: string, { width, colorScheme }: View = views[0]) => {
    const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
    const complaints = watchComplaints(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== service.rest) elsewhere.push(request.url());
    });
    await page.addInitScript(
      'addEventListener("securitypolicyviolation", ({ violatedDirective }) => console.error(`violation of ${violatedDirective}`))',
    );
    const response = await page.goto(service.rest + path);
    return {
      page,
      policy: response?.headers()['content-security-policy'] ?? '',
      complaints,
      elsewhere,
    };
  };

  const untilDrawn = (page: Page): Promise<void> =>
    page.getByRole('heading', { name: 'Payment Service Public API' }).waitFor();

  /** Axe finds nothing, once the page has come to rest, and the page has the width of the window. */
  const assertClean = async (page: Page, { width }: View): Promise<void> => {
    assert.equal(await page.getAttribute('html', 'lang'), 'en');
    await comesTo([], () => flawsOf(page));
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  };

  const directive = (policy: string, name: string): string | undefined =>
    policy.split('; ').find((one) => one.startsWith(`${name} `));

  test('runs scripts of its own files alone, and a request is tried out each time with a key of its own', async () => {
    const { key } = await makeMerchant(service);
    const { page, policy, complaints, elsewhere } = await open(
      '/docs/reference#tag/payments/POST/v1/public/payments',
    );
    assert.equal(directive(policy, 'script-src'), "script-src 'self'");
    assert.equal(directive(policy, 'default-src'), "default-src 'none'");

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
    assert.deepEqual({ complaints, elsewhere }, { complaints: [], elsewhere: [] });
    await page.close();
  });

  const places = [
    ['', 'Create a payment'],
    ['#tag/webhooks', 'Webhooks'],
    ['#description/introduction', 'Payment Service Public API'],
  ] as const;
  for (const [number, view] of views.entries()) {
    // In short, an operation in the first view and the webhooks in the second.
    const seen = places.filter((_, index) => isLong || index === number);
    test(`the reference is clean for axe at ${JSON.stringify(view)}`, async () => {
      // Where operations were once: it leads to the reference.
      const { page, complaints } = await open('/docs#tag/payments/POST/v1/public/payments', view);
      for (const [place, heading] of seen) {
        if (place) await page.goto(`${service.rest}/docs/reference${place}`);
        await page.getByRole('heading', { name: heading }).first().waitFor();
        await assertClean(page, view);
      }
      assert.deepEqual(complaints, []);
      await page.close();
    });

    for (const path of ['/docs/notes', '/docs/webhooks']) {
      test(`${path} is clean for axe and fits at ${JSON.stringify(view)}`, async () => {
        const { page, complaints } = await open(path, view);
        await assertClean(page, view);
        assert.deepEqual(complaints, []);
        await page.close();
      });
    }
  }

  test('the reference leads to the notes and to the webhooks, and back', async () => {
    const { page } = await open('/docs/notes/');
    const back = page.getByRole('link', { name: 'API reference', exact: true });
    assert.equal(await back.getAttribute('href'), '/docs/reference/');
    await page.goto(`${service.rest}/docs/webhooks/`);
    await back.click();
    await untilDrawn(page);
    for (const [name, href] of [
      ['Notes on the API', '/docs/notes/'],
      ['Verifying webhooks', '/docs/webhooks/'],
    ] as const)
      assert.equal(await page.getByRole('link', { name }).first().getAttribute('href'), href);
    await page.close();
  });
});
