/**
 * What was in the graph alone: erasing a person's data, a prepayment's closing receipt, how an
 * endpoint signs, a fee of one shop. Each is done, refused to who may not, and in the audit log.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { readItems, readQuantity, totalOf } from '../../console/src/payments/closing-items.ts';
import { payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
});
after(() => service?.stop());

const openAt = async (
  path: string,
  role: 'viewer' | 'finance' | 'admin' = 'admin',
  whose: string | null = merchant.id,
) => {
  const opened = await openConsole(service.rest, await makeSession(service, role, whose));
  await opened.page.goto(`${service.rest}/console/${path}`);
  return opened;
};

const paid = async (orderId: string, more: object = {}) => {
  const { body } = await merchant.call('POST', '/payments', {
    amount: 10_000,
    order_id: orderId,
    method: 'cards',
    ...more,
  });
  await payByCard(body.payment_url);
  await eventually(async () => {
    const { body: now } = await merchant.call('GET', `/payments/${body.payment.id}`);
    return (now.payment ?? now).status === 'succeeded';
  }, 'the paid payment');
  return body.payment as { readonly id: string };
};

/** Confirms the open dialog by the button with its own name. */
const confirm = async (page: Page, name: string): Promise<void> => {
  const dialog = page.getByRole('dialog', { name });
  await dialog.getByRole('button', { name, exact: true }).click();
};

const actions = async (action: string): Promise<number> => {
  const { auditLog } = await askGraph(
    service,
    `{ auditLog(merchantId: "${merchant.id}", action: "${action}", first: 10) { nodes { id } } }`,
  );
  return auditLog.nodes.length;
};

