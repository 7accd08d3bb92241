/** Every screen for everybody: axe finds nothing, in both languages and themes, wide and narrow. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Browser, noChromium, startChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { setClock } from '../support/test-clock.ts';
import { makeSession, openConsole, type Look } from './console-window.ts';
import { eventually } from '../support/eventually.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = join(import.meta.dirname, '../browser/screenshots');

let service: ServiceInUse;
let browser: Browser;
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
  [service, browser] = await Promise.all([openPlainService(), startChromium()]);
  merchant = await makeMerchant(service);
  cookie = await makeSession(service, 'admin');
  // Nobody listens there: its webhooks stay on their way.
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
    order_id: 'order-declined',
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
  mkdirSync(pictures, { recursive: true });
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Every screen, with what is on it when it has come to rest. */
const screens: readonly (readonly [path: string, ready: string])[] = [
  ['', '.rates table:nth-of-type(3)'],
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
  ['developers?tab=events', 'tbody tr'],
  ['policies', '.state'],
  ['policies?tab=accounts', '.state'],
  ['policies?tab=rates', 'tbody tr'],
  ['policies?tab=blocks', 'tbody tr'],
  ['policies?tab=words', 'h1'],
  ['policies?tab=exchange', 'h1'],
];

const looks: readonly Look[] = [
  { language: 'en-GB', theme: 'light', width: 1_440 },
  { language: 'ru-RU', theme: 'dark', width: 1_440 },
  { language: 'ru-RU', theme: 'light', width: 390 },
  { language: 'en-GB', theme: 'dark', width: 390 },
  { language: 'en-GB', theme: 'light', width: 768 },
  { language: 'ru-RU', theme: 'dark', width: 768 },
];

const findings = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(`${axe}; 0`);
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))',
  );
};

const addressOf = (path: string): string => {
  const url = new URL(`${service.rest}/console/${path}`);
  url.searchParams.set('mode', 'test');
  url.searchParams.set('merchant', merchant.id);
  return url.href;
};

describe('every screen', { skip: noChromium }, () => {
  for (const look of looks) {
    const name = `${look.language} ${look.theme} ${look.width}`;
    test(`is clean for axe, fits its width and breaks no policy: ${name}`, async () => {
      const { page, context, complaints } = await openConsole(browser, service.rest, cookie, look);
      const open = `payments?open=${merchant.id}/${paymentId}`;
      for (const [path, ready] of [
        ...screens,
        [open, '.timeline'] as const,
        [`webhooks?open=${merchant.id}/${deliveryId}`, '.copy-block'] as const,
        [`paylinks?open=${linkId}`, '.payment'] as const,
        [`subscriptions?open=${merchant.id}/${subscriptionId}`, '.payment'] as const,
        [`payouts?open=${merchant.id}/${payoutId}`, '.timeline'] as const,
        [`merchants/${merchant.id}`, '.card'] as const,
        [`payments/${merchant.id}/${paymentId}`, '.timeline'] as const,
        [`payouts/${merchant.id}/${payoutId}`, '.timeline'] as const,
      ]) {
        await page.goto(addressOf(path));
        await page.locator(ready).first().waitFor();
        assert.deepEqual(await findings(page), [], `${name} ${path}`);
        const over = await page.evaluate<number>(
          'document.documentElement.scrollWidth - innerWidth',
        );
        assert.ok(over <= 0, `${name} ${path} is ${over} px too wide`);
        const cut = await page.evaluate<number>(
          `[...document.querySelectorAll('.tile')].filter((tile) => [...tile.querySelectorAll('*')]
            .some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)).length`,
        );
        assert.equal(cut, 0, `${name} ${path} has numbers wider than their tiles`);
        const file = `console-${name} ${path.replaceAll(merchant.id, 'm').replaceAll(paymentId, 'p').replaceAll(linkId, 'l').replaceAll(payoutId, 'o').replaceAll(deliveryId, 'd').replaceAll(subscriptionId, 's')}`;
        await page.screenshot({ path: join(pictures, `${file.replaceAll(/[^\w-]+/g, '-')}.png`) });
      }
      assert.deepEqual(complaints, []);
      await context.close();
    });
  }

  for (const look of looks)
    test(`the dialogs are clean: ${look.language} ${look.theme} ${look.width}`, async () => {
      const { page, context } = await openConsole(browser, service.rest, cookie, look);
      const payment = `payments/${merchant.id}/${prepaidId}`;
      for (const [path, button, name] of [
        ['payouts?tab=drafts', /^(Approve|Одобрить)$/, 'approve'],
        ['payouts?tab=drafts', /^(New payout|Новая выплата)/, 'new'],
        [payment, /^(Make the closing receipt|Пробить закрывающий чек)$/, 'closing'],
        [payment, /^(Erase personal data|Удалить персональные данные)$/, 'erase'],
        [`merchants/${merchant.id}`, /^(Edit|Изменить)$/, 'endpoint'],
        ['policies?tab=rates', /^(Set a fee|Задать комиссию)$/, 'fee'],
      ] as const) {
        await page.goto(addressOf(path));
        await page.getByRole('button', { name: button }).first().click();
        const dialog = page.getByRole('dialog');
        await dialog.locator('.dialog-foot').waitFor();
        assert.deepEqual(await findings(page), [], name);
        const over = await page.evaluate<number>(
          'document.documentElement.scrollWidth - innerWidth',
        );
        assert.ok(over <= 0, `${name} is ${over} px too wide`);
        const file = `console-${look.language}-${look.theme}-${look.width}-dialog-${name}.png`;
        await page.screenshot({ path: join(pictures, file) });
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
      await context.close();
    });

  test('says in its title, its bar and its switch that it is the test mode', async () => {
    const { page, context } = await openConsole(browser, service.rest, cookie);
    await page.goto(addressOf('payments'));
    await page.getByText('Test mode: a simulated bank, no real money.').waitFor();
    assert.match(await page.title(), /^\[Test\] /);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByText('No payments yet').waitFor();
    assert.equal(await page.title(), 'Payments');
    assert.equal(await page.getByText('no real money').count(), 0);
    await page.goBack();
    await page.getByRole('cell', { name: /order-1/ }).waitFor();
    await context.close();
  });
});
