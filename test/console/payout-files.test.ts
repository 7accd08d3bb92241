/** Payouts from a file: each line becomes a draft, and another person decides them together. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole, type ConsoleWindow } from './console-window.ts';
import { sheetOf, windows1251 } from './registry-files.ts';

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
  await eventually(
    async () => (await merchant.call('GET', '/balance')).body.available > 0,
    'a balance to pay out of',
  );
});
after(() => service?.stop());

const windowOf = async (role: 'finance' | 'admin'): Promise<ConsoleWindow> =>
  openConsole(service.rest, await makeSession(service, role, merchant.id));

const drafts = (): string => `${service.rest}/console/payouts?mode=test&tab=drafts`;

describe('payouts from a file', { skip: noChromium }, () => {
  const take = async (page: Page, name: string, buffer: Buffer): Promise<void> => {
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer });
    await page.getByText(`${name}:`).waitFor();
  };

  test('are shown line by line with what is wrong, and each good line becomes a draft once', async () => {
    const { page, context, complaints } = await windowOf('finance');
    await page.goto(`${service.rest}/console/payouts?mode=test&tab=batch`);
    // As Excel saves CSV in Russian.
    const csv =
      'Сумма;Телефон;Банк;ФИО\r\n1 200,50;8 916 777-00-01;Сбер;Batchov\r\nсто;89167770002;ВТБ;Second\r\n5;8916;Банк;Third\r\n';
    await take(page, 'old.csv', windows1251(csv));
    await page.getByText('1 ready for ₽1,200.50, 2 wrong').waitFor();
    await page.getByRole('row', { name: /3 Wrong amount from 0.01/ }).waitFor();
    await page.getByRole('row', { name: /4 Wrong no Russian phone; no such bank/ }).waitFor();

    const texts = [
      'amount',
      'phone',
      'bank',
      'account',
      'BIK',
      'T-Bank',
      '40817810099910004312',
      '044525225',
      'Batchova',
    ];
    const xlsx = sheetOf(
      texts,
      `<row r="1">${['A', 'B', 'C', 'D', 'E'].map((column, index) => `<c r="${column}1" t="s"><v>${index}</v></c>`).join('')}<c r="F1" t="inlineStr"><is><t>name</t></is></c></row>
      <row r="2"><c r="A2"><v>150.1</v></c><c r="B2"><v>7.9167770003E10</v></c><c r="C2" t="s"><v>5</v></c><c r="F2" t="s"><v>8</v></c></row>
      <row r="3"><c r="A3"><v>20</v></c><c r="D3" t="s"><v>6</v></c><c r="E3" t="s"><v>7</v></c><c r="F3" t="s"><v>8</v></c></row>`,
    );
    // The answer to one line is lost: pressed again, it repeats nothing.
    let calls = 0;
    const { promise: isOpen, resolve: opened } = Promise.withResolvers<void>();
    await context.route('**/graphql', async (route) => {
      const asked = route.request().postData() ?? '';
      // The banks are known from the first file, and come anew while the dialog is open.
      if (asked.includes('SbpBanks')) await isOpen;
      const isDraft = asked.includes('CreateDraft');
      if (isDraft) calls += 1;
      if (!isDraft || calls !== 2) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await take(page, 'sheet.xlsx', xlsx);
    await page.getByText('2 ready for ₽170.10, 0 wrong').waitFor();
    await page.getByRole('button', { name: 'Propose 2 payouts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Propose 2 payouts' });
    await dialog.waitFor();
    const renewed = page.waitForResponse(
      (answer) => answer.request().postData()?.includes('SbpBanks') ?? false,
    );
    opened();
    await (await renewed).finished();
    const send = dialog.getByRole('button', { name: 'Propose 2 payouts' });
    await send.click();
    await dialog
      .getByText(/press again/i)
      .or(dialog.getByText(/unknown/i))
      .first()
      .waitFor();
    await send.click();
    await dialog.getByText('Waiting for another person: 1.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('row', { name: /2 Proposed/ }).waitFor();
    await page.goto(drafts());
    await page
      .getByRole('row', { name: /Batchova/ })
      .nth(1)
      .waitFor();
    assert.equal(await page.getByRole('row', { name: /Batchova/ }).count(), 2);

    await page.goto(`${service.rest}/console/payouts?mode=test&tab=batch`);
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'x.csv', mimeType: '', buffer: Buffer.from('a;b\n1;2') });
    await page.getByText('has no “amount” column').waitFor();
    assert.deepEqual(
      complaints.filter((text) => !/ERR_FAILED/.test(text)),
      [],
    );
  });

  test('are approved and rejected together by another person, and each refusal stands in its line', async () => {
    const [anna, boris] = [await windowOf('finance'), await windowOf('admin')];
    await anna.page.goto(`${service.rest}/console/payouts?mode=test&tab=batch`);
    const lines = ['10,50;Togetherov', '9000000;Togethereva', '20;Togetherin'].map((line, place) =>
      line.replace(';', `;8 916 555-00-0${place};ВТБ;`),
    );
    await take(
      anna.page,
      'together.csv',
      Buffer.from(['сумма;телефон;банк;фио', ...lines].join('\n')),
    );
    await anna.page.getByRole('button', { name: 'Propose 3 payouts' }).click();
    const proposing = anna.page.getByRole('dialog', { name: 'Propose 3 payouts' });
    await proposing.getByText(/^₽[\d.,]+ is missing/).waitFor();
    await proposing.getByRole('button', { name: 'Propose 3 payouts' }).click();
    await proposing.getByText('Waiting for another person: 3.').waitFor();

    const { page } = boris;
    await page.goto(drafts());
    await page
      .getByRole('row', { name: /Togetherin/ })
      .getByRole('button', { name: 'From one file' })
      .click();
    await eventually(
      async () => (await page.locator('tbody tr').count()) === 3,
      'the drafts of the file',
    );
    await page.getByRole('button', { name: 'Choose all that wait' }).click();
    await page.getByText('Chosen: 3 for ₽9,000,030.50').waitFor();
    await page.getByRole('checkbox', { name: /Togetherin/ }).uncheck();
    await page.getByText('Chosen: 2 for ₽9,000,010.50').waitFor();
    await page.getByRole('checkbox', { name: /Togetherin/ }).check();
    await page.getByRole('button', { name: 'Approve the chosen' }).click();
    const approving = page.getByRole('dialog', { name: 'Approve 3 payouts' });
    await approving.getByText(/Drafts: 3, ₽9,000,030\.50 together/).waitFor();
    await approving.getByText('Will be withheld').waitFor();
    const approve = approving.getByRole('button', { name: 'Approve 3 payouts' });
    // The answer is lost: pressed again, it pays nothing twice.
    let isLost = false;
    await boris.context.route('**/graphql', async (route) => {
      if (isLost || !route.request().postData()?.includes('ApproveDrafts')) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await approve.click();
    await approving
      .getByText(/press again/i)
      .or(approving.getByText(/unknown/i))
      .first()
      .waitFor();
    await approve.click();
    await approving.getByText('Approved: 2, refused: 1: see the lines.').waitFor();
    await approving
      .getByRole('row', { name: /Togethereva Refused The balance does not cover/ })
      .waitFor();
    assert.equal(await approving.getByRole('row', { name: /Approved$/ }).count(), 2);
    await approving.getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('button', { name: 'Choose all that wait' }).click();
    await page.getByText('Chosen: 1 for ₽9,000,000.00').waitFor();
    await page.getByRole('button', { name: 'Reject the chosen' }).click();
    const rejecting = page.getByRole('dialog', { name: 'Reject 1 payout' });
    await rejecting.getByLabel('Why').fill('Not in the budget');
    await rejecting.getByRole('button', { name: 'Reject 1 payout' }).click();
    await rejecting.getByText('Rejected: 1.').waitFor();
    await rejecting.getByRole('button', { name: 'Close' }).last().click();
    await page
      .getByRole('row', { name: /Togethereva/ })
      .getByText('Rejected', { exact: true })
      .waitFor();

    const own = await anna.context.newPage();
    await own.goto(drafts());
    for (const surname of ['Togetherov', 'Togetherin'])
      await own
        .getByRole('row', { name: new RegExp(surname) })
        .getByText('Approved')
        .waitFor();
    const complaints = [...anna.complaints, ...boris.complaints];
    assert.deepEqual(
      complaints.filter((text) => !/ERR_FAILED/.test(text)),
      [],
    );
  });
});
