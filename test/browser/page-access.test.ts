/**
 * The hosted page for everybody: axe finds nothing in any state, and letters of twice the size fit
 * a phone.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { CDPSession, Page } from 'playwright-core';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { type Browser, flawsOf, noChromium, openWindow, startChromium } from './chromium.ts';
import { openHarness, type Created, type Harness } from './harness.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

interface Shown {
  readonly url: string;
  /** What is done on the page before it is looked at. */
  readonly act?: (page: Page) => Promise<void>;
}

const waiting = {
  return_url: 'https://shop.example/done',
  metadata: { simulator_outcome: 'requires_action' },
};

const atBank = async (harness: Harness, body: object): Promise<Created> => {
  const payment = await harness.create({ ...waiting, ...body });
  await ('method' in body && body.method === 'cards' ? payByCard : pay)(payment.url);
  return payment;
};

const over = async (harness: Harness, body: object, status: string): Promise<Created> => {
  const payment = await harness.create({ method: 'cards', ...body });
  await payByCard(payment.url);
  await harness.until(payment, status);
  return payment;
};

const submit = (page: Page): Promise<void> => page.locator('#pay .primary').click();

/** Every state of the page, by name. */
const states: Readonly<Record<string, (harness: Harness) => Promise<Shown>>> = {
  'a choice of methods': (harness) => harness.create(),
  'a card with every field wrong': async (harness) => ({
    ...(await harness.create()),
    act: async (page) => {
      await page.locator('label[for=method-cards]').click();
      await submit(page);
      await page.locator('#card-number').fill('378282246310005');
    },
  }),
  'test cards and another way': async (harness) => ({
    ...(await harness.create({ ...waiting, method: 'cards' })),
    act: async (page) => {
      for (const opened of ['.test-cards summary', '.way-on summary'])
        await page.locator(opened).click();
      await page.locator('.test-card').first().click();
    },
  }),
  'a QR code': (harness) => atBank(harness, { method: 'sbp' }),
  'a bank’s app': (harness) => atBank(harness, { method: 'tpay' }),
  '3-D Secure': (harness) => atBank(harness, { method: 'cards' }),
  'the terms of a subscription': (harness) =>
    harness.subscribe({ trial_days: 14, interval_count: 2, plan_name: 'Кофе и чай '.repeat(20) }),
  'a subscription that has begun': async (harness) => {
    const payment = await harness.subscribe();
    await payByCard(payment.url);
    await confirmAtBank(payment.url);
    await harness.until(payment, 'succeeded');
    return payment;
  },
  'a bank that is silent': (harness) =>
    atBank(harness, { method: 'sbp', metadata: { simulator_outcome: 'pending' } }),
  'the bank’s own page': async (harness) => ({
    url: `${(await atBank(harness, { method: 'cards' })).url}/bank`,
  }),
  'a receipt with refunds': async (harness) => {
    const payment = await over(harness, { return_url: waiting.return_url }, 'succeeded');
    await harness.refund(payment, {
      amount: 40_000,
      reason: 'Один пакет был повреждён при доставке',
    });
    await harness.refund(payment, { amount: 10_005 });
    return payment;
  },
  'all given back': async (harness) => {
    const payment = await over(harness, { amount: 120_000 }, 'succeeded');
    await harness.refund(payment, {});
    return payment;
  },
  'a decline': (harness) =>
    over(harness, { amount: 10_002, return_url: waiting.return_url }, 'failed'),
  'a card that is asked for again': async (harness) => {
    const payment = await harness.create({ ...waiting, method: 'cards' });
    await harness.loseOrder(payment);
    return {
      ...payment,
      act: (page) => page.getByText(/банк не получил карту|did not get your card/).waitFor(),
    };
  },
  'money that came too late': async (harness) => {
    const metadata = { simulator_outcome: 'failed', simulator_callbacks: 'contradictory' };
    const payment = await over(harness, { metadata }, 'failed');
    await eventually(
      async () => (await payment.read())['captured_at'] ?? undefined,
      'the bank has contradicted itself',
    );
    return { ...payment, act: (page) => page.getByText(/слишком поздно|too late/).waitFor() };
  },
  'a cancelled payment': async (harness) => {
    const payment = await harness.create();
    await harness.cancel(payment);
    return payment;
  },
  'a long order': (harness) =>
    harness.create({
      amount: Number.MAX_SAFE_INTEGER,
      order_id: `order-${'7'.repeat(90)}`,
      description: 'Очень длинное описание заказа '.repeat(12),
    }),
  'an unknown address': async (harness) => ({
    url: `${new URL((await harness.create()).url).origin}/pay/nonsense`,
  }),
};

