/** A registry is uploaded, its differences resolved, a balance corrected, in a real browser. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { partsOfFile } from '../../console/src/reconciliation/parts-of-file.ts';
import { type Browser, noChromium, startChromium } from '../browser/chromium.ts';
import { makeMerchant } from '../support/merchant.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { makeSession, openConsole } from './console-window.ts';
import { enter, escapeFrom, goTo, tabTo, typeInto } from './keys.ts';
import { eventually } from '../support/eventually.ts';

const header = 'reference,operation_id,kind,amount,currency,status,at,fee';
const lineOf = (index: number): string =>
  `unknown-${index},,payment,${1_000 + index},RUB,succeeded,2001-01-01T12:00:00Z,`;

test('a registry is cut into parts that a request holds, each with the header, and loses no line', () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => lineOf(index));
  const parts = partsOfFile(`\uFEFF${[header, ...lines, ''].join('\r\n')}`);
  assert.ok(parts.length > 2);
  for (const part of parts) {
    assert.ok(part.startsWith(`${header}\n`));
    assert.ok(Buffer.byteLength(part) < 256 * 1_024);
  }
  assert.deepEqual(
    parts.flatMap((part) => part.split('\n').slice(1)),
    lines,
  );
  assert.deepEqual(partsOfFile(header), []);
});

describe('an operator', { skip: noChromium }, () => {
  let service: ServiceInUse;
  let browser: Browser;
  before(async () => {
    // A registry concerns all merchants of a service: this one is its own.
    if (!noChromium) [service, browser] = await Promise.all([startOwn(), startChromium()]);
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  test('uploads a registry, sees what differs, and resolves all of it with one reason', async () => {
    const cookie = await makeSession(service, 'finance');
    const { page, leave, complaints } = await openConsole(browser, service.rest, cookie);
    await page.goto(`${service.rest}/console/reconciliation?mode=test&tab=runs`);
    await page.getByRole('button', { name: 'Upload a registry' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload a registry' });
    const registry = [header, lineOf(1), lineOf(2)].join('\n');
    await dialog.getByLabel('File').setInputFiles({
      name: 'day.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(registry.replace('succeeded', 'nonsense')),
    });
    await dialog.getByLabel('Acquirer').fill('simulator');
    await dialog.getByLabel('Operations from').fill('2001-01-01');
    await dialog.getByLabel('Before').fill('2001-01-03');
    await dialog.getByRole('button', { name: 'Upload a registry' }).click();
    await dialog.getByText(/Not done:.*line/i).waitFor();
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: 'day.csv', mimeType: 'text/csv', buffer: Buffer.from(registry) });
    await dialog.getByRole('button', { name: 'Upload a registry' }).click();
    await dialog.getByText(/2 lines are compared/).waitFor();
    await page.keyboard.press('Escape');

    // The service fetches registries of its own, too: this one has two lines.
    const row = page.getByRole('row', { name: /Compared.*simulator.* 2 0 2 / });
    await row.waitFor();
    await row.click();
    await page.getByRole('cell', { name: 'Unknown here' }).nth(1).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Reconciliation 2' }).waitFor();
    await page.getByRole('button', { name: 'Choose all on this page' }).click();
    await page.getByRole('button', { name: 'Resolve 2' }).click();
    const resolve = page.getByRole('dialog', { name: 'Resolve 2' });
    await resolve.getByLabel('Resolution').fill('The acquirer took them back');
    await resolve.getByRole('button', { name: 'Resolve 2' }).click();
    await resolve.getByText('2 are resolved.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Nothing fits these filters' }).waitFor();
    await page.getByRole('button', { name: 'Resolved' }).click();
    await page.getByText('The acquirer took them back').first().waitFor();
    assert.deepEqual(complaints, []);
    await leave();
  });

  test('does the same without a mouse, and resolves a difference where home names it', async () => {
    const cookie = await makeSession(service, 'finance');
    const { page, leave, complaints } = await openConsole(browser, service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await goTo(page, 'reconcil', /Reconciliation/);
    await enter(page, page.getByRole('link', { name: 'Registries' }));
    await enter(page, page.getByRole('button', { name: 'Upload a registry' }));
    const dialog = page.getByRole('dialog', { name: 'Upload a registry' });
    await tabTo(page, dialog.getByLabel('File'));
    const choosing = page.waitForEvent('filechooser');
    await page.keyboard.press('Space');
    await (
      await choosing
    ).setFiles({
      name: 'keys.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from([header, lineOf(7).replaceAll('2001-01-01', '2001-02-02')].join('\n')),
    });
    await typeInto(page, dialog.getByLabel('Acquirer'), 'simulator');
    // The field of a day takes its parts in the order of the machine's language.
    await tabTo(page, dialog.getByLabel('Operations from'));
    await page.keyboard.type('02022001');
    assert.equal(await dialog.getByLabel('Operations from').inputValue(), '2001-02-02');
    await tabTo(page, dialog.getByLabel('Before'));
    await page.keyboard.type('03032001');
    assert.equal(await dialog.getByLabel('Before').inputValue(), '2001-03-03');
    await enter(page, dialog.getByRole('button', { name: 'Upload a registry' }));
    await dialog.getByText(/1 lines are compared/).waitFor();
    await escapeFrom(page, dialog);
    await page.getByRole('row', { name: /Compared.*simulator.* 1 0 1 / }).waitFor();

    await goTo(page, 'home', /Home/);
    const line = page
      .getByRole('list', { name: 'Needs attention' })
      .getByRole('listitem')
      .filter({ hasText: /A registry differs:/ });
    await enter(page, line.getByRole('button', { name: 'Resolve 1' }));
    const resolve = page.getByRole('dialog', { name: 'Resolve 1' });
    await typeInto(page, resolve.getByLabel('Resolution'), 'Taken back, too');
    await enter(page, resolve.getByRole('button', { name: 'Resolve 1' }));
    await resolve.getByText('1 is resolved.').waitFor();
    await escapeFrom(page, resolve);
    await line.waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
    await leave();
  });

  test('corrects a balance once under one reference, and reads it as it was before', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'finance');
    const { page, leave } = await openConsole(browser, service.rest, cookie);
    await page.goto(`${service.rest}/console/balance?mode=test&merchant=${merchant.id}`);
    for (const outcome of ['It is booked.', 'This reference was booked before']) {
      await page.getByRole('button', { name: 'Record an adjustment' }).click();
      const dialog = page.getByRole('dialog', { name: 'Record an adjustment' });
      await dialog.getByLabel('Amount, RUB').fill('-12,50');
      await dialog.getByLabel('Reason').fill('A chargeback');
      await dialog.getByLabel('Reference').fill('chargeback-1');
      await dialog.getByRole('button', { name: 'Record an adjustment' }).click();
      await dialog.getByText(outcome).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await page.getByRole('cell', { name: 'Adjustment' }).waitFor();
    assert.equal(await page.getByRole('cell', { name: 'Adjustment' }).count(), 1);
    await eventually(
      async () => (await merchant.call('GET', '/balance')).body.balance === -1_250,
      'the balance',
    );
    await page.getByLabel('Balance at a moment').fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText(/Balance ₽0\.00/).waitFor();
    await leave();
  });
});
