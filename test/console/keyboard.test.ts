/** The console by Tab and Enter alone: palette, home, settings. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, openReceiver } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { enter, escapeFrom, goTo, tabTo, typeInto } from './keys.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
let database: pg.Client;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await database?.end();
  await service?.stop();
});

/**
 * Types the first letters of a choice until it is chosen: letters that come more than a second
 * apart, as on a busy machine, are of different choices.
 */
const typeTo = (page: Page, letters: string, isChosen: () => Promise<boolean>): Promise<true> =>
  eventually(async () => {
    await page.keyboard.type(letters);
    return isChosen();
  }, `the choice ${letters}`);

describe('by Tab and Enter', { skip: noChromium }, () => {
  test('the palette finds a payment by what its buyer says, and says which of several it is', async () => {
    const merchant = await makeMerchant(service);
    for (const amount of [349_000, 349_100])
      await merchant.call('POST', '/payments', { amount, order_id: '48812-a', method: 'cards' });
    const cookie = await makeSession(service, 'support', null);
    const { page, complaints } = await openConsole(service.rest, cookie, { language: 'ru-RU' });
    await page.goto(`${service.rest}/console/?mode=test&merchant=${merchant.id}`);
    await page.getByRole('heading', { name: 'Главная' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('заказ № 48812, 3 490,00');
    const hit = page.getByRole('option').filter({ hasText: '48812-a' });
    await hit.getByText(/3\s490,00\s₽/).waitFor();
    assert.equal(await hit.count(), 1);
    const { name } = (await askGraph(service, `{ merchant(id: "${merchant.id}") { name } }`))
      .merchant;
    await hit.getByText(new RegExp(`\\d\\d:\\d\\d · Карт.* · .* · ${name} · P-\\d+`)).waitFor();
    await hit.click();
    await page.getByRole('dialog', { name: /Платёж/ }).waitFor();
    assert.deepEqual(complaints, []);
  });

  if (isLong)
    test('the palette leads to a refund and to a payout by their ids', async () => {
      const merchant = await makeMerchant(service);
      const { body } = await merchant.call('POST', '/payments', {
        amount: 500_000,
        order_id: 'order-of-the-refund',
        method: 'cards',
      });
      await payByCard(body.payment_url);
      const refund = await eventually(async () => {
        const made = await merchant.call('POST', `/payments/${body.payment.id}/refund`, {
          amount: 12_300,
        });
        return made.status < 300 && made.body;
      }, 'the refund');
      const payout = await eventually(async () => {
        const made = await merchant.call('POST', '/payouts', {
          amount: 45_600,
          phone: '+79161234567',
          bank_id: '100000000111',
        });
        return made.status < 300 && made.body.payout;
      }, 'the payout');
      const cookie = await makeSession(service, 'viewer', merchant.id);
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(`${service.rest}/console/?mode=test`);
      await page.getByRole('heading', { name: 'Home' }).waitFor();

      await goTo(page, refund.id, /order-of-the-refund/);
      await page
        .getByText(/Refund of ₽123\.00/)
        .first()
        .waitFor();
      assert.equal(new URL(page.url()).pathname, '/console/refunds');
      await escapeFrom(page, page.getByRole('dialog'));
      await page.getByRole('row', { name: /₽123\.00/ }).waitFor();

      await goTo(page, payout.id, /₽456\.00/);
      await page.waitForURL('**/console/payouts?**');
      await page
        .getByText(/₽456\.00/)
        .first()
        .waitFor();
      assert.deepEqual(complaints, []);
    });

  test('an alert is taken and resolved on home, and failed webhooks are sent again there', async () => {
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver();
    await merchant.endpoint(receiver.url, ['payment_succeeded']);
    const { body } = await merchant.call('POST', '/payments', { amount: 500, method: 'cards' });
    await payByCard(body.payment_url);
    const [first] = await eventually(
      () => receiver.received.length > 0 && receiver.received,
      'the webhook',
    );
    await eventually(async () => {
      const { rowCount } = await database.query(
        `update webhook_delivery set status = 'failed' where merchant_id = $1 and status = 'delivered'`,
        [merchant.id],
      );
      return rowCount === 1;
    }, 'the failed delivery');
    await database.query(
      `insert into alert (merchant_id, id, kind, mode, subject_id, detail, raised_at)
        values ($1, gen_random_uuid(), 'late_success', 'test', $2, 'Paid after its end', now())`,
      [merchant.id, randomUUID()],
    );
    const cookie = await makeSession(service, 'admin');
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test&merchant=${merchant.id}`);
    const lines = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const alert = lines.filter({ hasText: 'Late success' });
    await enter(page, alert.getByRole('button', { name: 'Take it' }));
    await alert.getByText('yours').waitFor();
    await enter(page, alert.getByRole('button', { name: 'Resolve' }));
    const resolving = page.getByRole('dialog', { name: 'Resolve' });
    await typeInto(page, resolving.getByLabel('Resolution'), 'Given back by hand');
    await enter(page, resolving.getByRole('button', { name: 'Resolve' }));
    await resolving.getByText('The alert is resolved.').waitFor();
    await escapeFrom(page, resolving);
    await alert.waitFor({ state: 'detached' });

    const failed = lines.filter({ hasText: 'Failed webhooks: 1' });
    await enter(page, failed.getByRole('button', { name: 'Replay ...' }));
    const replaying = page.getByRole('dialog');
    await replaying.getByText(/1 failed webhook/).waitFor();
    await enter(page, replaying.getByRole('button', { name: 'Replay', exact: true }));
    await replaying.getByText('1 are being resent.').waitFor();
    await receiver.until((one) => one !== first && one.raw === first?.raw);
    await escapeFrom(page, replaying);
    await failed.waitFor({ state: 'detached' });
    await page.getByText('Nothing needs attention.').waitFor();

    const { auditLog } = await askGraph(
      service,
      'query ($m: ID) { auditLog(first: 20, merchantId: $m) { nodes { actor action } } }',
      { m: merchant.id },
    );
    const done = auditLog.nodes.filter(({ actor }: any) => actor === 'a admin');
    assert.deepEqual(done.map(({ action }: any) => action).toSorted(), [
      'alert.assign',
      'alert.resolve',
      'webhook_deliveries.resend_failed',
    ]);
    assert.deepEqual(complaints, []);
    await receiver.close();
  });

  test('every listed pair of keys goes to its section, whose filters come back', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test&status=failed`);
    await page.locator('.state').waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard' });
    await list.waitFor();
    const listed = await list
      .locator('dl div')
      .evaluateAll((all) => all.map((one) => [...one.children].map((part) => part.textContent)));
    const pairs = listed.filter(([keys = '']) => keys.startsWith('g '));
    const nav = page.getByRole('navigation', { name: 'Sections' });
    const sections = nav.getByRole('listitem');
    await escapeFrom(page, list);
    assert.equal(pairs.length, await sections.count());
    for (const [keys = '', name = ''] of pairs) {
      await page.keyboard.press('g');
      await page.keyboard.press(keys.slice(2));
      await nav.locator('[aria-current]', { hasText: name }).waitFor();
    }
    await goTo(page, 'payments', /^Payments$/);
    await page.waitForURL(/\/payments\?.*status=failed/);
    assert.deepEqual(complaints, []);
  });

  test('the palette begins a payout and changes the theme', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'finance', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await goTo(page, 'dark', /Theme: Dark/);
    await page.locator('html[data-theme="dark"]').waitFor();
    await goTo(page, 'new pay', /New payout/);
    const dialog = page.getByRole('dialog', { name: /payout/ });
    await dialog.waitFor();
    await escapeFrom(page, dialog);
    assert.doesNotMatch(page.url(), /act=/);
    assert.deepEqual(complaints, []);
  });

  if (isLong)
    test("a person's settings are found in the menu, changed, and kept", async () => {
      const merchant = await makeMerchant(service);
      const cookie = await makeSession(service, 'viewer', merchant.id);
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(`${service.rest}/console/payments?mode=test`);
      await enter(page, page.getByRole('button', { name: /^Person/ }));
      const item = page.getByRole('menuitem', { name: 'Settings' });
      await item.waitFor();
      await typeTo(page, 'Set', () => item.evaluate((element) => element.matches(':focus')));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      for (const [name, typed, value] of [
        ['Time zone', 'Asia/Vlad', 'Asia/Vladivostok'],
        ['Theme', 'Dark', 'dark'],
      ] as const) {
        const choice = page.getByLabel(name);
        await tabTo(page, choice);
        await typeTo(page, typed, async () => (await choice.inputValue()) === value);
      }
      await page.locator('html[data-theme="dark"]').waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('ArrowDown');
      await page.getByRole('heading', { name: 'Настройки' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Настройки' }).waitFor();
      await page.locator('html[data-theme="dark"]').waitFor();
      const zone = page.locator('select').filter({ hasText: 'Asia/Vladivostok' });
      assert.equal(await zone.inputValue(), 'Asia/Vladivostok');
      assert.deepEqual(complaints, []);
    });
});
