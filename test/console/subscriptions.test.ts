/** What support does with subscriptions, saved methods and links in the console, in a browser. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

describe('support', { skip: noChromium }, () => {
  test('sees a subscription become active, pauses it, resumes it, and ends its method with a reason', async () => {
    const merchant = await makeMerchant(service);
    const { body } = await merchant.call('POST', '/subscriptions', {
      amount: 99_000,
      customer_ref: 'buyer-1',
      plan_name: 'Tea each month',
    });
    const cookie = await makeSession(service, 'support', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/subscriptions?mode=test`);
    const row = page.getByRole('row', { name: /Tea each month/ });
    await row.getByText('Not bound yet').waitFor();
    await payByCard(body.pay_url);
    await confirmAtBank(body.pay_url);
    // Without a reload: the stream has the change.
    await row.getByText('Active').waitFor();

    await row.click();
    for (const [act, status] of [
      ['Pause', 'Paused'],
      ['Resume', 'Active'],
    ] as const) {
      await page.getByRole('button', { name: act, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: act });
      await dialog.getByRole('button', { name: act, exact: true }).click();
      await dialog.getByText(/The subscription/).waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.drawer .status').getByText(status).waitFor();
    }
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Saved methods' }).click();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    const end = page.getByRole('dialog', { name: 'End the saved method' });
    const button = end.getByRole('button', { name: 'End the saved method' });
    assert.equal(await button.isEnabled(), false, 'a reason is asked');
    await end.getByLabel('Reason').fill('The card was lost');
    await button.click();
    await end.getByText('The saved method has ended.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('cell', { name: 'Ended' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('sees everything of one customer on one page, and writes a note on a payment for colleagues', async () => {
    const merchant = await makeMerchant(service);
    const ofBuyer = { amount: 70_000, order_id: 'order-of-buyer', customer_id: 'buyer 7/ё' };
    const { body } = await merchant.call('POST', '/payments', ofBuyer);
    await merchant.call('POST', '/payments', { amount: 80_000, order_id: 'order-of-other' });
    const ofPlan = { amount: 99_000, customer_ref: 'buyer 7/ё', plan_name: 'Tea each month' };
    await merchant.call('POST', '/subscriptions', ofPlan);
    const cookie = await makeSession(service, 'support', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    const place = `payments/${merchant.id}/${body.payment.id}?mode=test`;
    await page.goto(`${service.rest}/console/${place}`);
    const notes = page.getByRole('region', { name: 'Notes' });
    const text = 'Called on Monday.\nWants the money back.';
    await notes.getByLabel('New note').fill(text);
    await notes.getByRole('button', { name: 'Add the note' }).click();
    const note = notes.getByRole('listitem');
    await note.getByText('Wants the money back.').waitFor();
    await note.getByText('a support').waitFor();
    assert.equal(await notes.getByLabel('New note').inputValue(), '');

    await page.getByRole('link', { name: 'buyer 7/ё' }).click();
    const rows = (name: string) => page.getByRole('table', { name }).getByRole('row');
    await rows('Payments').filter({ hasText: 'order-of-buyer' }).waitFor();
    await rows('Subscriptions').filter({ hasText: 'Tea each month' }).waitFor();
    await rows('Saved methods').filter({ hasText: 'Not bound yet' }).waitFor();
    assert.equal(await page.getByText('order-of-other').count(), 0);
    await rows('Payments').filter({ hasText: 'order-of-buyer' }).click();
    await page.locator('.drawer').getByText('Called on Monday.').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('ends a link, which can then not be paid; live mode has none of it', async () => {
    const merchant = await makeMerchant(service);
    const { body } = await merchant.call('POST', '/links', { amount: 250_000, description: 'Tea' });
    const cookie = await makeSession(service, 'support', merchant.id);
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/paylinks?mode=test`);
    await page.getByRole('row', { name: /Tea/ }).click();
    await page.getByRole('button', { name: 'End the link' }).click();
    const dialog = page.getByRole('dialog', { name: 'End the link' });
    await dialog.getByRole('button', { name: 'End the link' }).click();
    await dialog.getByText('The link has ended.').waitFor();
    const after = await merchant.call('GET', `/links/${body.link.id}`);
    assert.equal(after.body.status ?? after.body.link.status, 'deactivated');
    await go(page, `${service.rest}/console/paylinks?mode=live`);
    await page.getByRole('heading', { name: 'No payment links yet' }).waitFor();
  });
});
