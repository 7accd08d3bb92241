/** What is lost on the way, and what the console makes of it: an answer, a part of the program. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { type Browser, noChromium, startChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let browser: Browser;
let merchant: Merchant;
before(async () => {
  if (noChromium) return;
  [service, browser] = await Promise.all([openPlainService(), startChromium()]);
  merchant = await makeMerchant(service);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

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

describe('an answer that is lost', { skip: noChromium }, () => {
  test('leaves the outcome open in words, and a new dialog does not pay twice', async () => {
    const id = await paid();
    const cookie = await makeSession(service, 'finance', merchant.id);
    const { page, context } = await openConsole(browser, service.rest, cookie);
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
    await context.close();
  });
});

describe('a part of the program that is lost', { skip: noChromium }, () => {
  test('leaves the rest, and is tried again in its place', async () => {
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, context } = await openConsole(browser, service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test`);
    await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor();
    await page.route(/assets\/(?!index).*\.js$/, (route) => route.abort());
    for (const name of ['Webhooks', 'Reports']) {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name: 'This could not be loaded' }).first().waitFor();
    }
    await page.keyboard.press('/');
    await page.getByRole('complementary').getByRole('alert').waitFor();
    await page.unroute(/assets\/(?!index).*\.js$/);
    await page.getByRole('complementary').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Reports', exact: true }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await context.close();
  });
});

describe('a moment in the address', { skip: noChromium }, () => {
  test('that is none is left out, and the list stands', async () => {
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, context, complaints } = await openConsole(browser, service.rest, cookie);
    for (const path of ['payments', 'webhooks', 'audit']) {
      await page.goto(`${service.rest}/console/${path}?mode=test&since=yesterday&until=2026-99-01`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page
        .getByRole('button', { name: /Filter|Today/ })
        .first()
        .waitFor();
    }
    assert.deepEqual(complaints, []);
    await context.close();
  });
});
