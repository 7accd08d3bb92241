/**
 * The page counts by its shop's clock: a test clock that stands, is advanced, and runs.
 * See docs/architecture.md#time.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { setClock } from '../support/test-clock.ts';
import { eventually } from '../support/eventually.ts';
import { type Browser, noChromium, openWindow, startChromium } from './chromium.ts';

describe('a page of a shop with a test clock', { skip: noChromium }, () => {
  let service: ServiceInUse;
  let browser: Browser;
  let merchant: Merchant;
  before(async () => {
    [service, browser] = await Promise.all([openPlainService(), startChromium()]);
    merchant = await makeMerchant(service);
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  test('it stands while the clock stands, follows where the clock is advanced, and counts when it runs', async () => {
    await setClock(service, merchant, 'Create', ', at: "2031-03-01T12:00:00.000Z"');
    const created = await merchant.call('POST', '/payments', {
      amount: 10_000,
      method: 'cards',
      ttl_minutes: 45,
    });
    const page = await (await openWindow(browser, { language: 'en-GB', clock: true })).newPage();
    await page.goto(created.body.payment_url);
    const shown = page.locator('[data-deadline]');
    await shown.filter({ hasText: /^45:00$/ }).waitFor();
    await page.clock.runFor(4_000);
    assert.equal(await shown.textContent(), '45:00', 'the clock stands');
    // The card is compared with that clock, too.
    await page.locator('#card-expiry').fill('02/31');
    await page.locator('#card-cvc').focus();
    assert.equal(await page.locator('#card-expiry-problem').innerText(), 'The card has expired');
    await setClock(service, merchant, 'Advance', ', to: "2031-03-01T12:15:00.000Z"');
    // The page asks now and then.
    await page.clock.fastForward(15_000);
    await shown.filter({ hasText: /^30:00$/ }).waitFor();
    await setClock(service, merchant, 'Resume');
    await eventually(async () => {
      // It asks anew only when its last question was answered.
      await page.clock.fastForward(15_000);
      return /^2\d:\d\d$/.test(await shown.innerText());
    }, 'a deadline that moves');
  });

  test('the state tells the time also to who has seen the rest', async () => {
    const created = await merchant.call('POST', '/payments', { amount: 10_000 });
    const address = `${created.body.payment_url}/state`;
    const first = await fetch(address);
    const { now }: any = await first.json();
    assert.match(now, /^2031-03-01T12:1/);
    const again = await fetch(address, {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    });
    assert.deepEqual(
      [again.status, again.headers.get('page-time')?.slice(0, 15)],
      [304, now.slice(0, 15)],
    );
  });
});
