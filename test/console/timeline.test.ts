/** One payment's timeline in a real browser: its order, its records, what is sent again. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, openReceiver } from '../support/merchant.ts';
import { receiptOf } from '../support/receipts.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

describe("a payment's timeline", { skip: noChromium }, () => {
  test('shows statuses, bank calls, movements and webhooks, filters them, and opens to records without a card', async () => {
    const receiver = await openReceiver();
    const merchant = await makeMerchant(service);
    await merchant.endpoint(receiver.url, ['payment_succeeded']);
    const { body } = await merchant.call('POST', '/payments', { amount: 125_000, method: 'cards' });
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, leave, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments/${merchant.id}/${body.payment.id}?mode=test`);
    const lines = page.locator('.timeline li');
    await lines.first().waitFor();
    const made = lines.filter({ hasText: 'Created by the key' });
    const prefix = /sk_test_\w+(?=…)/.exec((await made.textContent()) ?? '')?.[0] ?? '';
    assert.ok(merchant.key.startsWith(prefix) && prefix.length > 'sk_test_'.length, prefix);
    assert.notEqual(prefix, merchant.key);
    assert.equal(await lines.count(), 1, 'it was made, and that is all');

    await (await fetch(body.payment_url)).text();
    const opened = `query ($m: ID, $id: ID!) { payment(merchantId: $m, id: $id) {
      timeline { __typename } } }`;
    await eventually(async () => {
      const { payment } = await askGraph(service, opened, { m: merchant.id, id: body.payment.id });
      return payment.timeline.some((one: any) => one.__typename === 'TimelinePageOpened');
    }, 'the opening is written');

    // The rest comes while one looks.
    await payByCard(body.payment_url);
    await lines.getByText('Paid: the bank confirmed').waitFor();
    await lines.getByText('Booked: Payment ₽1,250.00').waitFor();
    await lines.getByText('Webhook payment.succeeded: 200').waitFor();
    await lines.getByText('The page was opened').waitFor();

    // What the buyer is told, in the buyer's own language.
    const buyer = page.getByRole('region', { name: 'For the buyer' });
    await buyer.getByText(/is paid: ₽1,250\.00/).waitFor();
    await buyer.getByLabel("Buyer's language").selectOption('ru');
    await buyer.getByText(/оплачен: 1\s250,00\s₽/).waitFor();
    await buyer.getByRole('button', { name: 'Copy' }).click();
    const told = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(
      told,
      /Платить ещё раз не нужно.*\nНомер платежа: P-\d+\nНомер операции для банка \(RRN\): \d+\nБанк: /,
    );

    await page.getByRole('button', { name: /^Bank/ }).click();
    await page.waitForURL(/kinds=bank/);
    assert.deepEqual(
      await lines.evaluateAll((all) => [...new Set(all.map((one) => one.dataset['kind']))]),
      ['bank'],
    );
    const record = lines.first();
    await record.locator('summary').focus();
    await page.keyboard.press('Enter');
    await record.getByRole('button', { name: 'Copy' }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.equal(JSON.parse(copied).connector, 'simulator');
    assert.ok(!copied.includes('4111111111111111'));
    await page.goBack();
    await lines.getByText('Created').waitFor();

    await page.getByRole('button', { name: 'Resend webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resend webhook' });
    await dialog.getByRole('button', { name: 'Resend webhook' }).click();
    await dialog.getByText('It is being resent.').waitFor();
    const [first] = receiver.received;
    await receiver.until((one) => one !== first && one.raw === first?.raw);
    await page.keyboard.press('Escape');
    await lines.getByText('a admin: Webhook sent again').waitFor();
    assert.deepEqual(complaints, []);
    await leave();
    await receiver.close();
  });

  test('has the failed attempts of a webhook as one line, which opens to all of them', async () => {
    const receiver = await openReceiver(() => 500);
    const merchant = await makeMerchant(service);
    await merchant.endpoint(receiver.url, ['payment_succeeded']);
    const { body } = await merchant.call('POST', '/payments', { amount: 125_000, method: 'cards' });
    await payByCard(body.payment_url);
    const { id } = body.payment;
    const own = { m: merchant.id, id };
    const deliveries =
      'query ($m: ID, $id: ID!) { payment(merchantId: $m, id: $id) { webhookDeliveries { id attempts } } }';
    for (const times of [1, 2, 3]) {
      const delivery = await eventually(async () => {
        const { payment } = await askGraph(service, deliveries, own);
        return payment.webhookDeliveries.find(({ attempts }: any) => attempts === times);
      }, `attempt ${times}`);
      if (times < 3)
        await askGraph(
          service,
          'mutation ($m: ID!, $id: ID!) { webhookDeliveryResend(merchantId: $m, id: $id) { __typename } }',
          { m: merchant.id, id: delivery.id },
        );
    }
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments/${merchant.id}/${id}?mode=test`);
    const failures = page.locator('.timeline li').filter({ hasText: 'payment.succeeded: 500' });
    await failures.getByText('failed 3 times, last attempt 3').waitFor();
    assert.equal(await failures.count(), 1);
    await failures.locator('summary').click();
    const record = (await failures.locator('pre').textContent()) ?? '';
    assert.deepEqual(
      JSON.parse(record).map(({ attempt }: any) => attempt.number),
      [1, 2, 3],
    );
    assert.deepEqual(complaints, []);
    await receiver.close();
  });

  if (isLong)
    test('says in Russian why the bank declined', async () => {
      const merchant = await makeMerchant(service);
      // The simulator declines this amount.
      const { body } = await merchant.call('POST', '/payments', {
        amount: 120_001,
        method: 'cards',
      });
      await payByCard(body.payment_url);
      // The call of the bank may be recorded after the page was opened.
      const cookie = await makeSession(service, 'viewer', merchant.id);
      const { page } = await openConsole(service.rest, cookie, { language: 'ru-RU' });
      await page.goto(
        `${service.rest}/console/payments/${merchant.id}/${body.payment.id}?mode=test`,
      );
      const declined = page.locator('.timeline li').getByText(/отклонено, [а-яё]/);
      await declined.first().waitFor();
      assert.doesNotMatch(await declined.first().innerText(), /[a-z]_[a-z]/);
    });

  if (isLong)
    test('has the receipt that the cash register refused, which finance sends again', async () => {
      const merchant = await makeMerchant(service);
      const { body } = await merchant.call('POST', '/payments', {
        amount: 60_000,
        method: 'cards',
        receipt: receiptOf(60_000),
        metadata: { simulator_receipt: 'failed' },
      });
      await payByCard(body.payment_url);
      const { id } = body.payment;
      const place = `${service.rest}/console/payments/${merchant.id}/${id}?mode=test`;
      const support = await makeSession(service, 'support', merchant.id);
      const looking = await openConsole(service.rest, support);
      await looking.page.goto(place);
      const refused = 'Receipt of the payment was refused by the cash register';
      await looking.page.locator('.timeline li').getByText(refused).waitFor();
      const notTheirs = looking.page.getByRole('button', { name: /Resend receipt/ });
      assert.equal(await notTheirs.getAttribute('title'), 'Needs the role Finance');
      await looking.leave();

      const cookie = await makeSession(service, 'finance', merchant.id);
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(place);
      const button = page.getByRole('button', { name: 'Resend receipt' });
      await button.focus();
      await button.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Resend receipt' });
      await dialog.getByText('goes there again').waitFor();
      const send = dialog.getByRole('button', { name: 'Resend receipt' });
      await send.focus();
      await send.press('Enter');
      await dialog.getByText('The receipt is being resent.').waitFor();
      await page.keyboard.press('Escape');
      const lines = page.locator('.timeline li');
      await lines.getByText('Receipt of the payment is registered').waitFor();
      await button.waitFor({ state: 'detached' });
      const { auditLog } = await askGraph(
        service,
        'query ($m: ID) { auditLog(first: 1, merchantId: $m, action: "receipt.resend") { nodes { actor role } } }',
        { m: merchant.id },
      );
      assert.deepEqual(auditLog.nodes, [{ actor: 'a finance', role: 'finance' }]);
      assert.deepEqual(complaints, []);
    });
});
