/** What administrators set: limits, names, receipts, endpoints, words, fees from a moment. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole, type ConsoleWindow } from './console-window.ts';
import { openVisitor } from './visitor.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

const openAt = async (
  role: 'viewer' | 'admin',
  path: string,
): Promise<ConsoleWindow & { readonly cookie: string }> => {
  const cookie = await makeSession(service, role);
  const opened = await openConsole(service.rest, cookie);
  await opened.page.goto(`${service.rest}/console/${path}`);
  return { ...opened, cookie };
};

/** Fills the dialog that a button opens, confirms it by its own button, and closes it. */
const act = async (
  page: Page,
  within: Page | Locator,
  name: string,
  fill: (dialog: Locator) => Promise<void> = () => Promise.resolve(),
  done = 'Saved.',
): Promise<void> => {
  await within.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog', { name });
  await fill(dialog);
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.getByText(done).first().waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
};

const settingsOf = async (merchant: Merchant): Promise<any> => {
  const query = `query ($m: ID!) { merchant(id: $m) { name rateLimit { perSecond burst } shops { name receiptsRequired webhookEndpoints { url active events } } } }`;
  return (await askGraph(service, query, { m: merchant.id })).merchant;
};

describe('an administrator', { skip: noChromium }, () => {
  test('orders a refund again that the bank refused, from its alert; a person of the merchant does not', async () => {
    const merchant = await makeMerchant(service);
    // The bank refuses, then approves; and it refuses to give back what ends in 02.
    const metadata = { simulator_outcome: 'failed', simulator_callbacks: 'contradictory' };
    const body = { amount: 10_002, method: 'cards', metadata };
    const made = await merchant.call('POST', '/payments', body);
    await payByCard(made.body.payment_url);
    const refunds = async (): Promise<any[]> =>
      (await merchant.call('GET', '/refunds')).body.items.toReversed();
    await eventually(async () => (await refunds())[0]?.status === 'failed', 'a refused refund');
    const [refused] = await refunds();
    const theirs = openVisitor(service.rest);
    theirs.become(`console=${await makeSession(service, 'admin', merchant.id)}`);
    const asked = await theirs.ask('RetryRefund', { merchantId: merchant.id, id: refused.id });
    assert.equal(asked.errors[0].extensions.code, 'forbidden', JSON.stringify(asked));

    const { page, complaints } = await openAt('admin', `alerts?mode=test&merchant=${merchant.id}`);
    const card = page.getByRole('row').filter({ hasText: /It is in suspense/ });
    await act(
      page,
      card,
      'Order the refund again',
      undefined,
      'Ordered again. The refund: Failed.',
    );
    assert.deepEqual(
      (await refunds()).map(({ status, amount }) => [status, amount]),
      [
        ['failed', 10_002],
        ['failed', 10_002],
      ],
    );
    await eventually(async () => (await card.count()) === 2, 'an alert of the second refusal');
    assert.deepEqual(complaints, []);
  });

  if (isLong)
    test('sets limits, names and receipts, and changes, disables and deletes an endpoint', async () => {
      const merchant = await makeMerchant(service);
      await merchant.endpoint('http://127.0.0.1:1/first');
      const { page, complaints } = await openAt('admin', `merchants/${merchant.id}`);
      await act(page, page, 'Change the rate limit', async (dialog) => {
        const send = dialog.getByRole('button', { name: 'Change the rate limit' });
        await dialog.getByLabel('Requests a second').fill('20000');
        assert.equal(await send.isDisabled(), true, 'more than may be set');
        await dialog.getByLabel('Requests a second').fill('70');
        await dialog.getByLabel('Burst').fill('140');
      });
      await page.getByText('70 a second, bursts of 140').waitFor();
      await act(page, page, 'Add a shop', (dialog) =>
        dialog.getByLabel('Name').fill('Second shop'),
      );
      await page.getByRole('heading', { name: 'Second shop' }).waitFor();
      const shop = page.locator('section.card').filter({ hasText: 'Tea & Cakes' });
      await act(page, shop, 'Require receipts');
      await shop.getByText('Required: payments without a receipt are refused').waitFor();
      await act(page, shop, 'Rename the shop', (dialog) =>
        dialog.getByLabel('Name').fill('Tea & Pies'),
      );
      const renamed = page.locator('section.card').filter({ hasText: 'Tea & Pies' });
      const line = renamed.getByRole('listitem').filter({ hasText: '127.0.0.1:1/' });
      await act(page, line, 'Edit', async (dialog) => {
        await dialog.getByLabel('Address').fill('http://127.0.0.1:1/second');
        await dialog.getByLabel('payment.succeeded').check();
      });
      await line.getByText('payment.succeeded').waitFor();
      await line.getByRole('button', { name: 'New secret' }).click();
      const secret = page.getByRole('dialog', { name: 'New secret' });
      await secret.getByRole('button', { name: 'New secret' }).click();
      await secret.getByText(/^whs_/).waitFor();
      await secret.getByRole('button', { name: 'Close' }).last().click();
      await secret.waitFor({ state: 'detached' });
      await act(page, line, 'Disable');
      await line.getByText('disabled').waitFor();
      const after = await settingsOf(merchant);
      assert.deepEqual(after.rateLimit, { perSecond: 70, burst: 140 });
      assert.deepEqual(after.shops[0], {
        name: 'Tea & Pies',
        receiptsRequired: true,
        webhookEndpoints: [
          { url: 'http://127.0.0.1:1/second', active: false, events: ['payment_succeeded'] },
        ],
      });
      await act(page, line, 'Delete');
      await line.waitFor({ state: 'detached' });
      assert.deepEqual((await settingsOf(merchant)).shops[0].webhookEndpoints, []);
      assert.deepEqual(complaints, []);
    });

  test('writes down who a merchant is, and sees its money and the fees that it pays', async () => {
    const merchant = await makeMerchant(service);
    const { body } = await merchant.call('POST', '/payments', { amount: 50_000, method: 'cards' });
    await payByCard(body.payment_url);
    const { page, complaints } = await openAt('admin', `merchants/${merchant.id}?mode=test`);
    const details = page.locator('section.card').filter({ hasText: 'Details' });
    await details.getByText('Nothing is known yet.').waitFor();
    await act(page, details, 'Change the details', async (dialog) => {
      await dialog.getByLabel('Legal name').fill('ООО «Чайная»');
      await dialog.getByLabel('INN').fill('7707 0838 93');
      await dialog.getByLabel('Phone for buyers').fill('8 (495) 123-45-67');
      await dialog.getByLabel('Public offer').fill('https://tea.example/offer');
    });
    await details.getByText('+74951234567').waitFor();
    await details.getByText('7707083893').waitFor();
    await details.getByRole('link', { name: 'https://tea.example/offer' }).waitFor();
    const money = page.locator('section.card').filter({ hasText: 'Money, Test' });
    await money.getByText('₽500.00').first().waitFor();
    await money.getByText('Payments in 30 days').waitFor();
    const fees = page.getByRole('table', { name: /Fees that are in force/ });
    await fees.getByRole('row', { name: /^Cards 2\.80%.*the platform/ }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('forbids a word and allows it again; a fee may hold from a moment ahead', async () => {
    const merchant = await makeMerchant(service);
    const word = `word${merchant.id.slice(0, 8)}`;
    const { page, complaints } = await openAt('admin', 'policies?mode=test&tab=words');
    const inForce = 'It is in force.';
    await act(
      page,
      page,
      'Forbid a word',
      async (dialog) => {
        await dialog.getByLabel(/^Word/).fill(word.toUpperCase());
        await dialog.getByLabel('Reason').fill('asked by the bank');
      },
      inForce,
    );
    const row = page.getByRole('row', { name: new RegExp(word) });
    await row.waitFor();
    await act(page, row, 'Allow', undefined, inForce);
    await row.waitFor({ state: 'detached' });

    await go(page, `${service.rest}/console/policies?mode=test&tab=rates&merchant=${merchant.id}`);
    await act(
      page,
      page,
      'Set a fee',
      async (dialog) => {
        await dialog.getByLabel('Fee, %').fill('3.10');
        const from = dialog.getByLabel(/In force from/);
        await from.fill('2020-01-01T10:00');
        const send = dialog.getByRole('button', { name: 'Set a fee' });
        assert.equal(await send.isDisabled(), true, 'a moment that is past');
        await from.fill('2090-01-01T10:00');
        await dialog.getByText(/It applies to what succeeds from .*2090/).waitFor();
      },
      'not yet in force',
    );
    await page.getByRole('row', { name: /3\.10%.*not yet in force/ }).waitFor();
    const { rateHistory } = await askGraph(
      service,
      'query ($m: ID!) { rateHistory(merchantId: $m) { nodes { rateBps since } } }',
      { m: merchant.id },
    );
    assert.equal(rateHistory.nodes[0].rateBps, 310);
    assert.match(rateHistory.nodes[0].since, /^(2089-12-31|2090-01-0[12])T/);
    assert.deepEqual(complaints, []);
  });
});

describe('a viewer', { skip: noChromium }, () => {
  test('sees what is set and changes none of it; the graph refuses, too', async () => {
    const merchant = await makeMerchant(service);
    await merchant.endpoint('http://127.0.0.1:1/hook');
    const { page, cookie } = await openAt('viewer', `merchants/${merchant.id}`);
    for (const name of [
      /^Change the rate limit/,
      /^Rename/,
      /^Add a shop/,
      /^Require receipts/,
      /^Edit/,
      /^Disable/,
      /^New secret/,
      /^Delete/,
    ]) {
      const button = page.getByRole('button', { name }).first();
      await button.waitFor();
      assert.equal(await button.getAttribute('aria-disabled'), 'true', String(name));
    }
    await go(page, `${service.rest}/console/policies?mode=test&tab=words`);
    const forbid = page.getByRole('button', { name: /^Forbid a word/ });
    await forbid.waitFor();
    assert.equal(await forbid.getAttribute('aria-disabled'), 'true');
    const visitor = openVisitor(service.rest);
    visitor.become(`console=${cookie}`);
    const m = { merchantId: merchant.id };
    for (const [operation, variables] of [
      ['LimitMerchant', { ...m, perSecond: 1, burst: 1 }],
      ['RenameMerchant', { ...m, name: 'x' }],
      ['AddShop', { ...m, name: 'x' }],
      ['RequireReceipts', { ...m, shopId: merchant.shopId, required: true }],
      ['ForbidWord', { word: 'x', reason: 'x' }],
      ['SetRate', { ...m, method: 'cards', rateBps: 1 }],
    ] as const) {
      const answer = await visitor.ask(operation, variables);
      assert.equal(answer.errors?.[0]?.extensions.code, 'forbidden', operation);
    }
  });
});
