/**
 * Back to the shop (docs/contract.md#buyer-return), and what must do no harm: two tabs, double
 * clicks, a broken network, no JavaScript.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { BrowserContext } from 'playwright-core';
import { noChromium } from './chromium.ts';
import { button, openBrowserHarness, says, type BrowserHarness } from './harness.ts';

const waiting = { metadata: { simulator_outcome: 'requires_action' } };
const atShop = 'https://shop.example/**';

/** A window's page learns nothing until it pays, and then loses its next `lost` looks. */
const receiveNothingUntilPaid = async (window: BrowserContext, lost = 0): Promise<void> => {
  let left: number | null = null;
  await window.route(/\/pay\?/, (route) => {
    left = lost;
    return route.continue();
  });
  await window.route(/\/(state|events)\?/, (route) => {
    if (left === null) return route.fulfill({ status: 204 });
    left -= 1;
    return left >= 0 ? route.abort() : route.continue();
  });
};

describe('the way back, and the rough edges', { skip: noChromium, concurrency: 3 }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  test('a paid buyer sees the success for about two seconds and returns; query and fragment of the address stay', async () => {
    const payment = await harness.create({
      method: 'sbp',
      return_url: 'https://shop.example/done?cart=7&status=old#receipt',
    });
    const { page } = await harness.open(payment, { clock: true });
    // From here on, time passes on the page only as the test says.
    await page.clock.pauseAt(Date.now() + 60_000);
    await button(page).click();
    await says(page, 'Оплачено');
    await page.getByText('Вернуться в магазин').waitFor();
    await page.clock.runFor(1_900);
    await page.evaluate('fetch(location.href).then(() => null)');
    assert.equal(page.url(), payment.url);
    await page.clock.runFor(200);
    await page.waitForURL(atShop);
    const back = new URL(page.url());
    assert.deepEqual(
      [back.searchParams.get('cart'), back.searchParams.get('payment_id'), back.hash],
      ['7', payment.id, '#receipt'],
    );
    assert.equal(back.searchParams.getAll('status').at(-1), 'succeeded');
  });

  test('a buyer whose payment failed returns at once', async () => {
    const payment = await harness.create({
      method: 'sbp',
      amount: 10_001,
      return_url: 'https://shop.example/done',
    });
    const { page } = await harness.open(payment);
    await button(page).click();
    await page.waitForURL(atShop);
    assert.equal(new URL(page.url()).searchParams.get('status'), 'failed');
  });

  test('with on_decline stay a buyer whose payment failed reads why, and leaves by the button alone', async () => {
    const payment = await harness.create({
      method: 'sbp',
      amount: 10_001,
      on_decline: 'stay',
      return_url: 'https://shop.example/done?cart=7',
    });
    assert.equal((await payment.read())['on_decline'], 'stay');
    const { page } = await harness.open(payment, { clock: true, language: 'en-GB' });
    await page.clock.pauseAt(Date.now() + 60_000);
    await button(page).click();
    await says(page, 'The payment did not go through');
    await page.locator('.panel-text', { hasText: 'The bank declined the payment' }).waitFor();
    await page.locator('.panel-text', { hasText: 'Call your bank' }).waitFor();
    await page.clock.fastForward(600_000);
    await page.evaluate('fetch(location.href).then(() => null)');
    assert.equal(page.url(), payment.url);
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await page.waitForURL(atShop);
    const back = new URL(page.url());
    assert.deepEqual(
      [back.searchParams.get('cart'), back.searchParams.get('status')],
      ['7', 'failed'],
    );
  });

  test('the page of a cancelled payment sends the buyer straight back', async () => {
    const payment = await harness.create({ return_url: 'https://shop.example/done' });
    await harness.cancel(payment);
    const { page } = await harness.open(payment);
    await page.waitForURL(atShop);
    assert.equal(new URL(page.url()).searchParams.get('status'), 'cancelled');
  });

  test('the bank page returns to the shop as well: its form may lead through the hosted page to another host', async () => {
    const payment = await harness.create({
      method: 'sberpay',
      return_url: 'https://shop.example/done',
      metadata: { simulator_outcome: 'requires_action' },
    });
    const { page } = await harness.open(payment);
    await button(page).click();
    await page.getByRole('button', { name: 'Отказаться' }).click();
    await page.waitForURL(atShop);
  });

  test('without return_url the buyer stays', async () => {
    const payment = await harness.create({ method: 'sbp' });
    const { page } = await harness.open(payment, { clock: true });
    await button(page).click();
    await says(page, 'Оплачено');
    await page.clock.fastForward(60_000);
    await page.evaluate('fetch(location.href).then(() => null)');
    assert.equal(page.url(), payment.url);
  });

  test('a double click pays once', async () => {
    const { page } = await harness.open(
      await harness.create({ method: 'sbp', metadata: { simulator_outcome: 'requires_action' } }),
    );
    const looked = Promise.withResolvers<void>();
    let paid = 0;
    await page.route('**/pay?lang=ru', async (route) => {
      paid += 1;
      await looked.promise;
      await route.continue();
    });
    await button(page).dblclick();
    assert.equal(await button(page).getAttribute('aria-busy'), 'true');
    looked.resolve();
    await says(page, 'Оплатите через СБП');
    assert.equal(paid, 1);
  });

  test('two tabs: the second follows the first without being touched', async () => {
    const payment = await harness.create({
      method: 'sbp',
      metadata: { simulator_outcome: 'requires_action' },
    });
    const first = await harness.open(payment);
    const second = await harness.open(payment, first.window);
    await button(first.page).click();
    await Promise.all([
      says(first.page, 'Оплатите через СБП'),
      says(second.page, 'Оплатите через СБП'),
    ]);
    assert.deepEqual([...first.complaints, ...second.complaints], []);
  });

  test('two tabs: pressing in the second as well opens no second session, is refused in words, and shows how things stand', async () => {
    const payment = await harness.create({
      method: 'sbp',
      metadata: { simulator_outcome: 'requires_action' },
    });
    const first = await harness.open(payment);
    const deaf = await harness.openWindow();
    await receiveNothingUntilPaid(deaf);
    const second = await harness.open(payment, deaf);
    await button(first.page).click();
    await says(first.page, 'Оплатите через СБП');
    const refused = second.page.waitForResponse(/\/pay\?lang/);
    await button(second.page).click();
    assert.equal((await refused).status(), 409);
    await second.page.getByRole('alert').filter({ hasText: 'Платёж уже изменился' }).waitFor();
    await says(second.page, 'Оплатите через СБП');
    assert.equal((await payment.read()).status, 'processing');
    assert.deepEqual(second.complaints, []);
  });

  test('a refusal stays in words when the look behind it is lost', async () => {
    const payment = await harness.create({
      method: 'sbp',
      metadata: { simulator_outcome: 'requires_action' },
    });
    const first = await harness.open(payment);
    const deaf = await harness.openWindow();
    await receiveNothingUntilPaid(deaf, 1);
    const second = await harness.open(payment, deaf);
    await button(first.page).click();
    await says(first.page, 'Оплатите через СБП');
    await button(second.page).click();
    await says(second.page, 'Оплатите через СБП');
    await second.page.getByRole('alert').filter({ hasText: 'Платёж уже изменился' }).waitFor();
  });

  test('a lost network is said calmly and forgotten when it is back', async () => {
    const { page, window } = await harness.open(
      await harness.create({ method: 'sbp', metadata: { simulator_outcome: 'requires_action' } }),
    );
    await button(page).click();
    await says(page, 'Оплатите через СБП');
    await window.setOffline(true);
    await page.getByRole('alert').filter({ hasText: 'Нет связи' }).waitFor();
    await window.setOffline(false);
    await page.locator('#notice').waitFor({ state: 'hidden' });
  });

  test('a payment whose answer got lost is not sent again: the page finds out what happened', async () => {
    const { page } = await harness.open(
      await harness.create({ method: 'sbp', metadata: { simulator_outcome: 'requires_action' } }),
    );
    await page.route('**/pay?lang=ru', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button(page).click();
    await says(page, 'Оплатите через СБП');
  });

  test('the language follows the browser, the switch changes it without losing what was typed, and it is remembered', async () => {
    const payment = await harness.create({ method: 'cards' });
    const { page, window, complaints } = await harness.open(payment, { language: 'de-DE' });
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    await page.getByLabel('Card number').fill('4111111111111111');
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('button', { name: /^Оплатить/ }).waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'ru');
    assert.equal(await page.getByLabel('Номер карты').inputValue(), '4111 1111 1111 1111');
    assert.equal(page.url(), payment.url);
    const again = await harness.open(payment, window);
    assert.equal(await again.page.locator('html').getAttribute('lang'), 'ru');
    assert.deepEqual(complaints, []);
  });

  test('without JavaScript a card is paid: a typing error is named, and the bank is a link away', async () => {
    const payment = await harness.create({
      ...waiting,
      method: 'any',
      return_url: 'https://shop.example/done',
    });
    const { page, complaints } = await harness.open(payment, { script: false, phone: true });
    await page.getByText('Банковская карта').click();
    await page.getByLabel('Номер карты').fill('4111 1111 1111 1112');
    await page.getByLabel('Срок действия').fill('1230');
    await page.getByLabel('CVC').fill('123');
    await button(page).click();
    await page.getByText('Проверьте номер: в нём опечатка').waitFor();
    assert.doesNotMatch(await page.content(), /1112/);
    assert.equal((await payment.read()).status, 'pending');
    await page.getByText('Банковская карта').click();
    await page.getByLabel('Номер карты').fill('4111 1111 1111 1111');
    await page.getByLabel('Срок действия').fill('1230');
    await page.getByLabel('CVC').fill('123');
    await button(page).click();
    await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
    await page.getByLabel('Код подтверждения').fill('123456');
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    // The page loads itself again until the bank has answered.
    await says(page, 'Оплачено');
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await page.waitForURL(atShop);
    assert.deepEqual(complaints, []);
  });

  test('without JavaScript SBP has its link', async () => {
    const payment = await harness.create({ method: 'sbp', ...waiting });
    const { page } = await harness.open(payment, { script: false, phone: true });
    await button(page).click();
    await page.locator('noscript .notice', { hasText: 'Страница обновляется' }).waitFor();
    await page.locator('#onwards').click();
    await page.waitForURL(`${payment.url}/bank`);
  });

  test('an unknown token is a page that says so', async () => {
    const { url } = await harness.create();
    const { page } = await harness.open({ url: `${url.slice(0, -4)}AAAA` });
    await page.getByRole('heading', { name: 'Такой страницы оплаты нет' }).waitFor();
  });
});
