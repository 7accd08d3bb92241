/** The chart of reports: its axes, and a bar that is read by the keyboard. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { noChromium } from '../browser/chromium.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { markedPlaces, roundMost } from '../../console/src/reports/axes.ts';
import { makeSession, openConsole } from './console-window.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

describe('an axis', () => {
  test('ends at a round even number', () => {
    const ends = [1, 2, 3, 9, 10, 11, 21, 99, 1_234, 8_001].map(roundMost);
    assert.deepEqual(ends, [2, 2, 4, 10, 10, 20, 40, 100, 2_000, 10_000]);
  });

  test('names the first, the middle and the last part, each once', () => {
    assert.deepEqual([0, 1, 2, 30].map(markedPlaces), [[], [0], [0, 1], [0, 14, 29]]);
  });
});

describe('the chart', { skip: noChromium }, () => {
  test('says the numbers of a bar as the arrow keys come to it', async () => {
    const merchant = await makeMerchant(service);
    for (const order_id of ['order-1', 'order-2', 'order-3'])
      await merchant.call('POST', '/payments', { amount: 100, order_id, method: 'cards' });
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    const chart = page.getByRole('img', { name: /Payments, 30 days/ });
    const readout = page.locator('.chart-readout');
    await eventually(async () => {
      await page.goto(`${service.rest}/console/reports?mode=test`);
      await chart.focus();
      return /(^|\s)3$/.test((await readout.innerText()).trim());
    }, 'the totals');
    const [last, moments] = [await readout.innerText(), page.locator('.chart-moments span')];
    assert.equal(await moments.count(), 3);
    await page.keyboard.press('ArrowLeft');
    assert.match(await readout.innerText(), /\s0$/);
    await page.keyboard.press('End');
    assert.equal(await readout.innerText(), last);
    assert.deepEqual(complaints, []);
  });
});
