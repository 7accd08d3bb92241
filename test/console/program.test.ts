/**
 * What the facade serves of the console: its weight, its policy, its addresses; and `/`. On a slow
 * network a page is there early and does not move.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { noChromium, startChromium } from '../browser/chromium.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';
import { makeSession } from './console-window.ts';

let service: ServiceInUse;
before(async () => void (service = await openPlainService()));
after(() => service.stop());

const get = (path: string, accept = 'text/html', coding = 'gzip') =>
  fetch(`${service.rest}${path}`, {
    headers: { accept, 'accept-encoding': coding },
    redirect: 'manual',
  });

/** At most so much JavaScript before the first screen can be drawn. */
const initial_max_bytes = 180 * 1_024;

describe('the console', () => {
  test('loads at most 180 KB of JavaScript at first, compressed', async (t) => {
    const page = await (await get('/console/')).text();
    const scripts = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+\.js)"/g)];
    const sizes = await Promise.all(
      scripts.map(async ([, path = '']) => {
        const answer = await get(path);
        assert.equal(answer.status, 200);
        assert.match(answer.headers.get('cache-control') ?? '', /immutable/);
        const smaller = await get(path, '*/*', 'gzip, br');
        assert.equal(smaller.headers.get('content-encoding'), 'br');
        assert.notEqual(smaller.headers.get('etag'), answer.headers.get('etag'));
        assert.equal(await smaller.clone().text(), await answer.clone().text());
        return gzipSync(Buffer.from(await answer.arrayBuffer()), { level: 9 }).length;
      }),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    t.diagnostic(`${sizes.length} scripts, ${total} bytes`);
    assert.ok(sizes.length > 0);
    assert.ok(total <= initial_max_bytes, `${total} bytes`);
  });

  test('is under a policy without anything inline, with a nonce of its own in every answer', async () => {
    const answers = await Promise.all([get('/console/'), get('/console/payments?mode=test')]);
    const nonces = await Promise.all(
      answers.map(async (answer) => {
        const policy = answer.headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'; script-src 'self';/);
        assert.doesNotMatch(policy, /unsafe|\*|data:/);
        const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
        const page = await answer.text();
        assert.ok(page.includes(`nonce="${nonce}"`));
        assert.doesNotMatch(page, /<style|<script>|\son\w+=/);
        return nonce;
      }),
    );
    assert.notEqual(nonces[0], nonces[1]);
  });

  test('answers its screens alone: what is no file and no screen is not found', async () => {
    for (const [path, status] of [
      ['/console', 303],
      ['/console/payments', 200],
      ['/console/assets/nothing.js', 404],
      ['/console/assets/..%2f..%2fpackage.json', 404],
      ['/console/favicon.ico', 404],
      ['/console/login', 404],
    ] as const)
      assert.equal((await get(path)).status, status, path);
  });
});

/** Files that a page loads before its first rows: scripts, styles, letters. */
const files_max = 8;
/** What a list comes to. */
const ready = 'main tbody tr, main .state';
/** Cumulative Layout Shift that is not noticed. */
const shift_max = 0.05;

describe('on a slow network', { skip: noChromium }, () => {
  let merchant: Merchant;
  let context: BrowserContext;
  before(async () => {
    if (noChromium) return;
    merchant = await makeMerchant(service);
    await merchant.endpoint('http://127.0.0.1:1/');
    await merchant.call('POST', '/payments', { amount: 125_000, method: 'cards' });
    // Nothing is in this window's cache.
    const browser = await startChromium();
    context = await browser.newContext({
      locale: 'ru-RU',
      viewport: { width: 1_280, height: 900 },
    });
    const cookie = await makeSession(service, 'admin');
    await context.addCookies([{ name: 'console', value: cookie, url: service.rest }]);
  });
  after(() => context?.close());

  const addressOf = (path: string): string =>
    `${service.rest}/console/${path}?mode=test&merchant=${merchant.id}`;

  /** Holds an operation's answer until the promise that `until` gives. */
  const hold = (page: Page, operation: string, until: () => Promise<unknown>) =>
    page.route('**/graphql', async (route: Route) => {
      const sent = route.request().postDataJSON() as { operationName?: string };
      if (sent.operationName !== operation) return route.fallback();
      const response = await route.fetch();
      await until();
      return route.fulfill({ response });
    });

  test('a frame is there before any script, and the rows after eight files', async () => {
    const page = await context.newPage();
    const files: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/console/assets/')) files.push(request.url());
    });
    const { promise: framed, resolve: seeFrame } = Promise.withResolvers<void>();
    await page.route('**/assets/*.js', async (route) => {
      await framed;
      await route.continue();
    });
    let atRows: readonly string[] = [];
    await hold(page, 'Payments', async () => {
      await page.locator('.skeleton div').first().waitFor();
      atRows = [...files];
    });
    await page.goto(addressOf('payments'), { waitUntil: 'commit' });
    await page.locator('.frame .sections').waitFor();
    seeFrame();
    await page.locator('tbody tr').first().waitFor();
    assert.ok(atRows.length <= files_max, atRows.join(' '));
    // What a person may open next comes behind the rows.
    await eventually(() => files.some((file) => file.includes('/dialogs-')), 'the dialogs');
    await page.close();
  });

  for (const [path, above] of [
    ['', 'Needed'],
    ['webhooks', 'Endpoints'],
  ] as const)
    test(`nothing moves when what stands above comes last: /${path}`, async () => {
      const page = await context.newPage();
      await page.addInitScript(`{
        globalThis.shift = 0;
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) globalThis.shift += value;
        }).observe({ type: 'layout-shift', buffered: true });
      }`);
      await hold(page, above, () => page.locator(ready).first().waitFor({ state: 'attached' }));
      await page.goto(addressOf(path));
      await page.locator(ready).first().waitFor();
      const shift = await page.evaluate<number>(
        'new Promise((give) => requestAnimationFrame(() => setTimeout(() => give(shift), 50)))',
      );
      assert.ok(shift <= shift_max, `${shift}`);
      await page.close();
    });
});

describe('the start page', () => {
  test('is a page for people and JSON for programs', async () => {
    const page = await get('/');
    assert.match(page.headers.get('content-type') ?? '', /text\/html/);
    assert.match(await page.text(), /href="\/console\/"/);
    const json = (await (await get('/', 'application/json')).json()) as Record<string, string>;
    assert.equal(json['console'], '/console/');
    for (const path of Object.values(json).filter((value) => value.startsWith('/docs')))
      assert.equal((await get(path)).status, 200);
  });
});
