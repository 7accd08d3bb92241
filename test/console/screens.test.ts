/**
 * Every screen for everybody: axe finds nothing, in both languages and themes, wide and narrow. The
 * long form has each screen in every look, and leaves pictures of them.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { flawsOf, noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { setClock } from '../support/test-clock.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

const pictures = join(import.meta.dirname, '../browser/screenshots');

let service: ServiceInUse;
let merchant: Merchant;
let cookie: string;
let paymentId: string;
let deliveryId: string;
let linkId: string;
let subscriptionId: string;
let payoutId: string;
let prepaidId: string;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
  cookie = await makeSession(service, 'admin');
  // People of a chosen merchant are its own.
  await makeSession(service, 'viewer', merchant.id);
  // An address without a listener: its webhooks stay pending.
  await merchant.endpoint('http://127.0.0.1:1/');
  for (const order_id of ['order-1', 'order-2', 'order-3']) {
    const { body } = await merchant.call('POST', '/payments', {
      // Home's tile has room for a seven-digit amount.
      amount: order_id === 'order-3' ? 123_456_700 : 125_000,
      order_id,
      method: 'cards',
    });
    paymentId = body.payment.id;
    if (order_id !== 'order-1') await payByCard(body.payment_url);
  }
  // The simulator declines this amount: home has three tables of rates then.
  const declined = await merchant.call('POST', '/payments', {
    amount: 120_001,
    // At 1024 px a table has no room for all of its columns beside this.
    order_id: 'order-declined-2026-0000048812',
    method: 'cards',
  });
  await payByCard(declined.body.payment_url);
  const prepaid = receiptOf(10_000);
  const ordered = await merchant.call('POST', '/payments', {
    amount: 10_000,
    order_id: 'order-prepaid',
    method: 'cards',
    receipt: {
      ...prepaid,
      items: prepaid.items.map((item) => ({ ...item, payment_mode: 'full_prepayment' })),
    },
  });
  prepaidId = ordered.body.payment.id;
  await payByCard(ordered.body.payment_url);
  const link = await merchant.call('POST', '/links', { amount: 250_000, description: 'Cakes' });
  linkId = link.body.link.id;
  const subscription = await merchant.call('POST', '/subscriptions', {
    amount: 99_000,
    customer_ref: 'buyer-1',
    plan_name: 'Tea each month',
  });
  subscriptionId = subscription.body.subscription.id;
  // On a clock that stands no bank would answer.
  await eventually(async () => {
    const { body } = await merchant.call('GET', '/payments');
    return body.items.filter((one: any) => one.status === 'succeeded').length === 3;
  }, 'the payments');
  const payout = await merchant.call('POST', '/payouts', {
    amount: 10_000,
    phone: '+79161234567',
    bank_id: '100000000111',
  });
  payoutId = payout.body.payout.id;
  await Promise.all([
    setClock(service, merchant, 'Create', `, at: "${new Date().toISOString()}"`),
    askGraph(
      service,
      `mutation { rateSet(merchantId: "${merchant.id}", method: cards, rateBps: 280) { __typename } blockEntryAdd(merchantId: "${merchant.id}", kind: customer, value: "thief", reason: "chargebacks") { __typename } }`,
    ),
  ]);
  deliveryId = await eventually(async () => {
    const { webhookDeliveries } = await askGraph(
      service,
      'query ($m: ID!) { webhookDeliveries(merchantId: $m, first: 1) { nodes { id } } }',
      { m: merchant.id },
    );
    return webhookDeliveries.nodes[0]?.id as string | undefined;
  }, 'a webhook');
  const draft = `input: { amount: 120050, phone: "+79161234567", bankId: "100000000111", fullName: "Petrov I." }`;
  const data = await askGraph(
    service,
    `mutation { draft: payoutDraftCreate(merchantId: "${merchant.id}", shopId: "${merchant.shopId}", mode: test, reason: "September", ${draft}) { __typename } }`,
  );
  assert.equal(data.draft.__typename, 'PayoutDraftCreated');
  if (isLong) mkdirSync(pictures, { recursive: true });
});
after(() => service?.stop());

/** Every screen, with what is on it when it has come to rest. */
const screens: readonly (readonly [path: string, ready: string])[] = [
  ['', '.rates .table-place:nth-of-type(3)'],
  ['payments', 'tbody tr'],
  ['payments?status=expired', '.state'],
  ['refunds', '.state'],
  ['receipts', 'tbody tr'],
  ['payouts', 'tbody tr'],
  ['payouts?tab=drafts', 'tbody tr'],
  ['paylinks', 'tbody tr'],
  ['subscriptions', 'tbody tr'],
  ['subscriptions?tab=tokens', 'tbody tr'],
  ['balance', '.strip'],
  ['reports', '.chart'],
  ['reports?by=bank&span=day', '.chart'],
  ['reports?tab=closing', 'tbody tr'],
  ['webhooks', 'tbody tr'],
  ['banks', 'tbody tr'],
  ['reconciliation', 'h1'],
  ['reconciliation?tab=runs', 'h1'],
  ['alerts', 'h1'],
  ['audit', 'tbody tr'],
  ['merchants', 'tbody tr'],
  ['people', 'tbody tr'],
  ['settings', '.card'],
  ['payments?method=cards&since=2026-01-01T00:00:00.000Z', '.chosen'],
  ['developers', 'tbody tr'],
  ['developers?tab=security', '.card'],
  ['developers?tab=clock', '.slider'],
  ['developers?tab=requests', 'tbody tr'],
  ['developers?tab=events', 'tbody tr'],
  ['policies', '.state'],
  ['policies?tab=accounts', '.state'],
  ['policies?tab=rates', 'tbody tr'],
  ['policies?tab=blocks', 'tbody tr'],
  ['policies?tab=words', 'h1'],
  ['policies?tab=exchange', 'h1'],
  ['payments?open=:merchant/:payment', '.timeline'],
  ['webhooks?open=:merchant/:delivery', '.copy-block'],
  ['paylinks?open=:link', '.payment'],
  ['subscriptions?open=:merchant/:subscription', '.payment'],
  ['payouts?open=:merchant/:payout', '.timeline'],
  ['merchants/:merchant', '.card'],
  ['payments/:merchant/:payment', '.timeline'],
  ['payouts/:merchant/:payout', '.timeline'],
  ['customer?merchant=:merchant&customer=buyer-1', 'tbody tr'],
];

