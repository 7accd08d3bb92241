/** Counts of sections and lists without events of their own: they follow within a second. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { type Browser, noChromium, startChromium } from '../browser/chromium.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let browser: Browser;
before(async () => {
  if (noChromium) return;
  [service, browser] = await Promise.all([openPlainService(), startChromium()]);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const propose = async (of: Merchant, fullName: string): Promise<void> => {
  const { draft } = await askGraph(
    service,
    `mutation ($m: ID!, $s: ID!, $name: String!) { draft: payoutDraftCreate(merchantId: $m, shopId: $s, mode: test, reason: "Rent",
      input: { amount: 5000, phone: "+79161234567", bankId: "100000000111", fullName: $name }) { __typename } }`,
    { m: of.id, s: of.shopId, name: fullName },
  );
  assert.equal(draft.__typename, 'PayoutDraftCreated');
};

const openAt = async (merchant: Merchant, path: string) => {
  const cookie = await makeSession(service, 'admin', merchant.id);
  const { page, context } = await openConsole(browser, service.rest, cookie);
  await page.goto(`${service.rest}/console/${path}`);
  await page.locator('.live-dot[data-open=true]').waitFor();
  return { page, context };
};

/** The questions of lists that a page sends from now on. */
const watchQuestions = (page: Page): string[] => {
  const names: string[] = [];
  page.on('request', (request) => {
    const name = /"operationName":"(\w+)"/.exec(request.postData() ?? '')?.[1];
    if (name) names.push(name);
  });
  return names;
};

/** While its connection is open a page looks by itself only once a minute. */
const soon = async (shown: Locator): Promise<void> => shown.waitFor({ timeout: 20_000 });

/** Longer than the first questions of a page, and than the rest of its subscription. */
const calm_ms = 1_500;

describe('what people do elsewhere', { skip: noChromium }, () => {
  test('is in the list of drafts, its count, home and the audit log without their being looked at', async () => {
    const merchant = await makeMerchant(service);
    const paths = ['payouts?mode=test&tab=drafts', '?mode=test', 'audit?mode=test'];
    const [drafts, home, audit] = await Promise.all(paths.map((path) => openAt(merchant, path)));
    assert.ok(drafts && home && audit);
    await drafts.page.waitForTimeout(calm_ms);
    await propose(merchant, 'Petrov I.');
    await Promise.all([
      soon(drafts.page.getByRole('row', { name: /Petrov I\./ })),
      soon(drafts.page.getByRole('link', { name: /1 Payouts to approve/ })),
      soon(home.page.getByRole('listitem').filter({ hasText: 'Petrov I.' })),
      soon(audit.page.getByRole('row', { name: /Payout proposed/ })),
    ]);
    for (const { context } of [drafts, home, audit]) await context.close();
  });

  test('is asked for once a second, however much there is', async () => {
    const merchant = await makeMerchant(service);
    const { page, context } = await openAt(merchant, 'audit?mode=test');
    await page.waitForTimeout(calm_ms);
    const names = watchQuestions(page);
    const began_ms = performance.now();
    let changes = 0;
    while (performance.now() - began_ms < 4_000 || changes < 12) {
      await askGraph(
        service,
        `mutation ($m: ID!, $s: ID!, $name: String!) { shopRename(merchantId: $m, shopId: $s, name: $name) { __typename } }`,
        { m: merchant.id, s: merchant.shopId, name: `Shop ${changes}` },
      );
      changes += 1;
    }
    await page.waitForTimeout(calm_ms);
    const lasted_s = (performance.now() - began_ms) / 1_000;
    const questions = names.filter((name) => name === 'Audit').length;
    assert.ok(questions > 1 && questions <= Math.ceil(lasted_s), `${questions} in ${lasted_s} s`);
    assert.equal(names.includes('Counts'), false, 'nothing that is counted has changed');
    await context.close();
  });
});

describe('a webhook', { skip: noChromium }, () => {
  test('has its attempt in the list without its being looked at', async () => {
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver(() => 500);
    await merchant.endpoint(receiver.url);
    const { page, context } = await openAt(merchant, 'webhooks?mode=test');
    await page.waitForTimeout(calm_ms);
    const { body } = await merchant.call('POST', '/payments', {
      amount: 1_000,
      order_id: 'order-cancelled',
      method: 'cards',
    });
    const cancelled = await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    await receiver.until(() => true);
    // The next attempt is in its column.
    await soon(page.getByRole('row', { name: /Pending.*payment\.cancelled.*hook 1/ }));
    await context.close();
    await receiver.close();
  });
});

describe('without a socket', { skip: noChromium }, () => {
  test('lists are looked at every few seconds, and the frame says that it reconnects', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, context } = await openConsole(browser, service.rest, cookie);
    await context.routeWebSocket(/graphql/, (socket) => socket.close({ code: 1011 }));
    await page.goto(`${service.rest}/console/payouts?mode=test&tab=drafts`);
    await page.locator('.live-dot[data-open=false]').waitFor();
    await page.getByText(/Reconnecting since/).waitFor();
    await propose(merchant, 'Sidorov P.');
    await page.getByRole('row', { name: /Sidorov P\./ }).waitFor({ timeout: 15_000 });
    const names = watchQuestions(page);
    await eventually(() => names.includes('Counts'), 'the counts');
    await context.close();
  });
});
