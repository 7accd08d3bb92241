/**
 * The card's form under a buyer's fingers: what is tidied, named, kept over a switch of language,
 * and reached by keyboard.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { noChromium } from './chromium.ts';
import { openBrowserHarness, type BrowserHarness } from './harness.ts';

const focused = (page: Page): Promise<string | null> => page.locator(':focus').getAttribute('id');
const outlined = (page: Page): Promise<string> =>
  page.evaluate('getComputedStyle(document.activeElement).outlineStyle');

describe('the card’s form', { skip: noChromium }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  test('1/40 becomes 01/40 as it is typed, and a payment without the holder’s name passes', async () => {
    const payment = await harness.create({ method: 'cards' });
    const { page, complaints } = await harness.open(payment, { language: 'en-GB' });
    await page.getByLabel('Card number').fill('4111111111111111');
    await page.getByLabel('Expiry').pressSequentially('1/40');
    assert.equal(await page.getByLabel('Expiry').inputValue(), '01/40');
    await page.getByLabel('CVC').fill('123');
    assert.equal(await page.getByLabel('Name on card (optional)').inputValue(), '');
    await page.locator('#pay .primary').click();
    const { customer_card_holder: holder } = await harness.until(payment, 'succeeded');
    assert.equal(holder, null);
    assert.deepEqual(complaints, []);
  });

  test('brands that are not accepted are named while they are typed, in both languages', async () => {
    const { page } = await harness.open(await harness.create({ method: 'cards' }));
    const problem = page.locator('#card-number-problem');
    for (const [digits, brand] of [
      ['37', 'American Express'],
      ['3530', 'JCB'],
      ['36', 'Diners Club'],
    ] as const) {
      await page.locator('#card-number').fill('');
      await page.locator('#card-number').pressSequentially(digits);
      assert.equal(
        await problem.innerText(),
        `${brand} не принимается. Подойдут Мир, Visa, Mastercard и UnionPay.`,
      );
    }
    await page.getByRole('link', { name: 'English' }).click();
    await problem
      .getByText('Diners Club is not accepted. Use Mir, Visa, Mastercard or UnionPay.')
      .waitFor();
    await page.locator('#card-number').fill('4111');
    assert.equal(await problem.innerText(), '', 'another number takes the word back');
  });

  test('brand, errors, notice and what is open survive a switch of the language, in the new one', async () => {
    const { page } = await harness.open(await harness.create());
    await page.locator('label[for=method-cards]').click();
    await page.locator('#test-cards summary').click();
    await page.locator('#card-number').fill('2200000000000004');
    await page.locator('#card-expiry').fill('13/30');
    await page.locator('#pay .primary').click();
    assert.ok(await page.locator('[data-brand=mir]').isVisible());
    await page.route('**/method?*', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'method_unsupported', message: 'x' } } }),
    );
    await page.locator('#card-cvc').fill('123');
    await page.locator('#card-expiry').fill('12/40');
    await page.locator('#pay .primary').click();
    await page
      .getByRole('alert')
      .filter({ hasText: 'Этот способ оплаты сейчас недоступен.' })
      .waitFor();
    await page.locator('#card-expiry').fill('13/30');
    await page.locator('#card-cvc').focus();
    await page.getByRole('link', { name: 'English' }).click();
    await page.locator('#card-expiry-problem').getByText('Month and year, such as 09/28').waitFor();
    assert.ok(await page.locator('[data-brand=mir]').isVisible());
    assert.ok(
      await page
        .locator('#test-cards')
        .getAttribute('open')
        .then((open) => open !== null),
    );
    assert.equal(await page.getByRole('alert').filter({ hasText: 'This way to pay' }).count(), 1);
    assert.equal(await page.locator('#card-expiry').getAttribute('aria-invalid'), 'true');
  });

  test('the keyboard’s key continues to what is empty, the last one pays, and every stop of the focus is seen', async () => {
    const { page } = await harness.open(await harness.create({ method: 'cards' }), {
      language: 'en-GB',
    });
    const hints = await page
      .locator('.card-fields input')
      .evaluateAll((inputs) => inputs.map((input) => input.getAttribute('enterkeyhint')));
    assert.deepEqual(hints, ['next', 'next', 'next', 'go']);
    await page.locator('#card-number').focus();
    await page.keyboard.type('4111111111111111');
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'card-expiry');
    assert.deepEqual(
      await page.locator('.problem').allInnerTexts(),
      ['', '', '', ''],
      'a field that is not reached yet shows no error',
    );
    await page.keyboard.type('1240');
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'card-cvc');
    for (let stop = 0; stop < 5; stop += 1) {
      assert.equal(
        await outlined(page),
        'solid',
        await page.evaluate('document.activeElement.outerHTML.slice(0, 80)'),
      );
      await page.keyboard.press('Tab');
    }
    await page.locator('#card-cvc').focus();
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'card-cvc', 'the first field with a mistake has the focus');
    await page.keyboard.type('123');
    await page.keyboard.press('Enter');
    const heading = page.locator('#panel .panel-title:focus');
    await heading
      .filter({ hasText: 'The bank is processing the payment' })
      .or(heading.filter({ hasText: 'Paid' }))
      .waitFor();
    assert.equal(await outlined(page), 'solid', 'the new heading has the focus, and shows it');
  });

  test('the buttons of test cards are called by what they show: brand and number', async () => {
    const { page } = await harness.open(await harness.create({ method: 'cards' }), {
      language: 'en-GB',
    });
    await page.locator('#test-cards summary').click();
    const names = await page
      .locator('.test-card')
      .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')));
    assert.deepEqual(
      names.map((name) => name?.split(',')[0]),
      [
        'Mir 2200 0000 0000 0004',
        'Visa 4111 1111 1111 1111',
        'Mastercard 5555 5555 5555 4444',
        'UnionPay 6200 0000 0000 0005',
      ],
    );
    await page.getByRole('button', { name: 'Visa 4111 1111 1111 1111' }).click();
    assert.equal(await page.locator('#card-number').inputValue(), '4111 1111 1111 1111');
  });
});