describe('personal data', { skip: noChromium }, () => {
  test('of a payment and of a customer are erased with a reason, by administrators', async () => {
    const { id } = await paid('order-erased', { customer_id: 'buyer-77', description: 'For Anna' });
    await paid('order-of-the-customer', { customer_id: 'buyer-77', description: 'Again' });
    const path = `payments/${merchant.id}/${id}?mode=test`;
    const finance = await openAt(path, 'finance');
    const barred = finance.page.getByRole('button', { name: 'Erase personal data' });
    await barred.waitFor();
    assert.equal(await barred.getAttribute('aria-disabled'), 'true');
    await finance.leave();

    const { page, complaints } = await openAt(path);
    await page.getByText('For Anna').waitFor();
    await page.getByRole('button', { name: 'Erase personal data' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase personal data' });
    await dialog.getByText('It cannot be undone.').waitFor();
    const button = dialog.getByRole('button', { name: 'Erase personal data' });
    assert.equal(await button.isDisabled(), true, 'a reason is asked for');
    await dialog.getByLabel('Why').fill('Request 12');
    await dialog.getByLabel('Why').press('Enter');
    assert.equal(await actions('personal_data.erase'), 0, 'Enter in a field erases nothing');
    await button.click();
    await dialog.getByText(/Erased\. Payments: 1,/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('For Anna').waitFor({ state: 'detached' });
    assert.equal(await actions('personal_data.erase'), 1);

    await go(page, `${service.rest}/console/merchants/${merchant.id}?mode=test`);
    await page.getByRole('button', { name: 'Erase data of a customer' }).click();
    const whole = page.getByRole('dialog', { name: 'Erase data of a customer' });
    await whole.getByLabel('Customer').fill('buyer-77');
    await whole.getByLabel('Why').fill('Request 12');
    await confirm(page, 'Erase data of a customer');
    await whole.getByText(/Erased\. Payments: 1, payouts: 0/).waitFor();
    assert.deepEqual(complaints, []);
  });
});

describe('a closing receipt', { skip: noChromium }, () => {
  test('is made of the items of a prepayment, once, when they come to what is left', async () => {
    const receipt = receiptOf(10_000);
    const items = receipt.items.map((item: object) => ({
      ...item,
      payment_mode: 'full_prepayment',
    }));
    const { id } = await paid('order-prepaid', { receipt: { ...receipt, items } });
    await merchant.call('POST', `/payments/${id}/refund`, {
      amount: 4_000,
      receipt: receiptOf(4_000),
    });
    await eventually(async () => {
      const { payment } = await askGraph(
        service,
        `{ payment(merchantId: "${merchant.id}", id: "${id}") { amountRefunded } }`,
      );
      return payment.amountRefunded === 4_000;
    }, 'the refund');
    const { page, complaints } = await openAt(`payments/${merchant.id}/${id}?mode=test`, 'finance');
    await page.getByRole('button', { name: 'Make the closing receipt' }).click();
    const dialog = page.getByRole('dialog', { name: 'Make the closing receipt' });
    await dialog.getByText(/Sum of the items: ₽100\.00\. It must be ₽60\.00/).waitFor();
    const button = dialog.getByRole('button', { name: 'Make the closing receipt' });
    await dialog.getByLabel(/E-mail or phone/).fill('buyer@example.com');
    assert.equal(await button.isDisabled(), true, 'the sum differs');
    await dialog.getByLabel('Quantity').first().fill('1');
    await dialog.getByLabel('Price, RUB').first().fill('60,00');
    await dialog.getByText('Sum of the items: ₽60.00', { exact: true }).waitFor();
    await button.click();
    await dialog.getByText('The closing receipt is on its way to the cash register.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page
      .getByRole('button', { name: 'Make the closing receipt' })
      .waitFor({ state: 'detached' });
    const { payment } = await askGraph(
      service,
      `{ payment(merchantId: "${merchant.id}", id: "${id}") { receipts { type amount items { paymentMode } } } }`,
    );
    const closing = payment.receipts.filter(({ type }: { type: string }) => type === 'closing');
    assert.deepEqual(closing, [
      { type: 'closing', amount: 6_000, items: [{ paymentMode: 'full_payment' }] },
    ]);
    assert.equal(await actions('receipt.close'), 1);
    assert.deepEqual(complaints, []);
  });
});

describe('a part of a payment with a receipt', { skip: noChromium }, () => {
  test('is given back by its items, of which what is left is offered next', async () => {
    const items = [
      { description: 'Tea', quantity: '3', price: 1_000, vat_code: 11 },
      { description: 'Cup', quantity: '1', price: 5_000, vat_code: 11 },
    ];
    const { body } = await merchant.call('POST', '/payments', {
      amount: 8_000,
      order_id: 'of-items',
      method: 'cards',
      receipt: { customer: { email: 'ivanov@example.com' }, items },
    });
    await payByCard(body.payment_url);
    const { id } = body.payment;
    const asked = `{ payment(id: "${id}", merchantId: "${merchant.id}") { amountRefunded receipts { type amount } } }`;
    await eventually(async () => {
      const { payment } = await askGraph(service, asked);
      return payment.receipts.length > 0;
    }, 'the receipt');
    const { page, complaints } = await openAt(`payments/${merchant.id}/${id}?mode=test`);
    const open = async () => {
      await page.getByRole('button', { name: 'Refund', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Refund' });
      const quantity = (name: string) =>
        dialog.getByRole('group', { name, exact: true }).getByLabel('Quantity');
      await quantity('Tea').waitFor();
      return { dialog, quantity };
    };
    const first = await open();
    await first.dialog.getByText(/₽80\.00 goes back to/).waitFor();
    await first.quantity('Tea').fill('2');
    await first.quantity('Cup').fill('0');
    await first.dialog.getByText(/₽20\.00 goes back to/).waitFor();
    const button = first.dialog.getByRole('button', { name: 'Refund', exact: true });
    await first.dialog.getByLabel('To another address').check();
    assert.equal(await button.isEnabled(), false, 'the receipt has a recipient');
    await first.dialog.getByLabel('To the address of the payment: i***@example.com').check();
    await confirm(page, 'Refund');
    await first.dialog.getByText('The refund is recorded').waitFor();
    await first.dialog.getByRole('button', { name: 'Close' }).last().click();
    const back = await eventually(async () => {
      const { payment } = await askGraph(service, asked);
      return payment.receipts.length === 2 && payment;
    }, 'the receipt of the refund');
    assert.equal(back.amountRefunded, 2_000);
    assert.deepEqual(back.receipts[1], { type: 'refund', amount: 2_000 });
    const second = await open();
    assert.equal(await second.quantity('Tea').inputValue(), '1');
    await second.dialog.getByText(/₽60\.00 goes back to/).waitFor();
    assert.deepEqual(complaints, []);
  });
});

describe('an endpoint', { skip: noChromium }, () => {
  test('is made beside its deliveries, whose secret is shown as signed, and changed there', async () => {
    const { page } = await openAt(`webhooks?mode=test&merchant=${merchant.id}`);
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add an endpoint' });
    await dialog.getByRole('textbox').first().fill('https://shop.example/hooks');
    await dialog.getByLabel('Signature').selectOption('standard');
    await confirm(page, 'Add an endpoint');
    await dialog.getByText(/whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    const line = page.getByRole('listitem').filter({ hasText: 'https://shop.example/hooks' });
    await line.getByText('Signature: Standard Webhooks').waitFor();
    await line.getByRole('button', { name: 'Edit' }).click();
    const editing = page.getByRole('dialog', { name: 'Edit' });
    await editing.getByLabel('Signature').selectOption('legacy');
    await editing.getByText(/A repeated webhook cannot be recognised/).waitFor();
    await confirm(page, 'Edit');
    await editing.getByText('Saved.').waitFor();
    await editing.getByRole('button', { name: 'Close' }).last().click();
    await line.getByText('Signature: legacy').waitFor();
    assert.equal(await actions('webhook_endpoint.update'), 1);
    const act = async (name: string, outcome: RegExp): Promise<void> => {
      await line.getByRole('button', { name, exact: true }).click();
      await confirm(page, name);
      const done = page.getByRole('dialog', { name });
      await done.getByText(outcome).waitFor();
      await done.getByRole('button', { name: 'Close' }).last().click();
    };
    await act('New secret', /whs_/);
    await act('Disable', /Saved\./);
    await line.getByText('Disabled').waitFor();
    await act('Enable', /Saved\./);
    await line.getByText('Disabled').waitFor({ state: 'detached' });
    await act('Delete', /Saved\./);
    await line.waitFor({ state: 'detached' });
  });
});

describe('a fee', { skip: noChromium }, () => {
  if (isLong)
    test('is set for one shop, and stands with its name', async () => {
      const path = `policies?mode=test&merchant=${merchant.id}&tab=rates`;
      const { page } = await openAt(path, 'finance', null);
      const { merchant: of } = await askGraph(
        service,
        `{ merchant(id: "${merchant.id}") { shops { id name } } }`,
      );
      const [shop] = of.shops;
      await page.getByRole('button', { name: 'Set a fee' }).click();
      const dialog = page.getByRole('dialog', { name: 'Set a fee' });
      await dialog.getByLabel('Holds for').selectOption(shop.id);
      await dialog.getByLabel('Fee, %').fill('3,21');
      await confirm(page, 'Set a fee');
      await dialog.getByText('It is in force.').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('row', { name: new RegExp(`3\\.21.*${shop.name}`) }).waitFor();
      const set = await eventually(async () => {
        const { rateHistory } = await askGraph(
          service,
          `{ rateHistory(merchantId: "${merchant.id}", shopId: "${shop.id}", first: 5) { nodes { shopId rateBps } } }`,
        );
        return rateHistory.nodes.find(({ rateBps }: { rateBps: number }) => rateBps === 321);
      }, 'the fee');
      assert.equal(set.shopId, shop.id);
    });
});

describe('what a person types into a closing receipt', () => {
  test('is rounded as the receipt is, and no number is no receipt', () => {
    assert.deepEqual(['1', '0,75', '2.125', '', '1.2345', '-1'].map(readQuantity), [
      1_000,
      750,
      2_125,
      null,
      null,
      null,
    ]);
    assert.deepEqual([totalOf(333, 1_500), totalOf(1, 499), totalOf(1, 500)], [500, 0, 1]);
    const item = { description: 'Tea', quantity: '1', price: 100, vatCode: 1 };
    const rest = { paymentSubject: null, paymentMode: null, measure: null, markCode: null };
    const typed = { item: { ...item, ...rest }, quantity: '0,5', price: '3,00' };
    const none = { ...typed, quantity: '0' };
    const readPrice = (text: string) => (text === '3,00' ? 300 : null);
    const read = readItems([typed, none], readPrice);
    assert.equal(read?.sum, 150);
    assert.deepEqual(read?.items, [
      { ...item, ...rest, quantity: '0.5', price: 300, paymentMode: 'full_payment' },
    ]);
    assert.equal(readItems([{ ...typed, price: 'x' }], readPrice), null);
  });
});