/** Every dialog, with where it is opened and by which button. */
const dialogs: readonly (readonly [path: string, button: RegExp])[] = [
  ['payouts?tab=drafts', /^(Approve|Одобрить)$/],
  ['payouts?tab=drafts', /^(New payout|Новая выплата)/],
  ['payments/:merchant/:prepaid', /^(Make the closing receipt|Пробить закрывающий чек)$/],
  ['payments/:merchant/:prepaid', /^(Erase personal data|Удалить персональные данные)$/],
  ['merchants/:merchant', /^(Edit|Изменить)$/],
  ['policies?tab=rates', /^(Set a fee|Задать комиссию)$/],
];

interface View {
  readonly theme: 'light' | 'dark';
  readonly width: number;
}

const languages = ['en-GB', 'ru-RU'] as const;
const longViews: Readonly<Record<(typeof languages)[number], readonly View[]>> = {
  'en-GB': [
    { theme: 'light', width: 1_440 },
    { theme: 'dark', width: 390 },
    { theme: 'light', width: 768 },
    { theme: 'light', width: 1_024 },
  ],
  'ru-RU': [
    { theme: 'dark', width: 1_440 },
    { theme: 'light', width: 390 },
    { theme: 'dark', width: 768 },
  ],
};

/**
 * How the nth screen is looked at in a language; not at all by an empty list. In short each is
 * looked at once: four screens in turn have every pair of language, theme and width.
 */
const viewsOf = (nth: number, language: (typeof languages)[number]): readonly View[] => {
  if (isLong) return longViews[language];
  if (nth % 2 !== languages.indexOf(language)) return [];
  const isWide = nth % 4 === 0 || nth % 4 === 3;
  const theme = nth % 4 === 0 || nth % 4 === 1 ? 'light' : 'dark';
  return isWide
    ? [
        { theme, width: 1_440 },
        { theme, width: nth % 4 === 0 ? 1_024 : 768 },
      ]
    : [{ theme, width: 390 }];
};

const show = async (page: Page, { theme, width }: View): Promise<void> => {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height: 900 });
};

