/** What the hosted page does when the network takes an answer, or its script, away. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { noChromium } from './chromium.ts';
import { button, openBrowserHarness, says, type BrowserHarness } from './harness.ts';
import { eventually } from '../support/eventually.ts';

const waiting = { metadata: { simulator_outcome: 'requires_action' } };

/** Loses calls to an address: after they have arrived, or before. Says how many came. */
const lose = async (
  page: Page,
  address: string,
  when: 'before' | 'after',
  times = Infinity,
): Promise<() => number> => {
  let came = 0;
  await page.route(address, async (route) => {
    came += 1;
    if (came > times) return route.continue();
    if (when === 'after') await route.fetch();
    return route.abort();
  });
  return () => came;
};

/** Ends what the page's style waits for before it says that the script is missing. */
const passTime = (page: Page): Promise<void> =>
  page.evaluate('document.getAnimations().forEach((one) => { one.currentTime = 60_000; })');

describe('lost answers', { skip: noChromium, concurrency: 2 }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  test('the answer to choosing a method is lost: the page reads the state and continues to the bank', async () => {
    const payment = await harness.create(waiting);
    const { page } = await harness.open(payment);
    const chosen = await lose(page, '**/method?*', 'after');
    await button(page).click();
    await says(page, 'Оплатите через СБП');
    assert.equal(chosen(), 1);
    assert.equal((await payment.read()).method, 'sbp');
    assert.equal(await page.locator('#notice').isVisible(), false, 'nothing is left of the fault');
  });

  test('choosing a method never arrives: it is sent again, and the page continues', async () => {
    const payment = await harness.create(waiting);
    const { page } = await harness.open(payment);
    const chosen = await lose(page, '**/method?*', 'before', 1);
    await button(page).click();
    await says(page, 'Оплатите через СБП');
    assert.equal(chosen(), 2);
  });

  test('the answer to paying is lost: the page continues to the bank by itself, as if it had come', async () => {
    const payment = await harness.create({ method: 'tpay', ...waiting });
    const { page } = await harness.open(payment);
    const paid = await lose(page, '**/pay?*', 'after');
    await button(page).click();
    await page.waitForURL(`${payment.url}/bank`);
    assert.equal(paid(), 1);
  });

  test('paying never arrives: the page says that it has not begun, and the next press pays', async () => {
    const payment = await harness.create({ method: 'sbp', ...waiting });
    const { page } = await harness.open(payment, { language: 'en-GB' });
    const paid = await lose(page, '**/pay?*', 'before', 1);
    await button(page).click();
    await page
      .getByText('The connection broke before the payment began. Press the button again')
      .waitFor();
    assert.equal(paid(), 1, 'it was not sent again behind the buyer’s back');
    await button(page).click();
    await says(page, 'Pay with SBP');
    assert.equal(await page.locator('#notice').isVisible(), false);
  });

  test('without a network the page waits, and continues when it is back', async () => {
    const payment = await harness.create({ method: 'sbp', ...waiting });
    const { page, window } = await harness.open(payment, { clock: true });
    await window.setOffline(true);
    // The page's other looks name what they have.
    let looks = 0;
    page.on('request', (request) => {
      if (/\/state\?/.test(request.url()) && !request.headers()['if-none-match']) looks += 1;
    });
    await button(page).click();
    await page.locator('#notice').waitFor();
    await eventually(async () => {
      await page.clock.fastForward(2_000);
      return looks > 5;
    }, 'the page looks more often than at a network that answers');
    assert.equal(await button(page).getAttribute('aria-busy'), 'true', 'it is still finding out');
    await window.setOffline(false);
    await page.getByText('Связь прервалась до начала платежа').waitFor();
    await button(page).click();
    await says(page, 'Оплатите через СБП');
  });

  for (const reducedMotion of ['reduce', 'no-preference'] as const) {
    test(`without page.js the form pays, and the page says that it will not follow (motion: ${reducedMotion})`, async () => {
      const payment = await harness.create({ method: 'sbp', ...waiting });
      const window = await harness.openWindow({ language: 'en-GB' });
      await window.route('**/page.js', (route) => route.abort());
      const page = await window.newPage();
      await page.emulateMedia({ reducedMotion });
      await page.goto(payment.url);
      await button(page).click();
      await says(page, 'Pay with SBP');
      await passTime(page);
      await page.getByText('The page has not loaded completely.').waitFor();
      await window.unrouteAll();
      await page.getByRole('link', { name: 'reload the page' }).click();
      await page.locator('[data-awake]').waitFor({ state: 'attached' });
      await passTime(page);
      assert.equal(await page.getByText('The page has not loaded completely.').isVisible(), false);
    });
  }
});
