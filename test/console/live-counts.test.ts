/** Counts of sections and lists without events of their own: they follow within a second. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

const propose = async (of: Merchant, fullName: string): Promise<void> => {
  const { draft } = await askGraph(
    service,
    `mutation ($m: ID!, $s: ID!, $name: String!) { draft: payoutDraftCreate(merchantId: $m, shopId: $s, mode: test, reason: "Rent",
      input: { amount: 5000, phone: "+79161234567", bankId: "100000000111", fullName: $name }) { __typename } }`,
    { m: of.id, s: of.shopId, name: fullName },
  );
  assert.equal(draft.__typename, 'PayoutDraftCreated');
};

/** Names the shop: only the list of the audit log shows this change. */
const rename = (of: Merchant, name: string): Promise<unknown> =>
  askGraph(
    service,
    `mutation ($m: ID!, $s: ID!, $name: String!) { shopRename(merchantId: $m, shopId: $s, name: $name) { __typename } }`,
    { m: of.id, s: of.shopId, name },
  );

/** While its connection is open a page looks by itself once a minute: this one never does. */
const neverLook = `{
  const every = setInterval;
  window.setInterval = (run, ms, ...given) => (ms < 60_000 ? every(run, ms, ...given) : 0);
}`;

/** Opens a page, and waits until it receives changes. */
const openAt = async (merchant: Merchant, path: string) => {
  const cookie = await makeSession(service, 'admin', merchant.id);
  const { page } = await openConsole(service.rest, cookie);
  const neverLooking = await page.addInitScript(neverLook);
  let isTold = false;
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => (isTold ||= `${payload}`.includes('listsChanged'))),
  );
  await page.goto(`${service.rest}/console/${path}`);
  await neverLooking.dispose();
  await page.locator('.live-dot[data-open=true]').waitFor();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await eventually(async () => {
    await rename(merchant, 'A shop');
    return isTold;
  }, 'a word that a list has changed');
  return page;
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

/** What the page and the service keep from one question of a list to the next. */
const rest_ms = 900;
const changes_count = 20;

describe('what people do elsewhere', { skip: noChromium }, () => {
  test('is in the list of drafts, its count, home and the audit log without their being looked at', async () => {
    const merchant = await makeMerchant(service);
    const paths = ['payouts?mode=test&tab=drafts', '?mode=test', 'audit?mode=test'];
    const [drafts, home, audit] = await Promise.all(paths.map((path) => openAt(merchant, path)));
    assert.ok(drafts && home && audit);
    await propose(merchant, 'Petrov I.');
    await Promise.all([
      drafts.getByRole('row', { name: /Petrov I\./ }).waitFor(),
      drafts.getByRole('link', { name: /1 Payouts to approve/ }).waitFor(),
      home.getByRole('listitem').filter({ hasText: 'Petrov I.' }).waitFor(),
      audit.getByRole('row', { name: /Payout proposed/ }).waitFor(),
    ]);
  });

  test('is asked for once a second, however much there is', async () => {
    const merchant = await makeMerchant(service);
    const page = await openAt(merchant, 'audit?mode=test');
    const names = watchQuestions(page);
    const began_ms = performance.now();
    for (let change = 0; change < changes_count; change += 1) {
      await rename(merchant, `Shop ${change}`);
      await sleep(rest_ms / 5);
    }
    const questions = (): number => names.filter((name) => name === 'Audit').length;
    await eventually(() => questions() > 1, 'two questions');
    // One may be of what was before.
    const questions_max = 2 + (performance.now() - began_ms) / rest_ms;
    assert.ok(questions() <= questions_max, `${questions()} for ${changes_count} changes`);
    assert.equal(names.includes('Counts'), false, 'nothing that is counted has changed');
  });
});

describe('a webhook', { skip: noChromium }, () => {
  test('has its attempt in the list without its being looked at', async () => {
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver(() => 500);
    await merchant.endpoint(receiver.url);
    const page = await openAt(merchant, 'webhooks?mode=test');
    const { body } = await merchant.call('POST', '/payments', {
      amount: 1_000,
      order_id: 'order-cancelled',
      method: 'cards',
    });
    const cancelled = await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    await receiver.until(() => true);
    // The next attempt is in its column.
    await page.getByRole('row', { name: /Pending.*payment\.cancelled.*hook [1-9]/ }).waitFor();
    await receiver.close();
  });
});

describe('without a socket', { skip: noChromium }, () => {
  test('lists are looked at every few seconds, and the frame says that it reconnects', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, context } = await openConsole(service.rest, cookie);
    await context.routeWebSocket(/graphql/, (socket) => socket.close({ code: 1011 }));
    await page.goto(`${service.rest}/console/payouts?mode=test&tab=drafts`);
    await page.locator('.live-dot[data-open=false]').waitFor();
    await page.getByText(/Reconnecting since/).waitFor();
    await propose(merchant, 'Sidorov P.');
    await page.getByRole('row', { name: /Sidorov P\./ }).waitFor();
    const names = watchQuestions(page);
    await eventually(() => names.includes('Counts'), 'the counts');
    await context.close();
  });
});
