/**
 * A buyer who binds a subscription first reads its terms (plan, price, trial, first charge, how to
 * cancel), and finds them on the receipt.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { noChromium } from './chromium.ts';
import { openBrowserHarness, type BrowserHarness } from './harness.ts';
import { eventually } from '../support/eventually.ts';

const day_ms = 86_400_000;

const terms = async (page: Page): Promise<string> =>
  (await page.locator('.terms').innerText()).replaceAll(/\s+/g, ' ');

/** Runs in the page: the text that is set in the largest letters; of several the first. */
const largestText = `[...document.body.querySelectorAll('*')]
  .filter((element) =>
    [...element.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent.trim()))
  .map((element) => [Number.parseFloat(getComputedStyle(element).fontSize), element.textContent])
  .toSorted(([one], [other]) => other - one)[0][1].replaceAll(/\\s+/g, ' ').trim()`;

const dayIn = (days: number, locale: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'Europe/Moscow' })
    .format(Date.now() + days * day_ms)
    .replaceAll(/\s+/g, ' ');

describe('the terms of a subscription', { skip: noChromium, concurrency: 2 }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  /** A binding by card is confirmed at the bank. */
  const bind = async (page: Page, { url }: { readonly url: string }): Promise<void> => {
    await payByCard(url);
    await confirmAtBank(url);
    await page.locator('.outcome .terms').waitFor();
  };

  test('a trial: until when it is free and when the first charge comes, then the same as a receipt', async () => {
    const dayBefore = dayIn(14, 'ru-RU');
    const payment = await harness.subscribe({ trial_days: 14 });
    const { page, complaints } = await harness.open(payment);
    const until = await terms(page);
    const day = [dayBefore, dayIn(14, 'ru-RU')].find((text) => until.includes(text)) ?? '';
    assert.notEqual(day, '', until);
    assert.equal(
      until,
      `Подписка Тариф Кофе каждый месяц Стоимость 990 ₽ в месяц Бесплатно 14 дней, до ${day} ` +
        `Первое списание 990 ₽, ${day} ` +
        'Отменить можно в любой момент в магазине: после этого ничего не спишется.',
    );
    assert.equal(await page.evaluate(largestText), 'К оплате 990 ₽ в месяц');
    assert.match(
      (await page.locator('.summary .description').innerText()).replaceAll(/\s+/g, ' '),
      /^Первое списание через 14 дней\. Банк проверит карту на 1 ₽\. Деньги не спишутся\.$/,
    );
    const agrees = (await page.locator('.primary-words').innerText()).replaceAll(/\s+/g, ' ');
    assert.equal(agrees, `Подписаться: 990 ₽ в месяц с ${day}`);
    await bind(page, payment);
    const after = await terms(page);
    assert.match(after, /990 ₽ в месяц Бесплатно 14 дней, до .+ Следующее списание /);
    assert.ok(after.includes(day) || after.includes(dayIn(14, 'ru-RU')), after);
    assert.match(after, /Отменить можно в любой момент/);
    assert.deepEqual(complaints, []);
  });

  test('no trial, every three months, in English: this payment is the first charge', async () => {
    const payment = await harness.subscribe({ interval_count: 3, plan_name: undefined });
    const { page } = await harness.open(payment, { language: 'en-GB' });
    assert.equal(
      await terms(page),
      'Subscription Price ₽990 every 3 months First charge With this payment ' +
        'You can cancel at any time in the shop: nothing is charged after that.',
    );
    await bind(page, payment);
    const receipt = await eventually(async () => {
      await page.reload();
      const text = await terms(page);
      return text.includes('Next charge') ? text : undefined;
    }, 'the receipt names the next charge');
    assert.match(receipt, /^Subscription Price ₽990 every 3 months Next charge \w+ \d+, \d{4} /);
  });

  test('a payment that begins no subscription shows no terms', async () => {
    const { page } = await harness.open(await harness.create());
    await page.locator('.summary .amount').waitFor();
    assert.equal(await page.locator('.terms').count(), 0);
  });

  test('a plan named like markup is text', async () => {
    const name = '<b onclick="x">Чай</b>'.repeat(10);
    const { page, complaints } = await harness.open(await harness.subscribe({ plan_name: name }));
    assert.ok((await terms(page)).includes(name));
    assert.deepEqual(complaints, []);
  });
});