/**
 * What does not fit: what stands out at the side, text over other text, a field that shows less
 * than it holds. A script of the page's, as text: this program knows no documents.
 */
const misfits = `(() => {
  const { documentElement, body } = document;
  const wide = documentElement.scrollWidth > innerWidth ? ['the page is ' + documentElement.scrollWidth + ' wide'] : [];
  const texts = [];
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const place = node.parentElement;
    const text = node.textContent.trim().slice(0, 30);
    if (!text || !place.checkVisibility({ visibilityProperty: true })) continue;
    if (place.closest('.unseen, .description, select, noscript')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) texts.push({ text, box, place });
  }
  const beside = texts.filter(({ box }) => box.right > innerWidth + 1 || box.left < -1).map(({ text }) => text + ' stands out');
  const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
  const covers = (a, b) => shared(a, b, 'left', 'right') > 2 && shared(a, b, 'top', 'bottom') > 6;
  const over = texts.flatMap((a, index) =>
    texts
      .slice(index + 1)
      .filter((b) => a.place !== b.place && covers(a.box, b.box))
      .map((b) => a.text + ' is over ' + b.text),
  );
  const cut = [...document.querySelectorAll('input')].filter((input) => input.scrollWidth > input.clientWidth + 1);
  if (texts.length < 5) return ['nothing was looked at'];
  return [...wide, ...beside, ...over, ...cut.map(({ id }) => id + ' is cut')];
})()`;

const languages = ['ru-RU', 'en-GB'] as const;

const looks = [
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/**
 * How axe looks at a state in a language, both by their numbers: at each state once, by turns in
 * each language and look. A run of what takes long sees all.
 */
const looksOf = (state: number, language: number): readonly (typeof looks)[number][] => {
  if (isLong) return looks;
  const chosen = Math.floor(state / 2) % looks.length;
  return state % languages.length === language ? looks.slice(chosen, chosen + 1) : [];
};

describe('the hosted page for everybody', { skip: noChromium }, () => {
  let harness: Harness;
  let browser: Browser;
  let pages: readonly { readonly page: Page; readonly settings: CDPSession }[];
  before(async () => {
    [harness, browser] = await Promise.all([openHarness(), startChromium()]);
    pages = await Promise.all(
      languages.map(async (language) => {
        const page = await (await openWindow(browser, { language })).newPage();
        return { page, settings: await page.context().newCDPSession(page) };
      }),
    );
  });
  after(async () => {
    await browser?.close();
    await harness?.close();
  });

  for (const [state, [name, prepare]] of Object.entries(states).entries()) {
    test(`${name}: axe finds nothing on a phone and a desk, in light and dark; twice as large letters fit a phone`, async () => {
      const { url, act } = await prepare(harness);
      for (const [language, { page, settings }] of pages.entries()) {
        const views = looksOf(state, language);
        if (views.length === 0) continue;
        const write = (size_px: number) =>
          settings.send('Page.setFontSizes', { fontSizes: { standard: size_px } });
        await page.goto(url);
        await act?.(page);
        for (const { width, colorScheme } of views) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          assert.deepEqual(await flawsOf(page), [], `${width} ${colorScheme}`);
        }
        await page.setViewportSize({ width: 390, height: 844 });
        await write(32);
        await page.evaluate('document.fonts.ready.then(() => null)');
        assert.equal(
          await page.evaluate('getComputedStyle(document.documentElement).fontSize'),
          '32px',
        );
        assert.deepEqual(await page.evaluate(misfits), []);
        await write(16);
      }
    });
  }
});
