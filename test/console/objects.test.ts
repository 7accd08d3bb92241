/** A payout in its drawer, a link with its payments, and the event log. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { openVisitor } from './visitor.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
  await merchant.endpoint('http://127.0.0.1:1/hook');
});
after(() => service?.stop());

const openAt = async (path: string) => {
  const cookie = await makeSession(service, 'viewer', merchant.id);
  const opened = await openConsole(service.rest, cookie);
  await opened.page.goto(`${service.rest}/console/${path}`);
  return opened;
};

/** A payment through a link; its id. */
const payThrough = async (url: string): Promise<string> => {
  const begun = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  });
  const page = new URL(begun.headers.get('location') ?? '', url).href;
  await payByCard(page);
  return eventually(async () => {
    const { body } = await merchant.call('GET', '/payments');
    return body.items.find((one: any) => one.status === 'succeeded')?.id as string | undefined;
  }, 'the payment');
};

describe('one object', { skip: noChromium }, () => {
  let linkId: string;
  let paymentId: string;
  before(async () => {
    const { body } = await merchant.call('POST', '/links', { amount: 500_000, method: 'cards' });
    linkId = body.link.id;
    paymentId = await payThrough(body.link.url);
    const { payment } = (
      await merchant.call('POST', '/payments', {
        amount: 70_000,
        order_id: 'order-of-no-link',
        method: 'cards',
      })
    ).body;
    assert.ok(payment.id);
  });

  test('among links shows its payments, each of which opens, and leads to all of them', async () => {
    const { page, complaints } = await openAt(`paylinks?mode=test&open=${linkId}`);
    const drawer = page.getByRole('dialog', { name: 'Payment link' });
    const all = drawer.getByRole('link', { name: 'All of them, with filters' });
    await all.waitFor();
    const lines = drawer.getByRole('listitem').filter({ hasText: 'P-' });
    assert.equal(await lines.count(), 1);
    await lines.getByRole('link').click();
    await page.waitForURL(new RegExp(`payments/${merchant.id}/${paymentId}`));
    await page.goBack();
    await all.click();
    await page.getByRole('button', { name: /Through a payment link/ }).waitFor();
    await page.locator('tbody tr').first().waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    assert.equal(await page.getByRole('cell', { name: /order-of-no-link/ }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('among payouts opens by its row and its address: draft, end, movements, webhooks', async () => {
    const input = `{ amount: 120050, phone: "+79161234567", bankId: "100000000111", fullName: "Petrov I." }`;
    const { draft } = await askGraph(
      service,
      `mutation { draft: payoutDraftCreate(merchantId: "${merchant.id}", shopId: "${merchant.shopId}", mode: test, reason: "For September", input: ${input}) { ... on PayoutDraftCreated { draft { id } } } }`,
    );
    const { id } = draft.draft;
    const visitor = openVisitor(service.rest);
    visitor.become(`console=${await makeSession(service, 'admin', merchant.id)}`);
    const approved = await visitor.ask('ApproveDraft', { merchantId: merchant.id, id });
    assert.equal(approved.errors, undefined, JSON.stringify(approved));
    const { page, complaints } = await openAt('payouts?mode=test');
    const row = page.getByRole('row', { name: /Petrov I\./ });
    await row.getByText('Paid out').waitFor();
    await row.getByText('Petrov I.').click();
    await page.waitForURL(new RegExp(`open=${merchant.id}%2F${id}|open=${merchant.id}/${id}`));
    const drawer = page.getByRole('dialog', { name: 'Payout' });
    await drawer.getByText('₽1,200.50').first().waitFor();
    await drawer.getByText(/Proposed by .*: For September/).waitFor();
    await drawer.getByText('Approved by a admin').waitFor();
    await drawer.getByText(/payout\.succeeded/).waitFor();
    await drawer.getByText('-₽1,200.50').or(drawer.getByText('−₽1,200.50')).first().waitFor();
    await drawer.getByRole('link', { name: 'http://127.0.0.1:1/hook' }).click();
    await page.getByRole('dialog', { name: /payout\.succeeded|Webhook/ }).waitFor();
    await go(page, `${service.rest}/console/payouts?mode=test&open=${merchant.id}/${id}`);
    await page.getByRole('dialog', { name: 'Payout' }).getByText(id, { exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });
});

test('the event log stands newest first, and by a kind or from the oldest when that is chosen', async (t) => {
  if (noChromium) return t.skip();
  const { page, complaints } = await openAt('developers?mode=test&tab=events');
  const rows = page.getByRole('table', { name: 'Events' }).locator('tbody tr');
  await rows.first().waitFor();
  const newest = await rows.locator('td:first-child').allInnerTexts();
  assert.ok(newest.length > 1, `${newest.length} events`);
  await page.getByRole('combobox', { name: 'Order' }).selectOption('oldest');
  await page.waitForURL(/by=oldest/);
  await rows
    .first()
    .getByText(newest.at(-1) ?? '', { exact: true })
    .waitFor();
  assert.deepEqual(await rows.locator('td:first-child').allInnerTexts(), newest.toReversed());
  await page.getByRole('combobox', { name: 'Event' }).selectOption('payment_succeeded');
  await rows.filter({ hasText: 'payout.succeeded' }).waitFor({ state: 'detached' });
  const narrowed = await rows.locator('td:first-child').allInnerTexts();
  assert.deepEqual(new Set(narrowed), new Set(['payment.succeeded']));
  assert.deepEqual(complaints, []);
});
