/** The buyer's way through the hosted page, in a real browser on the real service. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { confirmAtBank } from '../support/buyer.ts';
import { flawsOf, noChromium } from './chromium.ts';
import { button, openBrowserHarness, says, type BrowserHarness } from './harness.ts';

const waiting = { metadata: { simulator_outcome: 'requires_action' } };

const fillCard = async (page: Page, number = '2200000000000004'): Promise<void> => {
  await page.getByLabel('Номер карты').fill(number);
  await page.getByLabel('Срок действия').fill('1240');
  await page.getByLabel('CVC').fill('123');
  await page.getByLabel('Имя на карте').fill('Ivan Ivanov');
};

describe('the hosted page', { skip: noChromium, concurrency: 3 }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  test('shows who is paid, how much, for what, and the time left', async () => {
    const { page, complaints } = await harness.open(await harness.create({ amount: 1_234_567 }));
    assert.equal((await page.title()).replaceAll(/\s/g, ' '), '12 345,67 ₽ — Tea & Cakes');
    const summary = (await page.locator('#summary').innerText()).replaceAll(/\s/g, ' ');
    for (const fact of ['Tea & Cakes', '12 345,67 ₽', 'Кофе в зёрнах, 1 кг', 'A-10422', 'P-'])
      assert.ok(summary.includes(fact), `${fact} in ${summary}`);
    await page.locator('[data-deadline]', { hasText: /^(1:00:00|5\d:\d\d)$/ }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('names the seller, how to reach it and its offer, as the page of a link does', async () => {
    const [payment, link] = await Promise.all([harness.create(), harness.link()]);
    const before = await harness.open(payment);
    assert.equal(await before.page.locator('.seller').count(), 0);
    await harness.setProfile({
      legalName: 'ООО «Чайная & <Ко>»',
      inn: '7707083893',
      contactEmail: 'help@tea.example',
      contactPhone: '+74951234567',
      offerUrl: 'https://tea.example/offer',
    });
    for (const shown of [payment, link]) {
      const { page, complaints } = await harness.open(shown, { phone: true });
      await page.getByText('Продавец: ООО «Чайная & <Ко>», ИНН 7707083893').waitFor();
      const links = page.locator('.seller a');
      assert.deepEqual(
        await links.evaluateAll((all) => all.map((one) => one.getAttribute('href'))),
        ['mailto:help@tea.example', 'tel:+74951234567', 'https://tea.example/offer'],
      );
      assert.equal(await links.last().getAttribute('target'), '_blank');
      assert.deepEqual(await flawsOf(page), []);
      assert.deepEqual(complaints, []);
    }
  });

  test('SBP on a phone: the likely banks, and the one that paid last comes first', async () => {
    const first = await harness.create({ method: 'sbp', ...waiting });
    const { page, window, complaints } = await harness.open(first, { phone: true });
    await button(page).click();
    const banks = page.locator('.banks a');
    await banks.first().waitFor();
    assert.deepEqual((await banks.allInnerTexts()).slice(0, 2), ['Сбербанк', 'Т-Банк']);
    await page.getByRole('link', { name: 'Другой банк' }).waitFor();
    assert.deepEqual(await flawsOf(page), []);
    await page.getByRole('link', { name: 'ВТБ' }).click();
    await page.waitForURL(`${first.url}/bank`);
    const next = await harness.open(await harness.create({ method: 'sbp', ...waiting }), window);
    await button(next.page).click();
    await next.page.locator('.banks li:first-child', { hasText: 'ВТБ' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('SBP: a QR code and its link, and the page follows the payment to success without being touched', async () => {
    const payment = await harness.create({ method: 'sbp', ...waiting });
    const { page, complaints } = await harness.open(payment);
    await button(page).click();
    await says(page, 'Оплатите через СБП');
    assert.equal(await page.locator('svg.qr').getAttribute('role'), 'img');
    assert.equal(
      await page
        .getByRole('link', { name: 'Открыть ссылку на этом устройстве' })
        .getAttribute('href'),
      `${payment.url}/bank`,
    );
    await confirmAtBank(payment.url);
    await says(page, 'Оплачено');
    assert.equal((await payment.read()).status, 'succeeded');
    assert.match((await page.locator('#live').textContent()) ?? '', /Оплачено/);
    assert.deepEqual(complaints, []);
  });

  test('SBP on a phone: any other bank is one big button away', async () => {
    const { page } = await harness.open(await harness.create({ method: 'sbp', ...waiting }), {
      phone: true,
    });
    await button(page).click();
    await page.getByRole('link', { name: 'Другой банк' }).click();
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await says(page, 'Оплачено');
  });

  test('a card that was lost on its way to the bank is asked for again in the same payment, in both languages, and pays', async () => {
    const payment = await harness.create({ method: 'cards' });
    const { page, complaints } = await harness.open(payment);
    await harness.loseOrder(payment);
    await page.getByText('банк не получил карту').waitFor();
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByText('the bank did not get your card').waitFor();
    await page.getByRole('link', { name: 'Русский' }).click();
    await fillCard(page);
    assert.equal((await payment.read()).status, 'processing');
    await button(page).click();
    await says(page, 'Оплачено');
    const { status, customer_card_holder: holder } = await payment.read();
    assert.deepEqual([status, holder, complaints], ['succeeded', 'IVAN IVANOV', []]);
  });

  test('an SBP order that was lost on its way shows its QR code after all, without another press', async () => {
    const payment = await harness.create({ method: 'sbp', ...waiting });
    const { page, complaints } = await harness.open(payment);
    await harness.loseOrder(payment);
    await says(page, 'Оплатите через СБП');
    await confirmAtBank(payment.url);
    await says(page, 'Оплачено');
    assert.deepEqual(complaints, []);
  });

  test('card: slips are said at each field, the first of them has focus, and then the card pays', async () => {
    const payment = await harness.create({ method: 'cards' });
    const { page, complaints } = await harness.open(payment);
    await button(page).click();
    assert.deepEqual(await page.locator('.problem').allInnerTexts(), [
      'Введите номер карты',
      'Введите срок действия',
      'Введите CVC',
      '',
    ]);
    assert.equal(await page.locator(':focus').getAttribute('id'), 'card-number');
    await fillCard(page, '2200000000000005');
    assert.equal(
      await page.locator('#card-number-problem').innerText(),
      'Проверьте номер: в нём опечатка',
    );
    assert.equal(await page.getByLabel('Номер карты').getAttribute('aria-invalid'), 'true');
    await page.getByLabel('Номер карты').fill('2200 0000 0000 0004');
    assert.equal(await page.locator('#card-number-problem').innerText(), '');
    assert.ok(await page.locator('[data-brand=mir]').isVisible());
    assert.equal((await payment.read()).status, 'pending');
    // The bank may be faster than the test looks.
    await page.evaluate(`{
      const told = (window.told = new Set());
      const look = () => told.add(document.querySelector('#panel .panel-title')?.textContent.trim());
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    }`);
    await button(page).click();
    await says(page, 'Оплачено');
    const told = await page.evaluate<string[]>('[...told]');
    assert.ok(told.includes('Банк проводит платёж'), told.join());
    const paid = await payment.read();
    assert.deepEqual(
      [paid.status, paid['customer_card_mask'], paid['customer_card_holder']],
      ['succeeded', '**** **** **** 0004', 'IVAN IVANOV'],
    );
    assert.deepEqual(complaints, []);
  });

  test('card: the bank asks for a code; a wrong one is refused, any six digits confirm', async () => {
    const { page, complaints } = await harness.open(
      await harness.create({ method: 'cards', amount: 10_005 }),
    );
    await fillCard(page);
    await button(page).click();
    await page.getByLabel('Код подтверждения').fill('12');
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await page.getByRole('alert').filter({ hasText: 'Введите шесть цифр.' }).waitFor();
    await page.getByLabel('Код подтверждения').fill('123456');
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await says(page, 'Оплачено');
    assert.deepEqual(complaints, []);
  });

  test('card: who declines at the bank reads why it failed; opened again in between, the page shows the step', async () => {
    const payment = await harness.create({ method: 'cards', amount: 10_005 });
    const { page, window } = await harness.open(payment);
    await fillCard(page);
    await button(page).click();
    await page.getByLabel('Код подтверждения').waitFor();
    const again = await harness.open(payment, window);
    await says(again.page, 'Банк просит подтвердить оплату');
    await page.getByRole('button', { name: 'Отказаться' }).click();
    await says(page, 'Платёж не прошёл');
    await page.locator('#panel').getByText('Платёж не подтверждён. Деньги не списаны.').waitFor();
    await says(again.page, 'Платёж не прошёл');
    assert.equal((await payment.read()).metadata['failure_code'], 'authentication_failed');
  });

  test('any: the buyer picks a method, changes the mind, and only the paid one is fixed', async () => {
    const payment = await harness.create();
    const { page, complaints } = await harness.open(payment);
    assert.equal(await page.getByRole('radio').count(), 4);
    await page.getByText('SberPay', { exact: true }).click();
    await page.getByText('Банковская карта').click();
    assert.equal((await payment.read()).method, 'any');
    await fillCard(page, '4111111111111111');
    await button(page).click();
    await says(page, 'Оплачено');
    assert.equal((await payment.read()).method, 'cards');
    assert.deepEqual(complaints, []);
  });

  for (const [method, name] of [
    ['tpay', 'T-Pay'],
    ['sberpay', 'SberPay'],
  ] as const) {
    test(`${name}: the buyer goes to the bank's app, confirms, and comes back to a paid page`, async () => {
      const payment = await harness.create({ method, ...waiting });
      const { page, complaints } = await harness.open(payment);
      await button(page).click();
      await page.waitForURL(`${payment.url}/bank`);
      await page.getByText(name).first().waitFor();
      await page.getByRole('button', { name: 'Подтвердить' }).click();
      await says(page, 'Оплачено');
      assert.deepEqual(complaints, []);
    });
  }

  test('a planned failure is told with its reason and what to do', async () => {
    const { page, complaints } = await harness.open(
      await harness.create({ method: 'sbp', amount: 10_002 }),
      { language: 'en-GB' },
    );
    await button(page).click();
    await says(page, 'The payment did not go through');
    await page
      .locator('#panel')
      .getByText('There is not enough money in the account. You were not charged.')
      .waitFor();
    await page.getByText('insufficient_funds').last().waitFor();
    assert.deepEqual(complaints, []);
  });

  test('the tester plans another outcome, and the simulator follows it', async () => {
    const payment = await harness.create({ method: 'tpay' });
    const { page, window } = await harness.open(payment);
    const planned = page.waitForResponse((response) => response.url().includes('/plan'));
    await page.getByLabel('Какой ответ даст учебный банк').selectOption('failed:limit_exceeded');
    assert.equal((await planned).status(), 200);
    const { metadata } = await payment.read();
    assert.deepEqual(
      [metadata['simulator_outcome'], metadata['simulator_failure_code']],
      ['failed', 'limit_exceeded'],
    );
    await page.reload();
    assert.equal(await page.locator('#plan').inputValue(), 'failed:limit_exceeded');
    await button(page).click();
    await harness.until(payment, 'failed');
    const again = (await harness.open(payment, window)).page;
    await says(again, 'Платёж не прошёл');
    await again
      .locator('#panel')
      .getByText('Превышен лимит операций. Деньги не списаны.')
      .waitFor();
  });

  test('a link that ends while the page is open is told, and the last minutes stand out', async () => {
    const payment = await harness.create({ method: 'sbp' });
    await harness.endLink(payment, 119);
    const { page } = await harness.open(payment);
    await page.locator('.clock.soon', { hasText: /^0[01]:/ }).waitFor();
    await harness.endLink(payment, 0);
    await says(page, 'Время вышло');
    await page.locator('#panel').getByText('Срок действия ссылки на оплату истёк.').waitFor();
  });

  test('a payment that the shop cancels is told on the open page', async () => {
    const payment = await harness.create();
    const { page } = await harness.open(payment);
    await harness.cancel(payment);
    await says(page, 'Платёж отменён');
  });
});
