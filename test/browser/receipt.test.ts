/**
 * The page of a payment that is over is the buyer's receipt: who is sent back to the shop, who
 * stays, and what they read.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { noChromium } from './chromium.ts';
import { button, openBrowserHarness, says, type BrowserHarness } from './harness.ts';
import { eventually } from '../support/eventually.ts';

const atShop = 'https://shop.example/**';
const returnUrl = 'https://shop.example/done';

/**
 * The page, whose clock is the test's, stays: it is still itself after a time longer than any return
 * takes, and nothing says that it leaves.
 */
const stays = async (page: Page, url: string): Promise<void> => {
  await page.locator('body[data-awake]').waitFor({ state: 'attached' });
  await page.clock.fastForward(60_000);
  // What the page began to load before has begun.
  await page.evaluate('fetch(location.href).then(() => null)');
  assert.equal(page.url(), url);
  assert.equal(await page.locator('#returning').isVisible(), false);
};

/** What the receipt says, in one line. */
const receipt = async (page: Page): Promise<string> =>
  (await page.locator('.receipt').innerText()).replaceAll(/\s+/g, ' ');

describe('the receipt', { skip: noChromium, concurrency: 3 }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  test('who paid is sent back once; opened again, by the same buyer or another, the page stays and has a link', async () => {
    const payment = await harness.create({ method: 'sbp', return_url: returnUrl });
    const { page, window } = await harness.open(payment, { clock: true });
    await button(page).click();
    await page.waitForURL(atShop);
    const again = await harness.open(payment, window);
    await says(again.page, 'Оплачено');
    await stays(again.page, payment.url);
    const other = await harness.open(payment, { clock: true });
    await stays(other.page, payment.url);
    await other.page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await other.page.waitForURL(atShop);
    assert.equal(new URL(other.page.url()).searchParams.get('status'), 'succeeded');
    assert.deepEqual([...again.complaints, ...other.complaints], []);
  });

  test('who comes back from the bank in another tab of the same browser is the one who paid', async () => {
    const payment = await harness.create({
      method: 'sberpay',
      return_url: returnUrl,
      metadata: { simulator_outcome: 'requires_action' },
    });
    const { page, window } = await harness.open(payment);
    await button(page).click();
    await page.getByRole('button', { name: 'Подтвердить' }).waitFor();
    await confirmAtBank(payment.url);
    await harness.until(payment, 'succeeded');
    const tab = await harness.open(payment, window);
    await tab.page.waitForURL(atShop);
  });

  test('a page that was only looked at stays when another tab pays, and says so', async () => {
    const payment = await harness.create({ method: 'sbp', return_url: returnUrl });
    const looker = await harness.open(payment, { clock: true });
    await pay(payment.url);
    await says(looker.page, 'Оплачено');
    await stays(looker.page, payment.url);
  });

  test('a decline that is opened later stays, says why, and has the way back', async () => {
    const payment = await harness.create({
      method: 'cards',
      amount: 10_002,
      return_url: returnUrl,
    });
    await payByCard(payment.url);
    await harness.until(payment, 'failed');
    const { page } = await harness.open(payment, { language: 'en-GB', clock: true });
    await says(page, 'The payment did not go through');
    await page
      .getByText('There is not enough money in the account. You were not charged.')
      .waitFor();
    await stays(page, payment.url);
    assert.ok(await page.getByRole('link', { name: 'Back to the shop' }).isVisible());
    assert.equal(await page.locator('[data-print]').count(), 0);
  });

  test('money that is held is shown as held, the buyer goes back with status=authorized, and reads later what was taken', async () => {
    const payment = await harness.create({
      method: 'sberpay',
      capture: 'manual',
      return_url: returnUrl,
      metadata: { simulator_outcome: 'requires_action' },
    });
    const { page, window, complaints } = await harness.open(payment);
    await button(page).click();
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await page.waitForURL(atShop);
    assert.equal(new URL(page.url()).searchParams.get('status'), 'authorized');
    const again = await harness.open(payment, window);
    await says(again.page, 'Деньги удержаны');
    await again.page.getByText('Магазин спишет её позже').waitFor();
    const english = await harness.open(payment, { language: 'en-GB', clock: true });
    await says(english.page, 'The money is held');
    await stays(english.page, payment.url);
    await harness.capture(payment, 45_000);
    await english.page.reload();
    await says(english.page, 'Paid');
    assert.match(await receipt(english.page), /Charged ₽450 Method SberPay/);
    assert.deepEqual([...complaints, ...again.complaints, ...english.complaints], []);
  });

  test('a payment that ended before anybody paid sends everybody back, each browser once', async () => {
    const payment = await harness.create({ return_url: returnUrl });
    await harness.cancel(payment);
    const { page, window } = await harness.open(payment, { clock: true });
    await page.waitForURL(atShop);
    const again = await harness.open(payment, window);
    await stays(again.page, payment.url);
  });

  test('it shows moment, method, card, and what was given back and why, in the buyer’s language', async () => {
    const payment = await harness.create({ method: 'cards' });
    await payByCard(payment.url);
    const { captured_at: at } = await harness.until(payment, 'succeeded');
    await harness.refund(payment, { amount: 40_000, reason: 'Один пакет повреждён' });
    const minutes = new Intl.DateTimeFormat('en-US', {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'Europe/Moscow',
    }).format(new Date(String(at)));
    const english = await harness.open(payment, { language: 'en-GB' });
    await english.page.locator('.refunds').getByText('Returned', { exact: true }).waitFor();
    assert.match(
      await receipt(english.page),
      /Moscow time Method Bank card Card Visa •• 1111 Returned ₽400 .* Один пакет повреждён/,
    );
    assert.ok((await receipt(english.page)).includes(minutes.replaceAll(/\s+/g, ' ')));
    const russian = await harness.open(payment);
    assert.match(
      await receipt(russian.page),
      /МСК Способ Банковская карта Карта Visa •• 1111 Возвращено 400 ₽/,
    );
  });

  test('money that came after a decline is told in both languages, never by our own English reason', async () => {
    const metadata = { simulator_outcome: 'failed', simulator_callbacks: 'contradictory' };
    const payment = await harness.create({ method: 'sbp', metadata });
    await pay(payment.url);
    await harness.until(payment, 'failed');
    await eventually(
      async () => (await payment.read())['captured_at'] ?? undefined,
      'the bank has contradicted itself',
    );
    const { page, complaints } = await harness.open(payment);
    await says(page, 'Деньги вернутся к вам');
    await page.locator('.refunds').getByText('Платёж пришёл слишком поздно').waitFor();
    assert.doesNotMatch(await page.locator('#panel').innerText(), /[Tt]he bank|не списаны/);
    await page.getByRole('link', { name: 'English' }).click();
    await says(page, 'The money goes back to you');
    assert.doesNotMatch(await page.locator('#panel').innerText(), /reported success|not charged/);
    assert.equal((await payment.read()).status, 'failed');
    assert.deepEqual(complaints, []);
  });

  test('a receipt that is looked at again shows what was given back meanwhile', async () => {
    const payment = await harness.create({ method: 'cards' });
    await payByCard(payment.url);
    await harness.until(payment, 'succeeded');
    const { page } = await harness.open(payment, { language: 'en-GB' });
    await says(page, 'Paid');
    await harness.refund(payment, { amount: 40_000, reason: 'One parcel was damaged' });
    assert.equal(await page.locator('.refunds').count(), 0);
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.locator('.refunds').getByText('One parcel was damaged').waitFor();
  });

  test('on paper it keeps what was paid and that it was a test, and loses what can only be pressed', async () => {
    const payment = await harness.create({ method: 'cards', return_url: returnUrl });
    await payByCard(payment.url);
    await harness.until(payment, 'succeeded');
    const { page } = await harness.open(payment, { language: 'en-GB' });
    // A dialog for printing stays open in some browsers, and nothing else is printed meanwhile.
    await page.evaluate('window.print = () => { document.body.dataset.printed = "yes"; }');
    await page.getByRole('button', { name: 'Print the receipt' }).click();
    await page.locator('body[data-printed]').waitFor({ state: 'attached' });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const text of ['Test mode', '₽1,250', 'A-10422', 'Paid', 'Moscow time', 'Visa •• 1111']) {
      assert.ok(await page.getByText(text).first().isVisible(), text);
    }
    for (const pressed of ['#return', '[data-print]', '.languages', '.foot'])
      assert.equal(await page.locator(pressed).isVisible(), false, pressed);
    const colours = await page.evaluate<
      string[]
    >(`['body', '.summary', '.work', '.amount', '.panel-title', '.receipt dd'].map((part) => {
      const { color, backgroundColor, backgroundImage } = getComputedStyle(document.querySelector(part));
      return [color, backgroundColor, backgroundImage].join(' ');
    })`);
    for (const colour of colours)
      assert.doesNotMatch(colour, /rgb\((?!0, 0, 0\)|255, 255, 255\))|gradient/, 'black on white');
    const paper = await page.pdf({ format: 'A4' });
    assert.equal(paper.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, 'one sheet');
  });

  test('a buyer who is stuck at the bank is shown a way to the shop, and not one to pay twice', async () => {
    const waiting = {
      return_url: 'https://shop.example/done?order=7',
      metadata: { simulator_outcome: 'requires_action' },
    };
    const payment = await harness.create({ method: 'tpay', ...waiting });
    await pay(payment.url);
    const { page } = await harness.open(payment, { language: 'en-GB' });
    await page.getByText('Can’t pay this way?').click();
    await page.getByText('If you have not confirmed anything at the bank').waitFor();
    await page.getByRole('link', { name: 'Go to shop.example' }).click();
    await page.waitForURL('https://shop.example/');
    const fixed = await harness.open(await harness.create({ method: 'sbp', ...waiting }));
    await fixed.page.getByText('Нужен другой способ оплаты?').click();
    assert.ok(await fixed.page.getByRole('link', { name: 'Перейти на shop.example' }).isVisible());
    const free = await harness.open(await harness.create(waiting));
    assert.equal(
      await free.page.locator('.way-on').count(),
      0,
      'the other methods are there to be chosen',
    );
  });
});
