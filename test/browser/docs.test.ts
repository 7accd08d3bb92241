/**
 * The reference and the pages beside it in a real browser: the policy of the hosted page's origin,
 * trying out, narrow screens, screen readers.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { type Browser, noChromium, startChromium, watchComplaints } from './chromium.ts';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The reference is four megabytes of script, and the machine may be busy. */
const patience_ms = 120_000;

interface View {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
}

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
  const open = async (path: string, { width = 1_280, colorScheme = 'light' }: View = {}) => {
    const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
    page.setDefaultTimeout(patience_ms);
    const complaints = watchComplaints(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== service.rest) elsewhere.push(request.url());
    });
    await page.addInitScript(
      'addEventListener("securitypolicyviolation", ({ violatedDirective }) => console.error(`violation of ${violatedDirective}`))',
    );
    const response = await page.goto(service.rest + path, { timeout: patience_ms });
    return {
      page,
      policy: response?.headers()['content-security-policy'] ?? '',
      complaints,
      elsewhere,
    };
  };

  const untilDrawn = (page: Page): Promise<void> =>
    page.getByRole('heading', { name: 'Payment Service Public API' }).waitFor();

  /** What axe finds, once the page has come to rest. */
  const flawsOf = async (page: Page): Promise<readonly string[]> => {
    await page.evaluate(`${axe}; 0`);
    const find =
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))';
    let flaws: readonly string[] = [];
    for (let look = 0; look < 10; look += 1) {
      flaws = await page.evaluate(find);
      if (flaws.length === 0) return flaws;
      await page.waitForTimeout(500);
    }
    return flaws;
  };

  const widthOf = (page: Page): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth');

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

  for (const view of [
    { width: 1_280 },
    { width: 390 },
    { width: 1_280, colorScheme: 'dark' },
  ] as const) {
    const places = [
      ['/docs/reference', 'Payment Service Public API'],
      // Where operations were once: it leads to the reference.
      ['/docs#tag/payments/POST/v1/public/payments', 'Create a payment'],
      ['/docs/reference#tag/webhooks', 'Webhooks'],
    ] as const;
    for (const [path, heading] of places) {
      test(`${path} is clean for axe at ${JSON.stringify(view)}`, async () => {
        const { page, complaints } = await open(path, view);
        await page.getByRole('heading', { name: heading }).first().waitFor();
        assert.equal(await page.getAttribute('html', 'lang'), 'en');
        assert.deepEqual(await flawsOf(page), []);
        assert.equal(await widthOf(page), view.width);
        assert.deepEqual(complaints, []);
        await page.close();
      });
    }

    for (const path of ['/docs/notes', '/docs/webhooks']) {
      test(`${path} is clean for axe and fits at ${JSON.stringify(view)}`, async () => {
        const { page, complaints } = await open(path, view);
        assert.equal(await page.getAttribute('html', 'lang'), 'en');
        assert.deepEqual(await flawsOf(page), []);
        assert.equal(await widthOf(page), view.width);
        assert.deepEqual(complaints, []);
        await page.close();
      });
    }
  }

  for (const [name, href] of [
    ['Notes on the API', '/docs/notes/'],
    ['Verifying webhooks', '/docs/webhooks/'],
  ] as const) {
    test(`the reference leads to ${href}, and back`, async () => {
      const { page } = await open('/docs/reference');
      await untilDrawn(page);
      const link = page.getByRole('link', { name }).first();
      assert.equal(await link.getAttribute('href'), href);
      await page.goto(new URL(href, page.url()).href);
      await page.getByRole('link', { name: 'API reference', exact: true }).click();
      await untilDrawn(page);
      await page.close();
    });
  }
});
