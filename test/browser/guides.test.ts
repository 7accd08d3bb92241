/**
 * The guides in a real browser: screen readers, narrow screens, both themes and languages, tabs by
 * the keyboard, search, and everything but that without script.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { guideLanguages, guideNames, guidePath } from '../../rest-facade/guides/pages.ts';
import { makeMerchant } from '../support/merchant.ts';
import { operatorToken } from '../support/service.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { isLong } from '../support/size.ts';
import { type Browser, flawsOf, noChromium, startChromium, watchComplaints } from './chromium.ts';

const widths = [1_440, 390] as const;
const colorSchemes = ['light', 'dark'] as const;

/**
 * How a page is looked at, by the numbers of its name and its language: every fourth page once, by
 * turns in each language, width and theme, for all have one frame. A run of what takes long looks at
 * each page twice in each language.
 */
const looksOf = (name: number, language: number) => {
  const looks = [0, 1].map((turn) => ({
    width: widths[(Math.floor(name / 8) + turn) % 2] ?? widths[0],
    colorScheme: colorSchemes[(Math.floor(name / 16) + turn) % 2] ?? colorSchemes[0],
  }));
  if (isLong) return looks;
  return name % 8 === language * 4 ? looks.slice(0, 1) : [];
};

describe('the guides in a browser', { skip: noChromium }, () => {
  let service: ServiceInUse;
  let browser: Browser;
  before(async () => {
    [service, browser] = await Promise.all([openPlainService(), startChromium()]);
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints = watchComplaints(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== service.rest) elsewhere.push(request.url());
    });
    const response = await page.goto(service.rest + path);
    assert.equal(response?.status(), 200, path);
    return { page, complaints, elsewhere };
  };

  const pathsOf = (language: (typeof guideLanguages)[number]): readonly string[] => [
    `/docs/${language}/`,
    ...guideNames.map((name) => guidePath(language, name)),
  ];

  /** The page has the width that there is: all of a telephone's, and room for a line of code. */
  const assertFits = async (page: Page, width: number): Promise<void> => {
    await page.setViewportSize({ width, height: 900 });
    const used = await page.evaluate('document.documentElement.scrollWidth');
    const wide = await page.evaluate(
      "[...document.querySelectorAll('main *')].filter((one) => !one.closest('pre, .wide') && one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 100))",
    );
    assert.deepEqual([used, wide], [width, []]);
    const text = (await page.locator('main').boundingBox())?.width ?? 0;
    assert.ok(text >= Math.min(640, width - 40), `the text is ${text} wide`);
  };

  for (const [inLanguage, language] of guideLanguages.entries())
    test(`every page in ${language} is clean for axe and fits, wide and narrow`, async (t) => {
      const { page, complaints, elsewhere } = await open(`/docs/${language}/`);
      for (const [name, path] of pathsOf(language).entries()) {
        const looks = looksOf(name, inLanguage);
        if (looks.length === 0) continue;
        await t.test(path, async () => {
          const before = complaints.length;
          assert.equal((await page.goto(service.rest + path))?.status(), 200);
          assert.equal(await page.getAttribute('html', 'lang'), language);
          for (const { width, colorScheme } of looks) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize({ width, height: 900 });
            assert.deepEqual(await flawsOf(page), [], `${width} ${colorScheme}`);
          }
          for (const width of widths) await assertFits(page, width);
          assert.deepEqual([complaints.slice(before), elsewhere], [[], []]);
        });
      }
      await page.context().close();
    });

  test('every link between pages of the documentation leads to a page, in the same language', async () => {
    const known = new Map<string, string>();
    const textOf = async (path: string): Promise<string> => {
      const text = known.get(path) ?? (await (await fetch(service.rest + path)).text());
      known.set(path, text);
      return text;
    };
    let links = 0;
    for (const path of guideLanguages.flatMap(pathsOf)) {
      const [, main = ''] = /<main[^>]*>([^]*)<\/main>/.exec(await textOf(path)) ?? [];
      for (const [, href = ''] of main.matchAll(/ href="([^"]+)"/g)) {
        links += 1;
        const url = new URL(href, service.rest + path);
        assert.ok(
          !/^\/docs\/(en|ru)\//.test(url.pathname) || url.pathname.startsWith(path.slice(0, 9)),
        );
        if (url.origin !== service.rest || url.pathname.startsWith('/console')) continue;
        const text = await textOf(url.pathname);
        const isFile = url.pathname.startsWith('/docs/webhooks/');
        if (!isFile) assert.match(text, /^(<!doctype html>|\{)/i, `${path} leads to ${href}`);
        const anchor = decodeURIComponent(url.hash.slice(1));
        if (anchor) assert.ok(text.includes(` id="${anchor}"`), `${path} leads to ${href}`);
      }
    }
    assert.ok(links > 20, `saw only ${links} links`);
  });

  test('an address that is none is a page to a browser, in its language, and JSON to a program', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${service.rest}/docs/nothing`, { headers });
    const page = await ask({ accept: 'text/html,*/*', 'accept-language': 'ru' });
    assert.equal(page.status, 404);
    assert.match(await page.text(), /По этому адресу ничего нет[^]*href="\/docs\/ru\/"/);
    const answer = await ask({});
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as any).error.code, 'not_found');
  });

  test('the first page speaks the language of the reader, and links the other one', async () => {
    for (const [locale, language] of [
      ['ru-RU', 'ru'],
      ['de-DE', 'en'],
    ] as const) {
      const { page } = await open('/docs', { locale });
      assert.equal(await page.getAttribute('html', 'lang'), language);
      await page.locator('a.language').click();
      await page.waitForURL(`**/docs/${language === 'ru' ? 'en' : 'ru'}/`);
      await page.context().close();
    }
  });

  test('a test key stands in every example, typed or made by the session of the console; a live one never', async () => {
    const merchant = await makeMerchant(service);
    const { page, complaints } = await open('/docs/en/accept-a-payment/');
    const status = page.locator('.own-key [role=status]');
    const code = page.locator('#code-create [data-language="sh"] pre code');
    const [field, put] = [
      page.getByLabel('Test key'),
      page.getByRole('button', { name: 'Put it there' }),
    ];
    await field.fill('sk_live_abc_def');
    await put.click();
    assert.match((await status.textContent()) ?? '', /live key does not belong/);
    assert.match((await code.textContent()) ?? '', /\$PSP_API_KEY/);
    await field.fill('sk_test_abc_def');
    await put.click();
    assert.match((await code.textContent()) ?? '', /Bearer sk_test_abc_def"/);
    const made = await fetch(`${service.rest}/console/links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ person: 'ivan', role: 'admin', merchant: merchant.id }),
    });
    const { url }: any = await made.json();
    const entered = await page.context().request.post(`${service.rest}/console/session`, {
      headers: { 'x-console': 'session', origin: service.rest },
      data: { link: url.split('#')[1], replace: true },
    });
    assert.equal(entered.status(), 201);
    await page.goto(`${service.rest}/docs/en/quickstart/`);
    await page.getByRole('button', { name: 'Create a test key' }).click();
    await page
      .locator('#code-read [data-language="sh"] pre code', { hasText: /Bearer sk_test_(?!abc)/ })
      .waitFor({ state: 'attached' });
    for (const language of ['sh', 'ts', 'py', 'php'])
      assert.match(
        (await page.locator(`#code-setup [data-language="${language}"] pre code`).textContent()) ??
          '',
        /sk_test_(?!abc|\.)\w+/,
        language,
      );
    const text =
      (await page.locator('#code-read [data-language="sh"] pre code').textContent()) ?? '';
    const [, key = ''] = /Bearer (sk_test_\w+)"/.exec(text) ?? [];
    const answer = await fetch(`${service.rest}/v1/public/balance`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(answer.status, 200);
    assert.deepEqual([await flawsOf(page), complaints], [[], []]);
    await page.context().close();
  });

  test('search leads to an operation of the reference', async () => {
    for (const [path, typed] of [
      ['/docs/en/', 'POST payouts/batch'],
      ['/docs/ru/', 'payouts/batch'],
    ] as const) {
      const { page } = await open(path);
      await page.getByRole('searchbox').fill(typed);
      const found = page.locator('.found a[href^="/docs/reference/"]').first();
      // The test of the reference looks at what is there.
      assert.equal(
        await found.getAttribute('href'),
        '/docs/reference/#tag/payouts/POST/v1/public/payouts/batch',
      );
      await page.context().close();
    }
  });

  test('tabs are moved through by arrows, on the whole page at once, and are remembered', async () => {
    const { page } = await open('/docs/en/accept-a-payment/');
    const tab = (name: string) => page.getByRole('tab', { name });
    const code = page.locator('#code-create [data-language="ts"]');
    assert.equal(await code.isVisible(), false);
    await tab('curl').first().focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await tab('TypeScript').first().getAttribute('aria-selected'), 'true');
    assert.ok(await code.isVisible());
    assert.ok(await page.locator('#code-list [data-language="ts"]').isVisible());
    assert.ok(!(await page.locator('#code-create [data-language="sh"]').isVisible()));
    assert.ok(await page.locator('#code-read [data-language="json"]').isVisible());
    await page.reload();
    await code.waitFor();
    await tab('TypeScript').first().focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await code.isVisible(), false);
    await page.context().close();
  });

  test('without script every snippet is there in each language, and nothing that would not work', async () => {
    const { page } = await open('/docs/ru/accept-a-payment/', { javaScriptEnabled: false });
    for (const language of ['sh', 'ts'])
      assert.ok(await page.locator(`#code-create [data-language="${language}"]`).isVisible());
    assert.equal(await page.locator('.search').isVisible(), false);
    assert.equal(await page.getByRole('tab').count(), 0);
    await page.context().close();
  });

  for (const [path, typed, title] of [
    ['/docs/en/', 'cancelling', 'Accept a payment: Cancel it'],
    ['/docs/ru/', 'отменять платеж', 'Приём платежа: Отмена'],
  ] as const)
    test(`search in ${path} finds another form of a word, and is left by the keyboard`, async () => {
      const { page, complaints } = await open(path);
      await page.keyboard.press('/');
      await page.keyboard.type(typed);
      const found = page.locator('.found a', { hasText: title }).first();
      await found.waitFor();
      assert.deepEqual(await flawsOf(page), []);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      assert.equal(await found.isVisible(), false);
      await page.keyboard.press('Backspace');
      await found.waitFor();
      await found.click();
      await page.waitForURL('**/accept-a-payment/#*');
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
});
