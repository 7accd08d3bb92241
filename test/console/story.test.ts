/** What a newcomer does in the console, in a real browser, from the printed link on. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { makeLink } from './visitor.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

const createPayment = async (
  key: string,
  orderId: string,
): Promise<{ id: string; url: string }> => {
  const answer = await fetch(`${service.rest}/v1/public/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 120_000, order_id: orderId, method: 'cards' }),
  });
  const { payment, payment_url: url }: any = await answer.json();
  return { id: payment.id, url };
};

describe('a newcomer', { skip: noChromium }, () => {
  test('opens the link, onboards a shop, pays by its key, sees the row come, refunds a part, finds it in the audit log', async () => {
    const { page, complaints } = await openConsole(service.rest, null);
    await page.goto(await makeLink(service.rest));
    await page.waitForURL('**/console/');
    assert.equal(new URL(page.url()).hash, '', 'the secret has left the address');

    await page.getByRole('link', { name: 'Merchants' }).click();
    await page.getByRole('button', { name: 'Onboard a merchant' }).click();
    await page.getByLabel('Name of the merchant').fill('Tea house');
    await page.getByLabel('Name of the shop').fill('Tea shop');
    await page.getByRole('button', { name: 'Onboard', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Copy', exact: true })
      .first()
      .click();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(key, /^sk_test_/);

    await page.getByRole('link', { name: 'See its payments' }).click();
    await page.getByRole('heading', { name: 'No payments yet' }).waitFor();
    const payment = await createPayment(key, 'order-of-the-story');
    const row = page.getByRole('row', { name: /order-of-the-story/ });
    await row.waitFor();
    await payByCard(payment.url);
    await row.getByText('Paid').waitFor();

    await row.click();
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Refund' });
    await dialog.getByText(/1,200\.00 goes back to/).waitFor();
    await dialog.getByLabel('Amount, RUB').fill('200,50');
    await dialog.getByLabel('Reason').fill('One cup was cold');
    await dialog.getByLabel('Reason').press('Enter');
    await dialog.getByText(/200\.50 goes back to/).waitFor();
    await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog.getByText('The refund is recorded').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page
      .getByText(/Refund of ₽200\.50/)
      .first()
      .waitFor();
    // The list behind the drawer follows the bank's answer.
    const behind = page.locator('tbody tr').filter({ hasText: 'order-of-the-story' });
    await behind.getByText('Partly refunded').waitFor();
    assert.ok(page.url().includes(`open=`), 'the drawer has an address');
    await page.reload();
    await page
      .getByText(/Refund of ₽200\.50/)
      .first()
      .waitFor();
    await page.locator('.payment-head').getByText('Partly refunded').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row.getByText('Partly refunded').waitFor();
    const paid = await createPayment(key, 'order-without-refunds');
    await payByCard(paid.url);
    const other = page.getByRole('row', { name: /order-without-refunds/ });
    await other.getByText('Paid').waitFor();
    const chip = page.getByRole('button', { name: 'Partly refunded' });
    await chip.click();
    await other.waitFor({ state: 'detached' });
    await row.waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Order, amount/ }).fill('order-of-the-story');
    await page.getByRole('option', { name: /Partly refunded/ }).waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('cell', { name: 'Refund created' }).first().waitFor();
    assert.deepEqual(complaints, []);
  });

  test('is led back to the login when the session is over', async () => {
    const { page } = await openConsole(service.rest, null);
    await page.goto(`${service.rest}/console/payments`);
    await page.waitForURL('**/console/enter');
    await page.getByText('npm run console:link').first().waitFor();
  });
});

