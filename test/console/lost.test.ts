/** What is lost on the way, and what the console makes of it: an answer, a part of the program. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Locator, Page, Request } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
});
after(() => service?.stop());

const paid = async (): Promise<string> => {
  const order = { amount: 300_000, order_id: 'lost', method: 'cards' };
  const { body } = await merchant.call('POST', '/payments', order);
  await payByCard(body.payment_url);
  const { id } = body.payment;
  await eventually(async () => {
    const { body: now } = await merchant.call('GET', `/payments/${id}`);
    return now.status === 'succeeded';
  }, 'the payment');
  return id;
};

/** Sends what the page sends of this name, and loses the answer. */
const loseAnswers = (page: Page, operation: string): Promise<unknown> =>
  page.route('**/graphql', async (route) => {
    if (!(route.request().postData() ?? '').includes(`"${operation}"`)) return route.continue();
    await route.fetch();
    return route.abort();
  });

const refundIn = async (page: Page): Promise<Locator> => {
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Refund' });
  await dialog.waitFor();
  return dialog;
};

const press = (dialog: Locator): Promise<void> =>
  dialog.getByRole('button', { name: 'Refund', exact: true }).click();

test(
  'a document that is told to wait is sent again, and its page shows nothing of it',
  { skip: noChromium },
  async () => {
    const cookie = await makeSession(service, 'finance', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    let refusals = 0;
    await page.route('**/graphql', async (route) => {
      if (!(route.request().postData() ?? '').includes('"Payouts"') || refusals === 2)
        return route.continue();
      refusals += 1;
      const body = JSON.stringify({ errors: [{ message: 'Too many', extensions: {} }] });
      const headers = { 'retry-after': '1' };
      return route.fulfill({ status: 429, headers, contentType: 'application/json', body });
    });
    await page.goto(`${service.rest}/console/payouts?mode=test`);
    await page.getByRole('heading', { name: 'No payouts yet' }).waitFor();
    assert.equal(refusals, 2);
    assert.deepEqual(complaints, []);
  },
);

describe('an answer that is lost', { skip: noChromium }, () => {
  test('leaves the outcome open in words, and a new dialog does not pay twice', async () => {
    const id = await paid();
    const cookie = await makeSession(service, 'finance', merchant.id);
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test&open=${merchant.id}/${id}`);
    await loseAnswers(page, 'RefundPayment');
    const first = await refundIn(page);
    await first.getByLabel('Amount, RUB').fill('1000');
    await press(first);
    await first.getByText('it is not known whether it was done').waitFor();
    assert.equal(await first.getByText(/^Not done/).count(), 0);
    // The payment behind the dialog is read anew by itself.
    await page
      .getByText(/Refund of ₽1,000\.00/)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await first.getByRole('button', { name: 'Discard' }).click();
    await first.waitFor({ state: 'detached' });

    await page.unroute('**/graphql');
    const second = await refundIn(page);
    await second.getByText('The answer to this was lost').waitFor();
    assert.equal(await second.getByLabel('Amount, RUB').inputValue(), '1000.00');
    await press(second);
    await second.getByText('The refund is recorded').waitFor();
    const { body } = await merchant.call('GET', `/payments/${id}`);
    assert.equal(body.amount_refunded, 100_000);
  });
});

/** What a page that has just been opened asks, and has no answer to yet. */
const unansweredOf = (page: Page): ReadonlySet<Request> => {
  const unanswered = new Set<Request>();
  page.on('request', (asked) => void unanswered.add(asked));
  page.on('requestfinished', (asked) => void unanswered.delete(asked));
  page.on('requestfailed', (asked) => void unanswered.delete(asked));
  return unanswered;
};

/** Loses what the page asks of the graph by these names, until it is ended. */
const silence = async (page: Page, operations: RegExp): Promise<() => Promise<void>> => {
  await page.route('**/graphql', (route) =>
    operations.test(route.request().postData() ?? '') ? route.abort() : route.continue(),
  );
  return () => page.unroute('**/graphql');
};

describe('a service that does not answer for a while', { skip: noChromium }, () => {
  test('takes neither a payment nor a form of it away, and what it has missed comes by itself', async () => {
    const id = await paid();
    const cookie = await makeSession(service, 'finance', merchant.id);
    const { page } = await openConsole(service.rest, cookie);
    const unanswered = unansweredOf(page);
    await page.goto(`${service.rest}/console/payments?mode=test&open=${merchant.id}/${id}`);
    const form = await refundIn(page);
    const dot = page.locator('.live-dot');
    await dot.getByText('Connected').waitFor();
    await form.getByLabel('Reason').fill('One cup was cold');
    const endSilence = await silence(page, /"operationName":"Payments?"/);
    await eventually(() => unanswered.size === 0, 'answers to what was asked before the silence');
    await merchant.call('POST', `/payments/${id}/refund`, { amount: 100_000 });
    await dot.getByText(/^Out of date since/).waitFor();
    assert.equal(await form.getByLabel('Reason').inputValue(), 'One cup was cold');
    const refund = page.getByText(/Refund of ₽1,000\.00/).first();
    assert.equal(await refund.count(), 0);
    await endSilence();
    await refund.waitFor();
    await dot.getByText('Connected').waitFor();
    assert.equal(await form.getByLabel('Reason').inputValue(), 'One cup was cold');
  });

  test('leaves a screen that was opened meanwhile to come without a press; a network that is gone is said at once', async () => {
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, context } = await openConsole(service.rest, cookie);
    const endSilence = await silence(page, /"operationName":"(Viewer|Payouts)"/);
    await page.goto(`${service.rest}/console/payouts?mode=test`);
    await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor();
    await endSilence();
    await page.getByRole('heading', { name: 'No payouts yet' }).waitFor();

    const dot = page.locator('.live-dot');
    await dot.getByText('Connected').waitFor();
    await context.setOffline(true);
    await dot.getByText(/^Reconnecting since/).waitFor();
    await context.setOffline(false);
    await dot.getByText('Connected').waitFor();
  });
});

/**
 * Blocks the palette's script, which the frame loads ahead; `all` blocks every script, `none` lets
 * them through. A browser that remembers failures requests no blocked script again before it loads
 * the page anew.
 */
const loseScripts = async (page: Page, remembers: boolean) => {
  const lost = new Set<string>();
  let away = /assets\/palette.*\.js$/;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) lost.clear();
  });
  await page.route(/assets\/(?!index).*\.js$/, (route) => {
    const url = route.request().url();
    const isAway = away.test(url);
    if (isAway) lost.add(url);
    return isAway || (remembers && lost.has(url)) ? route.abort() : route.continue();
  });
  return {
    all: () => void (away = /./),
    none: () => void (away = /^$/),
  };
};

describe('parts of the program that are lost', { skip: noChromium }, () => {
  for (const [browserThat, remembers] of [
    ['asks for them again: by itself', false],
    ['remembers that they failed: by a press', true],
  ] as const)
    test(`leave the rest, and all come back in a browser that ${browserThat}`, async () => {
      const cookie = await makeSession(service, 'viewer', merchant.id);
      const { page } = await openConsole(service.rest, cookie);
      const lose = await loseScripts(page, remembers);
      await page.goto(`${service.rest}/console/payments?mode=test`);
      await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor();
      lose.all();
      for (const name of ['Webhooks', 'Reports']) {
        await page.getByRole('link', { name }).click();
        await page.getByRole('heading', { name: 'This could not be loaded' }).first().waitFor();
      }
      await page.keyboard.press('/');
      const palette = page.getByRole('complementary').getByRole('alert');
      await palette.waitFor();
      assert.equal(await page.getByRole('alert').count(), 2);
      lose.none();
      // On a telephone, too, nothing covers the button.
      await page.setViewportSize({ width: 390, height: 844 });
      if (remembers) await palette.getByRole('button', { name: 'Try again' }).click();
      // The palette, which is back in place in some browsers, hides what is behind it from roles.
      await page.locator('h1', { hasText: 'Reports' }).waitFor();
      await page.locator('[role=alert]').first().waitFor({ state: 'detached' });
    });
});

describe('a moment in the address', { skip: noChromium }, () => {
  test('that is none is left out, and the list stands', async () => {
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    for (const path of ['payments', 'webhooks', 'audit']) {
      await page.goto(`${service.rest}/console/${path}?mode=test&since=yesterday&until=2026-99-01`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page
        .getByRole('button', { name: /Filter|Today/ })
        .first()
        .waitFor();
    }
    assert.deepEqual(complaints, []);
  });
});
