/** `psp open` leads to where the console shows the object. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { makeSession, openConsole } from '../console/console-window.ts';
import { openPlainService } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { pay, payByCard } from '../support/buyer.ts';
import { makeFundedMerchant } from './funded.ts';
import { openPsp } from './run-psp.ts';
import { eventually } from '../support/eventually.ts';

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
  /** Opens the address as an operator. */
  const openAt = async (address: string): Promise<Page> => {
    const { page } = await openConsole(service.rest, await makeSession(service, 'viewer'));
    await page.goto(address);
    return page;
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
    const page = await openAt(wanted);
    await page.getByRole('dialog').getByText(payment.public_id).first().waitFor();
  });

  test('leads to a subscription', async () => {
    const { subscription } = await made('/subscriptions', { amount: 500, customer_ref: 'open-77' });
    const address = await addressOf(subscription.id);
    assert.equal(address, at(`subscriptions?mode=test&open=${merchant.id}/${subscription.id}`));
    const page = await openAt(address);
    await page.getByText('open-77').first().waitFor();
  });

  test('leads to a payout', async () => {
    const { payout } = await made('/payouts', {
      amount: 4_321,
      phone: '+79161234567',
      bank_id: '100000000111',
    });
    const address = await addressOf(payout.id);
    assert.equal(address, at(`payouts?mode=test&open=${merchant.id}/${payout.id}`));
    const page = await openAt(address);
    const drawer = page.getByRole('dialog', { name: 'Payout' });
    await drawer.getByText('43.21').first().waitFor();
    await drawer.getByRole('link', { name: 'Open on a page of its own' }).click();
    await page.waitForURL(new RegExp(`/console/payouts/${merchant.id}/${payout.id}`));
    await page.getByRole('heading', { name: 'Payout', level: 1 }).waitFor();
    await page.reload();
    await page.getByText('43.21').first().waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0, 'nothing stands over it');
  });

  test('leads to a refund in its list, with its payment over it', async () => {
    const { payment, payment_url } = await made('/payments', {
      amount: 7_000,
      method: 'cards',
      order_id: 'psp-open-refund',
    });
    await payByCard(payment_url);
    await eventually(async () => {
      const { body } = await merchant.call('GET', `/payments/${payment.id}`);
      return body.status === 'succeeded';
    }, 'the paid payment');
    const refund = await made(`/payments/${payment.id}/refund`, { amount: 1_234 });
    const page = await openAt(await addressOf(refund.id));
    await page.getByRole('dialog').getByText(payment.public_id).first().waitFor();
    await page.keyboard.press('Escape');
    const row = page.getByRole('row', { name: /12\.34/ });
    await row.waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
  });

  test('leads to a saved method among those of its customer', async () => {
    const { card: token } = await made('/tokens', {
      customer_ref: 'open-88',
      return_url: 'https://a.example',
    });
    const address = await addressOf(token.id);
    const place = `tab=tokens&merchant=${merchant.id}&customer=open-88&open=${merchant.id}/${token.id}`;
    assert.equal(address, at(`subscriptions?mode=test&${place}`));
    const page = await openAt(address);
    await page.locator('tr[aria-current=true]', { hasText: 'open-88' }).waitFor();
  });

  test("leads to a link's own page, and says what it does not know", async () => {
    const { link } = await made('/links', { amount: 500 });
    assert.equal(await addressOf(link.id), link.url);
    const { code, err } = await psp.run(['open', merchant.shopId, '--print']);
    assert.equal(code, 1);
    assert.match(err, /there is no payment, refund, receipt, payout/);
  });
});