describe('a person who is logged in', { skip: noChromium }, () => {
  test('is asked before a one-time link ends the session, which the link does not do by itself', async () => {
    const { page } = await openConsole(service.rest, await makeSession(service, 'viewer'));
    const person = (): Promise<unknown> =>
      page.evaluate(
        "fetch('/console/session').then((answer) => answer.json()).then((one) => one.subject)",
      );
    const link = await makeLink(service.rest);
    await page.goto(link);
    await page.getByText('a viewer').waitFor();
    assert.equal(new URL(page.url()).hash, '', 'the secret does not stay in the address');
    assert.equal(await person(), 'a viewer');
    await page.getByRole('link', { name: 'Stay logged in' }).click();
    await page.waitForURL('**/console/');
    await page.goto(link);
    await page.getByRole('button', { name: 'End it and continue' }).click();
    await page.waitForURL('**/console/');
    assert.equal(await person(), 'console-link');
  });
});

describe('a viewer', { skip: noChromium }, () => {
  test('may look and change nothing, and is shown who may', async () => {
    const merchant = await makeMerchant(service);
    const payment = await createPayment(merchant.key, 'order-of-the-viewer');
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test&open=${merchant.id}/${payment.id}`);
    const cancel = page.getByRole('button', { name: /Cancel payment/ });
    await cancel.waitFor();
    assert.equal(await cancel.getAttribute('aria-disabled'), 'true');
    assert.equal(await cancel.getAttribute('title'), 'Needs the role Support');
    await cancel.click({ force: true });
    assert.equal(await page.getByRole('dialog').count(), 1, 'the drawer alone');
    assert.equal(await page.getByRole('link', { name: 'Alerts' }).count(), 0);
  });

  test('another merchant is not found, by its address, either', async () => {
    const [own, other] = await Promise.all([makeMerchant(service), makeMerchant(service)]);
    const payment = await createPayment(other.key, 'order-of-another');
    const cookie = await makeSession(service, 'admin', own.id);
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments/${other.id}/${payment.id}?mode=test`);
    await page
      .getByText(/no such payment|no such merchant/i)
      .first()
      .waitFor();
  });
});

describe('by the keyboard alone', { skip: noChromium }, () => {
  test('links and subscriptions are found by their ids, and open at their places', async () => {
    const merchant = await makeMerchant(service);
    const [link, subscription] = await Promise.all([
      merchant.call('POST', '/links', { amount: 250_000, description: 'Cakes' }),
      merchant.call('POST', '/subscriptions', { amount: 99_000, customer_ref: 'buyer-7' }),
    ]);
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    for (const [id, path, shown] of [
      [link.body.link.id, '/paylinks', 'Payment link'],
      [subscription.body.subscription.id, '/subscriptions', 'Subscription'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /Order, amount/ }).waitFor();
      await page.keyboard.insertText(id);
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: shown }).getByText(id).waitFor();
      assert.equal(new URL(page.url()).pathname, `/console${path}`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    assert.deepEqual(complaints, []);
  });

  test('a payment is found, opened, cancelled and closed', async () => {
    const merchant = await makeMerchant(service);
    const payment = await createPayment(merchant.key, 'order-of-the-keys');
    const cookie = await makeSession(service, 'admin');
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const { keyboard } = page;
    await keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Order, amount/ }).waitFor();
    await keyboard.insertText(payment.id);
    await page.getByRole('option', { name: /order-of-the-keys/ }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Cancel payment' }).waitFor();
    assert.ok(page.url().includes(payment.id));
    await page.getByRole('button', { name: 'Cancel payment' }).focus();
    await keyboard.press('Enter');
    await page.getByText('The buyer can no longer pay').waitFor();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Cancel payment' }).focus();
    await keyboard.press('Enter');
    await page.getByText('The payment is cancelled.').waitFor();
    await keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Cancel payment' }).waitFor({ state: 'detached' });
    // What has the focus may go with a new answer of the service: Escape works all the same.
    await page.getByRole('button', { name: 'Cancel payment' }).waitFor({ state: 'detached' });
    await page.evaluate(`{
      const gone = document.querySelector('.drawer').appendChild(document.createElement('button'));
      gone.focus();
      gone.remove();
    }`);
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await keyboard.press('j');
    assert.equal(await page.evaluate('document.activeElement?.tagName'), 'TR');
    await keyboard.press('g');
    await keyboard.press('w');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });
});
