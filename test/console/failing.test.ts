/** Receipts that fail: the alert, the list, who sends them again. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import pg from 'pg';
import { noChromium } from '../browser/chromium.ts';
import { pay } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { receiptOf } from '../support/receipts.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { openVisitor } from './visitor.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let database: pg.Client;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await database?.end();
  await service?.stop();
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
    const { page, complaints } = await openConsole(service.rest, cookie);
    const at = `mode=test&merchant=${merchant.id}`;
    await page.goto(`${service.rest}/console/?${at}`);
    const lines = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const name = `Payment ${payment.publicId}`;
    await lines.filter({ hasText: 'A receipt failed' }).getByRole('link', { name }).click();
    await page.waitForURL(new RegExp(`payments/${merchant.id}/${payment.id}`));
    await go(page, `${service.rest}/console/alerts?${at}`);
    const card = page.getByRole('row').filter({ hasText: payment.publicId });
    await card.getByRole('link', { name }).waitFor();
    await page.getByRole('button', { name: 'Unassigned', exact: true }).click();
    await page.waitForURL(/assignee=-/);
    await card.getByRole('combobox').selectOption('a finance');
    await page.getByText('No open alerts').waitFor();
    await page.getByRole('button', { name: 'Mine' }).click();
    await card.waitFor();
    assert.deepEqual(complaints, []);
  });

  test('stands in the list of receipts, is sent again by finance and not by a viewer', async () => {
    const merchant = await makeMerchant(service);
    const { subjectId, payment } = await refuseReceipt(merchant, 'order-receipt');
    const open = async (role: 'viewer' | 'finance') => {
      const cookie = await makeSession(service, role, merchant.id);
      const opened = await openConsole(service.rest, cookie);
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

    const { page, row, resend, complaints } = await open('finance');
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
  });
});
