/** `psp open` leads to where the console shows the object. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { noChromium, startChromium } from '../browser/chromium.ts';
import { makeSession, openConsole } from '../console/console-window.ts';
import { eventually } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { pay } from '../support/buyer.ts';
import { makeFundedMerchant } from './funded.ts';
import { openPsp } from './run-psp.ts';

const service = await openPlainService();
after(() => service.stop());
const merchant = await makeFundedMerchant(service);
const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: merchant.key });
after(psp.remove);

const addressOf = async (id: string): Promise<string> => (await psp.json('open', id))[0].url;
const at = (place: string): string => `${service.rest}/console/${place}`;
const made = async (path: string, body: object) => (await merchant.call('POST', path, body)).body;

/** A payment with a receipt, paid. */
const paidWithReceipt = async () => {
  const receipt = receiptOf(10_000);
  const { payment, payment_url } = await made('/payments', {
    amount: 10_000,
    method: 'sbp',
    order_id: 'psp-open-1',
    receipt,
  });
  await pay(payment_url);
  const list = `/receipts?payment_id=${payment.id}`;
  const [registered] = await eventually(async () => {
    const { items } = (await merchant.call('GET', list)).body;
    return items.length > 0 ? items : null;
  }, 'the receipt');
  return { payment, receipt: registered };
};

describe('psp open', { skip: noChromium }, () => {
  let browser: Browser;
  before(async () => {
    browser = await startChromium();
  });
  after(() => browser?.close());

  /** Opens the address as an operator; fails unless the page shows the texts. */
  const assertShows = async (address: string, ...texts: readonly string[]): Promise<void> => {
    const cookie = await makeSession(service, 'viewer');
    const { page, context } = await openConsole(browser, service.rest, cookie);
    page.setDefaultTimeout(60_000);
    await page.goto(address);
    for (const text of texts) await page.getByText(text).first().waitFor();
    await context.close();
  };

  test('leads to the payment of a payment, of its receipt and of its event', async () => {
    const { payment, receipt } = await paidWithReceipt();
    const wanted = at(`payments?mode=test&open=${merchant.id}/${payment.id}`);
    assert.equal(await addressOf(payment.id), wanted);
    assert.equal(await addressOf(receipt.id), wanted);
    const log = `/event-log?subject_id=${payment.id}`;
    const event = await eventually(
      async () => (await merchant.call('GET', log)).body.items[0],
      'the event',
    );
    assert.equal(await addressOf(event.id), wanted);
    const cookie = await makeSession(service, 'viewer');
    const { page, context } = await openConsole(browser, service.rest, cookie);
    page.setDefaultTimeout(60_000);
    await page.goto(wanted);
    await page.getByRole('dialog').getByText(payment.public_id).first().waitFor();
    await context.close();
  });

  test('leads to a subscription', async () => {
    const { subscription } = await made('/subscriptions', { amount: 500, customer_ref: 'open-77' });
    const address = await addressOf(subscription.id);
    assert.equal(address, at(`subscriptions?mode=test&open=${merchant.id}/${subscription.id}`));
    await assertShows(address, 'open-77');
  });

  test("leads to the payouts of a payout's merchant", async () => {
    const { payout } = await made('/payouts', {
      amount: 4_321,
      phone: '+79161234567',
      bank_id: '100000000111',
    });
    const address = await addressOf(payout.id);
    assert.equal(address, at(`payouts?mode=test&merchant=${merchant.id}`));
    await assertShows(address, '43.21');
  });

  test("leads to a link's own page, and says what it does not know", async () => {
    const { link } = await made('/links', { amount: 500 });
    assert.equal(await addressOf(link.id), link.url);
    const { code, err } = await psp.run(['open', merchant.shopId, '--print']);
    assert.equal(code, 1);
    assert.match(err, /there is no payment, receipt, payout/);
  });
});
