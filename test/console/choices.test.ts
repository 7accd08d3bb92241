/** What a person chooses in the console: filters in the address, columns, a time zone. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';

let service: ServiceInUse;
let merchant: Merchant;
let cookie: string;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
  cookie = await makeSession(service, 'viewer', merchant.id);
  for (const method of ['cards', 'sbp'])
    await merchant.call('POST', '/payments', { amount: 500, method, order_id: `by-${method}` });
});
after(() => service?.stop());

describe('a person chooses', { skip: noChromium }, () => {
  test('filters, which stand in the address as chips, and are taken away one by one; an amount that cannot be read is marked and not dropped', async () => {
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test`);
    await page.getByRole('cell', { name: /by-cards/ }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Filters' });
    await form.getByLabel('SBP').check();
    await form.getByLabel('Failure code').fill('insufficient_funds');
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('heading', { name: 'No payment fits these filters' }).waitFor();
    const { searchParams } = new URL(page.url());
    assert.equal(searchParams.get('method'), 'sbp');
    assert.equal(searchParams.get('code'), 'insufficient_funds');

    await page.getByRole('button', { name: /Remove the filter Failure code/ }).click();
    await page.getByRole('cell', { name: /by-sbp/ }).waitFor();
    assert.equal(await page.getByRole('cell', { name: /by-cards/ }).count(), 0);
    await page.getByRole('button', { name: 'Remove the filter SBP' }).click();
    await page.getByRole('cell', { name: /by-cards/ }).waitFor();
    await page.goBack();
    await page.getByRole('cell', { name: /by-cards/ }).waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const field = (name: string) => form.locator(`input[name=${name}]`);
    const apply = () => form.getByRole('button', { name: 'Apply' }).click();
    await field('from').fill('5 roubles');
    await apply();
    await form
      .getByRole('alert')
      .getByText(/An amount such as/)
      .waitFor();
    assert.equal(await field('from').getAttribute('aria-invalid'), 'true');
    await field('from').fill('₽1,234.50');
    await field('to').fill('100');
    await apply();
    await form.locator('input[name=to][aria-invalid=true]').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('from'), null);
    await field('to').fill('5 000');
    await apply();
    await page.getByRole('button', { name: 'Remove the filter Amount ≥ ₽1,234.50' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('to'), '500000');
    assert.deepEqual(complaints, []);
  });

  test('columns and a file of every list in the same place', async () => {
    const { page, complaints } = await openConsole(
      service.rest,
      await makeSession(service, 'admin'),
    );
    await page.goto(`${service.rest}/console/merchants?mode=test`);
    const columns = page.getByRole('button', { name: 'Columns' });
    const file = page.getByRole('button', { name: /CSV/ });
    const of = `mode=test&merchant=${merchant.id}`;
    await merchant.call('POST', '/links', { amount: 100, description: 'Cakes' });
    for (const [list, label] of [
      ['payments', 'Payments'],
      ['paylinks', 'Payment links'],
      ['audit', 'Audit'],
      ['merchants', 'Merchants'],
    ] as const) {
      await go(page, `${service.rest}/console/${list}?${of}`);
      await page.getByRole('table', { name: label }).waitFor();
      await page.locator('.part-head').filter({ has: columns }).filter({ has: file }).waitFor();
    }
    // A list that has no names of its own for its columns keeps the choice, too.
    const head = page.getByRole('columnheader').nth(1);
    const second = await head.innerText();
    await columns.click();
    await page.getByRole('checkbox', { name: second, exact: true }).press('Space');
    await page.keyboard.press('Escape');
    await page
      .getByRole('columnheader', { name: second, exact: true })
      .waitFor({ state: 'detached' });
    await page.reload();
    await columns.waitFor();
    assert.equal(await page.getByRole('columnheader', { name: second, exact: true }).count(), 0);
    await columns.click();
    await page.getByRole('button', { name: 'Reset' }).press('Enter');
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: second, exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a time zone, in which the console shows moments and reads days', async () => {
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/settings?mode=test`);
    await page.getByLabel('Time zone').selectOption('Asia/Vladivostok');
    await go(page, `${service.rest}/console/payments?mode=test`);
    const moment = page.locator('tbody time').first();
    const [at, title] = [await moment.getAttribute('datetime'), await moment.getAttribute('title')];
    const there = new Date(Date.parse(at ?? '') + 10 * 3_600_000).toISOString().slice(11, 19);
    const utc = (at ?? '').slice(0, 19).replace('T', ' ');
    assert.ok(title?.split('\n')[0]?.includes(there), `${title}`);
    assert.ok(title?.includes(`${utc} UTC`), `${title}`);

    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Filters' });
    await form.getByRole('button', { name: 'Today' }).click();
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/since=/);
    // A day begins there when it is 14:00 in UTC.
    assert.match(new URL(page.url()).searchParams.get('since') ?? '', /T14:00:00\.000Z$/);
    await go(page, `${service.rest}/console/webhooks?mode=test`);
    // The screen before has this button, too.
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await form.getByRole('button', { name: 'Today' }).click();
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: /Remove the filter From .* 00:00/ }).waitFor();
    assert.match(new URL(page.url()).searchParams.get('since') ?? '', /T14:00:00\.000Z$/);
  });

  test('a language, in which all that is shown is drawn anew, and what is typed stays', async () => {
    const { page, complaints } = await openConsole(service.rest, cookie);
    const choose = async (person: string, language: string): Promise<void> => {
      await page.getByRole('button', { name: `${person}: a viewer` }).click();
      await page.getByRole('menuitemradio', { name: language }).click();
    };
    await page.goto(`${service.rest}/console/payments?mode=test`);
    const row = page.getByRole('row', { name: /by-cards/ });
    await row.getByRole('cell', { name: 'Card', exact: true }).waitFor();
    await choose('Person', 'Русский');
    await row.getByRole('cell', { name: 'Карта', exact: true }).waitFor();
    await page.getByRole('columnheader', { name: 'Сумма' }).waitFor();
    await page.getByRole('link', { name: 'Платежи' }).waitFor();
    assert.match((await row.locator('time').getAttribute('title')) ?? '', / г\., /);
    assert.equal(await page.title(), '[Тест] Платежи');

    await go(page, `${service.rest}/console/subscriptions?mode=test`);
    const field = page.getByRole('search').getByRole('searchbox');
    await field.fill('anna');
    await choose('Пользователь', 'English');
    await page.getByRole('heading', { level: 1, name: 'Subscriptions' }).waitFor();
    assert.equal(await field.inputValue(), 'anna');
    await go(page, `${service.rest}/console/nothing?mode=test`);
    await page.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
    await choose('Person', 'Русский');
    await page.getByRole('heading', { name: 'По этому адресу ничего нет.' }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
