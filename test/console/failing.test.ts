/** What fails, over all merchants: a service of its own, since home shows whatever there is. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Browser, noChromium, startChromium } from '../browser/chromium.ts';
import { pay } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { receiptOf } from '../support/receipts.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { openVisitor } from './visitor.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let browser: Browser;
let database: pg.Client;
before(async () => {
  if (noChromium) return;
  [service, browser] = await Promise.all([startOwn(), startChromium()]);
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await browser?.close();
  await database?.end();
  await service?.stop();
});

/** So many webhooks of a merchant that have failed at one address, the last of them so long ago. */
const fail = (merchant: Merchant, url: string, count: number, minutes: number): Promise<unknown> =>
  database.query(
    `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, subject_id, endpoint_id, lane, url, status, attempts, created_at)
     select $1, gen_random_uuid(), gen_random_uuid(), 'payment.succeeded', $2, gen_random_uuid(), $3, $3::uuid::text, $4, 'failed', 9,
       date_trunc('milliseconds', now()) - make_interval(mins => $6) - number * interval '10 milliseconds' from generate_series(1, $5::int) as number`,
    [merchant.id, merchant.shopId, randomUUID(), url, count, minutes],
  );

describe('what fails at one merchant', { skip: noChromium }, () => {
  test('leaves room on home for what fails at another', async () => {
    const loud = await makeMerchant(service);
    const quiet = await makeMerchant(service);
    await fail(loud, 'https://loud.test/hook', 2_500, 30);
    await fail(quiet, 'https://quiet.test/hook', 1, 10);
    const cookie = await makeSession(service, 'viewer');
    const { page, leave, complaints } = await openConsole(browser, service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    const lines = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const line = (url: string) => lines.filter({ hasText: url });
    await line('https://quiet.test/hook').waitFor();
    assert.match(await line('https://quiet.test/hook').innerText(), /Failed webhooks: 1\n/);
    assert.match(await line('https://loud.test/hook').innerText(), /Failed webhooks: 1,000\+/);
    const replay = line('https://quiet.test/hook').getByRole('button', { name: /Replay/ });
    assert.equal(await replay.getAttribute('aria-disabled'), 'true', 'a viewer sends nothing');
    await line('https://quiet.test/hook').getByRole('link').click();
    await page.waitForURL(new RegExp(`webhooks.*merchant=${quiet.id}`));
    await page.getByRole('row', { name: /quiet\.test/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /loud\.test/ }).count(), 0);
    assert.deepEqual(complaints, []);
    await leave();
  });
});

/** A paid payment whose receipt the cash register has refused; gives what the graph knows of it. */
const refuseReceipt = async (merchant: Merchant, orderId: string): Promise<any> => {
  const made = await merchant.call('POST', '/payments', {
    amount: 125_000,
    order_id: orderId,
    method: 'sbp',
    receipt: receiptOf(125_000),
    metadata: { simulator_receipt: 'failed' },
  });
  assert.equal(made.status, 201);
  await pay(made.body.payment_url);
  return eventually(async () => {
    const { alerts } = await askGraph(
      service,
      `{ alerts(merchantId: "${merchant.id}", kind: receipt_failed) { nodes { subjectId payment { id publicId orderId } } } }`,
    );
    return alerts.nodes.find((one: any) => one.payment.orderId === orderId);
  }, 'the alert');
};

describe('a receipt that the cash register refused', { skip: noChromium }, () => {
  test('is an alert that leads to its payment, on home and in the list', async () => {
    const merchant = await makeMerchant(service);
    const { payment } = await refuseReceipt(merchant, 'order-alert');
    const cookie = await makeSession(service, 'finance');
    const { page, leave, complaints } = await openConsole(browser, service.rest, cookie);
    const at = `mode=test&merchant=${merchant.id}`;
    await page.goto(`${service.rest}/console/?${at}`);
    const lines = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const name = `Payment ${payment.publicId}`;
    await lines.filter({ hasText: 'A receipt failed' }).getByRole('link', { name }).click();
    await page.waitForURL(new RegExp(`payments/${merchant.id}/${payment.id}`));
    await page.goto(`${service.rest}/console/alerts?${at}`);
    const card = page.getByRole('listitem').filter({ hasText: payment.publicId });
    await card.getByRole('link', { name }).waitFor();
    await page.getByRole('button', { name: 'Unassigned', exact: true }).click();
    await page.waitForURL(/assignee=-/);
    await card.getByRole('combobox').selectOption('a finance');
    await page.getByText('No open alerts').waitFor();
    await page.getByRole('button', { name: 'Mine' }).click();
    await card.waitFor();
    assert.deepEqual(complaints, []);
    await leave();
  });

  test('stands in the list of receipts, is sent again by finance and not by a viewer', async () => {
    const merchant = await makeMerchant(service);
    const { subjectId, payment } = await refuseReceipt(merchant, 'order-receipt');
    const open = async (role: 'viewer' | 'finance') => {
      const cookie = await makeSession(service, role, merchant.id);
      const opened = await openConsole(browser, service.rest, cookie);
      await opened.page.goto(`${service.rest}/console/receipts?mode=test`);
      const row = opened.page.getByRole('row', { name: /order-receipt/ });
      await row.waitFor();
      return { ...opened, cookie, row, resend: row.getByRole('button', { name: /Resend/ }) };
    };
    const viewer = await open('viewer');
    assert.equal(await viewer.resend.getAttribute('aria-disabled'), 'true');
    await viewer.leave();
    const visitor = openVisitor(service.rest);
    visitor.become(`console=${viewer.cookie}`);
    const refusal = await visitor.ask('ResendReceipt', { merchantId: merchant.id, id: subjectId });
    assert.match(JSON.stringify(refusal), /forbidden/);

    const { page, leave, row, resend, complaints } = await open('finance');
    assert.match(await row.innerText(), /Refused/);
    await resend.click();
    const dialog = page.getByRole('dialog', { name: 'Resend receipt' });
    await dialog.getByRole('button', { name: 'Resend receipt' }).click();
    await dialog.getByText('The receipt is being resent.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('dialog').count(), 0, 'the row itself was not opened');
    const { rows } = await database.query('select attempt from receipt where id = $1', [subjectId]);
    assert.deepEqual(rows, [{ attempt: 1 }]);
    await row.getByText('order-receipt').click();
    await page
      .getByRole('dialog', { name: 'Payment' })
      .getByText(payment.publicId)
      .first()
      .waitFor();
    assert.deepEqual(complaints, []);
    await leave();
  });
});
