/** Live mode in the console, on an emulated acquirer: the bank is asked, and then it is gone. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import {
  confirmed,
  onPage,
  openLiveHarness,
  order,
  type LiveHarness,
  type Ordered,
} from '../live/harness.ts';
import { askGraph } from '../support/merchant.ts';
import { go, openConsole, type ConsoleWindow } from './console-window.ts';
import { makeLink } from './visitor.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

let harness: LiveHarness;
before(async () => {
  if (noChromium) return;
  harness = await openLiveHarness();
});
after(() => harness?.close());

/** A window of an administrator. */
const entered = async (): Promise<ConsoleWindow> => {
  const { rest } = harness.service;
  const window = await openConsole(rest, null);
  await window.page.goto(await makeLink(rest));
  await window.page.waitForURL('**/console/');
  return window;
};

const health = async (): Promise<any> =>
  (
    await askGraph(
      harness.service,
      '{ bankHealth(hours: 6) { breakers { connector state } rows { connector mode calls failures } } }',
    )
  ).bankHealth;

describe('live mode', { skip: noChromium }, () => {
  test('has the bank asked by a person, whose name is on the timeline', async () => {
    const { merchant, acquirer, service } = harness;
    await acquirer.callbacks({ callbackUrl: null });
    const { payment, url } = await order(merchant, 70_000);
    await onPage(url, 'pay');
    const { page, complaints } = await entered();
    await go(page, `${service.rest}/console/payments/${merchant.id}/${payment.id}?mode=live`);
    const ask = page.getByRole('button', { name: 'Ask the bank' });
    await ask.waitFor();
    await ask.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Ask the bank' });
    await dialog.getByText('Money moves only by its answer.').waitFor();
    await dialog.getByRole('button', { name: 'Ask the bank' }).press('Enter');
    const outcome = dialog.locator('.done, .bad, .note');
    await outcome.waitFor();
    assert.equal(await outcome.textContent(), 'The bank is being asked.');
    await page.keyboard.press('Escape');
    await confirmed(harness, payment.id, 'pay');
    const lines = page.locator('.timeline li');
    await lines.getByText('Paid: the bank confirmed').waitFor();
    await lines.getByText('yookassa: asked for the state, approved').first().waitFor();
    await lines.getByText('console-link: Bank asked again').waitFor();
    assert.deepEqual(complaints, []);
  });

  if (isLong)
    test('shows the breaker of a bank that is gone, and that it does not answer', async () => {
      const { merchant, acquirer, service } = harness;
      const orders: Ordered[] = [];
      for (let index = 0; index < 6; index += 1) orders.push(await order(merchant, 1_000 + index));
      await acquirer.stop();
      // Each order is tried, and asked about, until the breaker withholds the calls.
      await Promise.all(orders.map(({ url }) => onPage(url, 'pay')));
      const state = await eventually(async () => {
        const { breakers } = await health();
        return breakers.find(
          ({ connector, state: one }: any) => connector === 'yookassa' && one !== 'closed',
        );
      }, 'the breaker');
      assert.ok(state);
      const { page, complaints } = await entered();
      await go(page, `${service.rest}/console/banks?mode=live`);
      const breakers = page.getByRole('table', { name: 'Circuit breakers by process' });
      const row = breakers.getByRole('row', { name: /yookassa/ });
      await row.getByText(/^(Open|Half-open)$/).waitFor();
      assert.ok(await row.locator('time').first().getAttribute('datetime'), 'since when');
      const bank = page
        .getByRole('table', { name: 'Banks' })
        .getByRole('row', { name: /yookassa/ });
      await bank
        .getByText(/^(Circuit open|Half-open)$/)
        .first()
        .waitFor();
      // The other mode has its own bank, which is well.
      await go(page, `${service.rest}/console/banks?mode=test`);
      await page.getByRole('heading', { name: 'Banks' }).waitFor();
      assert.equal(await page.getByText(/Circuit open/).count(), 0);
      assert.deepEqual(complaints, []);
    });
});
