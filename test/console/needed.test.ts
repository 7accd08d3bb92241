/** What needs a person, on home: one list, the newest first, and what to do beside each line. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { sumUpTo } from '../../console/src/reports/chart-numbers.ts';
import { makeSession, openConsole } from './console-window.ts';

let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
});
after(() => service?.stop());

const propose = async (of: Merchant, fullName: string): Promise<void> => {
  const input = `{ amount: 120050, phone: "+79161234567", bankId: "100000000111", fullName: "${fullName}" }`;
  const { draft } = await askGraph(
    service,
    `mutation { draft: payoutDraftCreate(merchantId: "${of.id}", shopId: "${of.shopId}", mode: test, reason: "September", input: ${input}) { __typename } }`,
  );
  assert.equal(draft.__typename, 'PayoutDraftCreated');
};

describe('what needs a person', { skip: noChromium }, () => {
  test('stands newest first, is decided in its line, and stays until that has been read', async () => {
    const stranger = await makeMerchant(service);
    await propose(merchant, 'Petrov I.');
    await propose(merchant, 'Sidorov P.');
    await propose(stranger, 'Ivanov A.');
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    const lines = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    await lines.nth(1).waitFor();
    const texts = await lines.allInnerTexts();
    assert.equal(texts.length, 2);
    assert.match(texts[0] ?? '', /Sidorov P\./);
    assert.match(texts[1] ?? '', /A payout to approve[^]*1,200\.50[^]*Petrov I\./);

    await lines.nth(1).getByRole('button', { name: 'Reject' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reject' });
    await dialog.getByLabel('Why').fill('Not in the budget');
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await dialog.getByText('The draft is rejected.').waitFor();
    assert.equal(await lines.count(), 2, 'the list stands still under its dialog');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await lines.nth(1).waitFor({ state: 'detached' });
    assert.match(await lines.first().innerText(), /Sidorov P\./);

    await lines
      .first()
      .getByRole('link', { name: /A payout to approve/ })
      .click();
    await page.getByRole('row', { name: /Sidorov P\./ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /Petrov I\./ }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('is a proposed refund, too, which is approved in its line', async () => {
    const of = await makeMerchant(service);
    const { body } = await of.call('POST', '/payments', {
      amount: 90_000,
      order_id: 'order-7',
      method: 'cards',
    });
    await payByCard(body.payment_url);
    const { id } = body.payment;
    await eventually(
      async () => (await of.call('GET', `/payments/${id}`)).body.status === 'succeeded',
      'the payment',
    );
    const { draft } = await askGraph(
      service,
      `mutation { draft: refundDraftCreate(merchantId: "${of.id}", paymentId: "${id}", amount: 30000, reason: "Broken cup", idempotency: { key: "r-1" }) { __typename } }`,
    );
    assert.equal(draft.__typename, 'RefundDraftCreated');
    const cookie = await makeSession(service, 'finance', of.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=live`);
    await page.getByText('Nothing needs attention.').waitFor();
    await page.goto(`${service.rest}/console/?mode=test`);
    const line = page
      .getByRole('list', { name: 'Needs attention' })
      .getByRole('listitem')
      .filter({ hasText: /A refund to approve: ₽300\.00[^]*order-7 · Broken cup/ });
    await line.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve' });
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.locator('.done').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await line.waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  test('is said to be nothing when it is nothing', async () => {
    const other = await makeMerchant(service);
    const cookie = await makeSession(service, 'viewer', other.id);
    const { page } = await openConsole(service.rest, cookie);
    // The same question again, as time continues, is none of its own.
    const asked = new Map<string, string>();
    page.on('request', (request) => {
      const question = request.postData() ?? '';
      const name = /"operationName":"(\w+)"/.exec(question)?.[1];
      if (name) asked.set(question, name);
    });
    await page.goto(`${service.rest}/console/?mode=test`);
    await page.getByText('Nothing needs attention.').waitFor();
    await page.getByText('Nothing to compare with yet').waitFor();
    await page.locator('.live-dot[data-open=true]').waitFor();
    // Each number by itself took twice as many questions, and their connections waited in line.
    const names = [...asked.values()];
    assert.ok(names.length <= 9 && names.includes('Today'), names.join());
  });
});

describe('a weekday that is compared with today', () => {
  test('counts its hours up to the same time of day, of the present hour its share', () => {
    const hour = (at: string, moved: number) => ({
      from: `2026-11-16T${at}:00:00Z`,
      to: `2026-11-16T${at}:59:59.999999Z`,
      rows: [{ succeeded: 4, failed: 2, moved }],
    });
    const parts = [hour('08', 1_000), hour('09', 2_000), hour('10', 4_000)];
    const sums = sumUpTo({ parts }, Date.parse('2026-11-16T09:30:00Z'));
    assert.equal(Math.round(sums.moved), 2_000);
    assert.equal(Math.round(sums.succeeded), 6);
    assert.equal(Math.round(sums.failed), 3);
  });
});