/** The address of a path, which names ids by what they are of. */
const addressOf = (path: string): string => {
  const ids: Readonly<Record<string, string>> = {
    merchant: merchant.id,
    payment: paymentId,
    prepaid: prepaidId,
    link: linkId,
    payout: payoutId,
    delivery: deliveryId,
    subscription: subscriptionId,
  };
  const named = path.replaceAll(/:([a-z]+)/g, (_, name: string) => ids[name] ?? '');
  const url = new URL(`${service.rest}/console/${named}`);
  url.searchParams.set('mode', 'test');
  url.searchParams.set('merchant', merchant.id);
  return url.href;
};

/** Goes to a path as a link does, by way of an address that has no screen: nothing stays behind. */
const follow = async (page: Page, path: string): Promise<void> => {
  const nowhere = page.getByRole('heading', {
    name: /^(There is nothing at this|По этому адресу ничего нет)/,
  });
  await go(page, addressOf('nowhere'));
  await nowhere.waitFor();
  await go(page, addressOf(path));
  await nowhere.waitFor({ state: 'detached' });
};

/** Waits until every table is one, but on a telephone, and has the columns that it has room for. */
const fits = (page: Page, width: number, seen: string): Promise<boolean> =>
  eventually(
    () =>
      page.evaluate<boolean>(
        `[...document.querySelectorAll('.table')].every((table) =>
          (${width} < 768 || getComputedStyle(table).display === 'table') &&
          table.offsetWidth <= table.parentElement.clientWidth)`,
      ),
    `the tables of ${seen} in their places`,
  );

/** Looks at what the page has, in each of these views, of which the first is shown already. */
const look = async (page: Page, views: readonly View[], name: string): Promise<void> => {
  for (const [nth, view] of views.entries()) {
    const { theme, width } = view;
    const seen = `${name} ${theme} ${width}`;
    if (nth > 0) await show(page, view);
    if (nth === 0 || isLong) assert.deepEqual(await flawsOf(page), [], seen);
    const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(over <= 0, `${seen} is ${over} px too wide`);
    await fits(page, width, seen);
    const cut = await page.evaluate<number>(
      `[...document.querySelectorAll('.tile')].filter((tile) => [...tile.querySelectorAll('*')]
        .some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)).length`,
    );
    assert.equal(cut, 0, `${seen} has numbers wider than their tiles`);
    const file = `console-${seen}`.replaceAll(/[^\w-]+/g, '-');
    if (isLong) await page.screenshot({ path: join(pictures, `${file}.png`) });
  }
};

describe('every screen', { skip: noChromium }, () => {
  for (const language of languages) {
    const open = async () => {
      const opened = await openConsole(service.rest, cookie, { language });
      await opened.page.goto(addressOf(''));
      const goTo = (path: string) =>
        isLong ? opened.page.goto(addressOf(path)) : follow(opened.page, path);
      return { ...opened, goTo };
    };

    test(`is clean for axe, fits its width and breaks no policy: ${language}`, async () => {
      const { page, complaints, goTo } = await open();
      for (const [nth, [path, ready]] of screens.entries()) {
        const views = viewsOf(nth, language);
        const [first] = views;
        if (!first) continue;
        await show(page, first);
        await goTo(path);
        await page
          .locator(ready)
          .first()
          .waitFor()
          .catch((cause: unknown) =>
            assert.fail(`${language} ${path} shows no ${ready}: ${String(cause)}`),
          );
        await look(page, views, `${language} ${path}`);
      }
      assert.deepEqual(complaints, []);
    });

    test(`the dialogs are clean: ${language}`, async () => {
      const { page, goTo } = await open();
      for (const [nth, [path, button]] of dialogs.entries()) {
        const views = viewsOf(nth, language);
        const [first] = views;
        if (!first) continue;
        await show(page, first);
        await goTo(path);
        await page.getByRole('button', { name: button }).first().click();
        const dialog = page.getByRole('dialog');
        await dialog.locator('.dialog-foot').waitFor();
        await look(page, views, `${language} dialog ${nth} ${path}`);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
    });
  }

  test('says in its title, its bar and its switch that it is the test mode', async () => {
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(addressOf('payments'));
    await page.getByText('Test mode: a simulated bank, no real money.').waitFor();
    assert.match(await page.title(), /^\[Test\] /);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByText('No payments yet').waitFor();
    assert.equal(await page.title(), 'Payments');
    assert.equal(await page.getByText('no real money').count(), 0);
    await page.goBack();
    await page.getByRole('cell', { name: /order-1/ }).waitFor();
  });
});
