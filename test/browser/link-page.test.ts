/** The page of a payment link with an open amount, which is checked as a card is. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { noChromium } from './chromium.ts';
import { openBrowserHarness, type BrowserHarness } from './harness.ts';

describe('the page of a link', { skip: noChromium }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  const amount = (page: Page) => page.getByLabel('Сумма');
  const problem = (page: Page): Promise<string> => page.locator('#amount-problem').innerText();
  const goOn = (page: Page) => page.locator('.link-form .primary').click();
  const openAmount = { amount: undefined, amount_min: 10_000, amount_max: 5_000_000 };

  test('an amount is checked on leaving the field, taken back when it is right, and asked for before going on', async () => {
    const { page, complaints } = await harness.open(await harness.link(openAmount));
    await amount(page).fill('99,99');
    await amount(page).blur();
    assert.match(await problem(page), /от 100\s₽ до 50\s000\s₽/);
    assert.equal(await amount(page).getAttribute('aria-invalid'), 'true');
    await amount(page).fill('1 234,5');
    assert.equal(await problem(page), '');
    await amount(page).fill('50000.01');
    await goOn(page);
    assert.match(await problem(page), /от 100\s₽ до 50\s000\s₽/);
    assert.match(page.url(), /\/pay\/l\//);
    await amount(page).fill('1 234,50');
    await goOn(page);
    await page
      .locator('.summary .amount')
      .filter({ hasText: /1\s234,50\s₽/ })
      .waitFor();
    assert.match(page.url(), /\/pay\/(?!l\/)/);
    assert.deepEqual(complaints, []);
  });

  test('an empty field is left alone until the buyer continues', async () => {
    const { page } = await harness.open(await harness.link(openAmount));
    await amount(page).blur();
    assert.equal(await problem(page), '');
    await goOn(page);
    assert.match(await problem(page), /от 100/);
  });

  test('without scripts the server says the same', async () => {
    const { page } = await harness.open(await harness.link(openAmount), { script: false });
    await amount(page).fill('1');
    await goOn(page);
    await page.getByRole('alert').filter({ hasText: 'от 100' }).waitFor();
    await amount(page).fill('100');
    await goOn(page);
    await page
      .locator('.summary .amount')
      .filter({ hasText: /100\s₽/ })
      .waitFor();
  });

  test('a fixed amount has no field and no script', async () => {
    const { page, complaints } = await harness.open(await harness.link());
    assert.equal(await page.locator('script').count(), 0);
    await goOn(page);
    await page
      .locator('.summary .amount')
      .filter({ hasText: /1\s250\s₽/ })
      .waitFor();
    assert.deepEqual(complaints, []);
  });
});
