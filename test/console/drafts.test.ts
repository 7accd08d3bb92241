/** A payout by two people at the console: one proposes, another approves, both see it at once. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { receiptOf } from '../support/receipts.ts';
import { callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole, type ConsoleWindow } from './console-window.ts';
import { chooseBank, proposePayout } from './propose-payout.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  merchant = await makeMerchant(service);
  const { body } = await merchant.call('POST', '/payments', {
    amount: 500_000,
    order_id: 'order-of-the-balance',
    method: 'cards',
  });
  await payByCard(body.payment_url);
});
after(() => service?.stop());

const windowOf = async (role: 'finance' | 'admin' | 'support'): Promise<ConsoleWindow> =>
  openConsole(service.rest, await makeSession(service, role, merchant.id));

const drafts = (): string => `${service.rest}/console/payouts?mode=test&tab=drafts`;

describe('a key that pays out', { skip: noChromium }, () => {
  test('is asked for by one person, who cannot approve it, and works once another one has approved it', async () => {
    const [anna, boris] = [await windowOf('admin'), await windowOf('finance')];
    const keys = `${service.rest}/console/developers?mode=test`;
    await anna.page.goto(keys);
    await anna.page.getByRole('button', { name: 'Issue a key' }).click();
    const issuing = anna.page.getByRole('dialog', { name: 'Issue a key' });
    const byCard = issuing.getByLabel(/api:payouts:card/);
    assert.equal(await byCard.isChecked(), false, 'without payouts it needs no approver');
    await byCard.check();
    await issuing.getByLabel('Name').fill('Payouts');
    await issuing.getByRole('button', { name: 'Issue a key' }).click();
    await issuing.getByText(/works once another person has approved it. Copy/).waitFor();
    const key = (await issuing.getByText(/^sk_test_\w+$/).textContent()) ?? '';
    await issuing.getByRole('button', { name: 'Close' }).last().click();
    const statusOf = async (): Promise<number> =>
      (await callRest({ rest: service.rest, key }, 'GET', '/banks/sbp')).status;
    assert.equal(await statusOf(), 401);
    const own = anna.page.getByRole('row', { name: /Waits for a second person/ });
    const approve = own.getByRole('button', { name: /Approve/ });
    assert.equal(await approve.getAttribute('aria-disabled'), 'true');

    await boris.page.goto(keys);
    const row = boris.page.getByRole('row', { name: /Waits for a second person/ });
    await row.getByRole('button', { name: 'Approve' }).click();
    const dialog = boris.page.getByRole('dialog', { name: 'Approve' });
    await dialog.getByText(/pay out to cards/).waitFor();
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('Approved: the key works.').waitFor();
    await eventually(async () => (await statusOf()) === 200, 'a key that works');
    assert.deepEqual([...anna.complaints, ...boris.complaints], []);
  });
});

describe('a payout by two people', { skip: noChromium }, () => {
  test('is proposed by one, who cannot approve it, and approved by another; the payout comes live; support may neither', async () => {
    const [anna, boris] = [await windowOf('finance'), await windowOf('admin')];
    await anna.page.goto(`${service.rest}/console/payouts?mode=test`);
    await proposePayout(anna.page, '1200,50', 'Petrov I.');

    await boris.page.goto(drafts());
    const row = boris.page.getByRole('row', { name: /Petrov I\./ });
    await row.getByText('+7 *** ***-45-67').waitFor();
    await boris.page.getByRole('link', { name: /Payouts to approve/ }).waitFor();

    const theirs = await anna.context.newPage();
    await theirs.goto(drafts());
    const own = theirs.getByRole('row', { name: /Petrov I\./ });
    const approve = own.getByRole('button', { name: /Approve/ });
    assert.equal(await approve.getAttribute('aria-disabled'), 'true');
    assert.match((await approve.getAttribute('title')) ?? '', /another person approves/);
    // A dialog that stands open while another person decides.
    await own.getByRole('button', { name: 'Reject' }).click();
    const late = theirs.getByRole('dialog', { name: 'Reject' });
    await late.getByLabel('Why').fill('Too late');

    await row.getByRole('button', { name: 'Approve' }).click();
    const dialog = boris.page.getByRole('dialog', { name: 'Approve' });
    await dialog
      .getByText(/₽1,200\.50 goes to \+7 \*\*\* \*\*\*-45-67 · .+ · Petrov I\./)
      .waitFor();
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('Approved. The payout:').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await row.getByText('Approved', { exact: true }).waitFor();

    // This page was not reloaded.
    const made = anna.page.getByRole('row', { name: /Petrov I\./ });
    await made.waitFor();
    await made.getByText('Paid out').waitFor();

    // Masked in the list; in full for who may see it, by a press of a button.
    await made.getByText('+7 *** ***-45-67').click();
    const payout = anna.page.getByRole('dialog', { name: 'Payout' });
    await payout.getByText('+7 *** ***-45-67').waitFor();
    await payout.getByRole('button', { name: 'Show in full' }).click();
    await payout.getByText('+79161234567').waitFor();
    // It is nothing for support, who is shown who may.
    const clara = await windowOf('support');
    await clara.page.goto(drafts());
    const button = clara.page.getByRole('button', { name: /New payout/ });
    await button.waitFor();
    assert.equal(await button.getAttribute('title'), 'Needs the role Finance');
    assert.equal(await clara.page.getByRole('link', { name: /Payouts to approve/ }).count(), 0);
    await go(clara.page, anna.page.url());
    const barred = clara.page.getByRole('button', { name: /Show in full.*Finance/ });
    assert.equal(await barred.getAttribute('aria-disabled'), 'true');

    await late.getByRole('button', { name: 'Reject' }).click();
    await late.getByText('It was decided meanwhile: Approved.').waitFor();
    assert.deepEqual([...anna.complaints, ...boris.complaints], []);
  });

  if (isLong)
    test('waits with the refusal when the balance does not cover it, and is rejected with a reason', async () => {
      const [anna, boris] = [await windowOf('finance'), await windowOf('admin')];
      await anna.page.goto(`${service.rest}/console/payouts?mode=test`);
      await proposePayout(anna.page, '9000000', 'Sidorov P.');
      await boris.page.goto(drafts());
      const row = boris.page.getByRole('row', { name: /Sidorov P\./ });
      await row.getByRole('button', { name: 'Approve' }).click();
      const dialog = boris.page.getByRole('dialog', { name: 'Approve' });
      await dialog.getByRole('button', { name: 'Approve' }).click();
      await dialog.getByText(/The balance does not cover/).waitFor();
      await boris.page.keyboard.press('Escape');
      await row.getByText(/The balance does not cover/).waitFor();
      await row.getByRole('button', { name: 'Reject' }).click();
      const rejecting = boris.page.getByRole('dialog', { name: 'Reject' });
      const button = rejecting.getByRole('button', { name: 'Reject' });
      assert.equal(await button.isDisabled(), true, 'a reason is asked for');
      await rejecting.getByLabel('Why').fill('Not in the budget');
      await button.click();
      await rejecting.getByText('The draft is rejected.').waitFor();
      await rejecting.getByRole('button', { name: 'Close' }).last().click();
      await row.getByText('Rejected', { exact: true }).waitFor();
    });
});

describe('a refund', { skip: noChromium }, () => {
  test('is proposed by support with the returned items, and approved by finance; up to its limit support refunds by itself', async () => {
    const { body } = await merchant.call('POST', '/payments', {
      amount: 30_000,
      order_id: 'order-to-return',
      method: 'cards',
      receipt: receiptOf(30_000),
    });
    await payByCard(body.payment_url);
    const { id } = body.payment;
    const [support, finance] = [await windowOf('support'), await windowOf('finance')];
    await support.page.goto(`${service.rest}/console/payments/${merchant.id}/${id}?mode=test`);
    await support.page.getByRole('button', { name: 'Propose a refund' }).click();
    const proposing = support.page.getByRole('dialog', { name: 'Propose a refund' });
    const send = proposing.getByRole('button', { name: 'Propose a refund' });
    await proposing.getByLabel(/^Price/).fill('100');
    await proposing.getByLabel('To the address of the payment: i***@example.com').waitFor();
    assert.equal(await send.isEnabled(), false, 'a reason is asked');
    await proposing.getByLabel('Reason').fill('The cup was broken');
    await send.click();
    await proposing.getByText('The refund waits for another person.').waitFor();
    await support.page.keyboard.press('Escape');
    const waiting = support.page.getByRole('region', { name: 'Proposed refunds' });
    await waiting.getByText('The cup was broken').waitFor();
    const approve = waiting.getByRole('button', { name: 'Approve' });
    assert.equal(await approve.getAttribute('aria-disabled'), 'true');

    await finance.page.goto(`${service.rest}/console/refunds?mode=test&tab=drafts`);
    await finance.page.getByText('Refunds to approve').waitFor();
    const row = finance.page.getByRole('row', { name: /The cup was broken/ });
    await row.getByRole('button', { name: 'Approve' }).click();
    const dialog = finance.page.getByRole('dialog', { name: 'Approve' });
    await dialog.getByText(/₽100\.00 goes back to/).waitFor();
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText(/Approved\. The refund:/).waitFor();
    await finance.page.keyboard.press('Escape');
    await row.getByText('by a finance').waitFor();
    // Without a reload: the stream has the change.
    await waiting.waitFor({ state: 'detached' });
    const refunded = async () => {
      const { body: shown } = await merchant.call('GET', `/payments/${id}`);
      return shown.amount_refunded as number;
    };
    await eventually(async () => (await refunded()) === 10_000, 'the money back');
    await eventually(async () => {
      const { body: receipts } = await merchant.call('GET', `/receipts?payment_id=${id}`);
      const own = receipts.items.find((one: any) => one.type === 'refund');
      return own?.amount === 10_000 && own.customer.email === 'i***@example.com';
    }, 'the receipt of the returned items, to the address of the payment');

    const admin = await windowOf('admin');
    await admin.page.goto(`${service.rest}/console/merchants/${merchant.id}?mode=test`);
    await admin.page.getByRole('button', { name: 'Limit refunds by support' }).click();
    const limiting = admin.page.getByRole('dialog', { name: 'Limit refunds by support' });
    await limiting.getByLabel('Support refunds by itself').fill('150');
    await limiting.getByRole('button', { name: 'Limit refunds by support' }).click();
    await limiting.getByText('Saved.').waitFor();
    await support.page.reload();
    await support.page.getByRole('button', { name: 'Refund', exact: true }).click();
    const refunding = support.page.getByRole('dialog', { name: 'Refund' });
    await refunding.getByLabel(/^Price/).fill('50');
    await refunding.getByLabel('To another address').check();
    const address = refunding.getByLabel('E-mail or phone of the buyer');
    const alike = refunding.getByLabel(/It looks like the address of the payment/);
    const make = refunding.getByRole('button', { name: 'Refund' });
    await address.fill('ivanova@example.com');
    await alike.waitFor();
    assert.equal(await make.isEnabled(), false, 'a mistyped address fits the mask');
    await address.fill('petrov@example.com');
    assert.equal(await alike.count(), 0);
    await make.click();
    await refunding.getByText(/The refund is recorded|Refund recorded/).waitFor();
    await eventually(async () => (await refunded()) === 15_000, 'the rest that support may refund');
    await eventually(async () => {
      const { body: receipts } = await merchant.call('GET', `/receipts?payment_id=${id}`);
      const to: string[] = receipts.items.map(({ customer }: any) => customer.email);
      return to.toSorted().join() === 'i***@example.com,i***@example.com,p***@example.com';
    }, 'each receipt to its own address');
    const seen = [support, finance, admin].flatMap(({ complaints }) => complaints);
    assert.deepEqual(seen, []);
  });
});

describe('a new payout', { skip: noChromium }, () => {
  test('says what is available, has the frequent banks first, and takes a phone in any form', async () => {
    const { page, complaints } = await windowOf('finance');
    const [banks, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/graphql', async (route) => {
      const sent = route.request().postData() ?? '';
      if (sent.includes('SbpBanks')) await banks.promise;
      if (sent.includes('PayoutQuote')) await late.promise;
      return route.continue();
    });
    await page.goto(`${service.rest}/console/payouts?mode=test&act=new`);
    const dialog = page.getByRole('dialog', { name: 'Propose the payout' });
    const amount = dialog.getByLabel('Amount, RUB');
    await dialog.waitFor();
    assert.equal(await amount.count(), 0, 'there are no fields before there are banks');
    banks.resolve();
    const place = await amount.boundingBox();
    late.resolve();
    await dialog.getByText(/Available now: ₽[\d,.]+/).waitFor();
    assert.deepEqual(await amount.boundingBox(), place, 'what comes late moves nothing');
    await amount.fill('9000000');
    await dialog.getByText(/is missing: approve once/).waitFor();
    assert.deepEqual(await amount.boundingBox(), place, 'what is missing moves nothing');
    // Ten thousand to one reader, and a slip of the finger to another.
    await amount.fill('10,999');
    await amount.blur();
    await dialog.locator('[aria-invalid=true]').waitFor();
    await amount.fill('12,34');
    await dialog.getByText('Will remain available').waitFor();
    const phone = dialog.getByLabel('Phone');
    for (const typed of ['8(916)1234567', '79161234567', '916 123-45-67', '+7 916 123 45 67']) {
      await phone.fill(typed);
      await phone.blur();
      assert.equal(await phone.inputValue(), '+7 916 123-45-67', typed);
    }
    const bank = dialog.getByRole('combobox', { name: 'Bank' });
    await bank.click();
    const options = page.getByRole('option');
    await options.first().waitFor();
    assert.deepEqual((await options.allTextContents()).slice(0, 4), [
      'Sberbank',
      'T-Bank',
      'VTB Bank',
      'Alfa-Bank',
    ]);
    await bank.fill('no such bank');
    await page.getByText('Nothing found').click();
    assert.equal(await bank.inputValue(), 'no such bank', 'a press on nothing keeps the text');
    await chooseBank(dialog, 'тинькофф');
    assert.equal(await bank.inputValue(), 'T-Bank');
    assert.deepEqual(complaints, []);
  });

  test('goes to a recipient that was paid before without showing the phone, and the approver sees what for', async () => {
    const [anna, boris] = [await windowOf('finance'), await windowOf('admin')];
    await merchant.call('POST', '/payouts', {
      amount: 100,
      phone: '+79165550011',
      bank_id: '100000000004',
      full_name: 'Orlova A.',
    });
    await anna.page.goto(`${service.rest}/console/payouts?mode=test`);
    await anna.page
      .getByRole('row', { name: /Orlova A\..*/ })
      .getByText('Paid out')
      .waitFor();
    await anna.page.getByRole('button', { name: 'New payout' }).click();
    const dialog = anna.page.getByRole('dialog', { name: 'Propose the payout' });
    await dialog.getByRole('combobox', { name: 'Paid before' }).fill('orlova');
    await anna.page.getByRole('option', { name: /Orlova A\. · \+7 \*\*\* \*\*\*-00-11/ }).click();
    assert.equal(await dialog.getByLabel('Phone').count(), 0);
    await dialog.getByLabel('Amount, RUB').fill('12,34');
    await dialog.getByLabel('What it is for').fill('Correction of October');
    await dialog.getByRole('button', { name: 'Propose the payout' }).click();
    await dialog.getByText('The draft waits for another person.').waitFor();

    await boris.page.goto(drafts());
    const row = boris.page.getByRole('row', { name: /Orlova A\./ });
    await row.getByRole('button', { name: 'Approve' }).click();
    const approving = boris.page.getByRole('dialog', { name: 'Approve' });
    for (const text of ['Correction of October', /by a finance, /, 'T-Bank', /Available now/])
      await approving
        .getByText(text, { exact: typeof text === 'string' })
        .first()
        .waitFor();
    await approving.getByRole('button', { name: 'Approve' }).click();
    await approving.getByText('Approved. The payout:').waitFor();
    assert.deepEqual([...anna.complaints, ...boris.complaints], []);
  });
});
