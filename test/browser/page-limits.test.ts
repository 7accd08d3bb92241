/** Limits of the hosted page, whose callers have no key. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  linkLimits,
  newcomerAgain_s,
  openPageLimiter,
  pageLimits,
  streamRetry_s,
} from '../../rest-facade/checkout/limit-page.ts';
import { noChromium } from './chromium.ts';
import { openBrowserHarness, type BrowserHarness } from './harness.ts';
import { eventually } from '../support/eventually.ts';

describe('the limits of pages', () => {
  const from = (address: string): IncomingMessage =>
    Object.assign(new IncomingMessage(new Socket()), { headers: { address } });
  const open = () => {
    const time = { us: 0 };
    const limiter = openPageLimiter(
      ({ headers }) => String(headers['address']),
      () => time.us,
    );
    /** How many of so many calls pass. */
    const passed = (
      calls: number,
      address: (call: number) => string,
      page: (call: number) => string | null,
    ): number =>
      Array.from({ length: calls }, (_, call) =>
        limiter.call(from(address(call)), page(call)),
      ).filter((wait_s) => wait_s === 0).length;
    return { limiter, passed, time };
  };

  test('one page has its own, wherever it is called from', () => {
    const { limiter, passed, time } = open();
    assert.equal(
      passed(
        1_000,
        (call) => `198.51.${call % 200}.7`,
        () => 'a',
      ),
      pageLimits.page.calls.burst,
    );
    assert.equal(limiter.call(from('203.0.113.7'), 'a'), 1);
    assert.equal(limiter.call(from('203.0.113.7'), 'b'), 0, 'another page is not concerned');
    time.us += 1_000_000;
    assert.equal(
      passed(
        100,
        () => '203.0.113.7',
        () => 'a',
      ),
      pageLimits.page.calls.perSecond,
    );
  });

  test('an address has its own, over all pages and over addresses of none', () => {
    const { limiter, passed } = open();
    assert.equal(
      passed(
        3_000,
        () => '198.51.100.7',
        (call) => (call % 2 === 0 ? null : `page ${call}`),
      ),
      pageLimits.address.calls.burst,
    );
    assert.equal(limiter.call(from('198.51.100.8'), 'a'), 0, 'its neighbour is not concerned');
    assert.equal(
      passed(
        3_000,
        (call) => `2001:db8:1:2::${call.toString(16)}`,
        () => null,
      ),
      pageLimits.address.calls.burst,
    );
  });

  test('a network has its own, which several addresses together use up', () => {
    const { limiter, passed } = open();
    assert.equal(
      passed(
        10_000,
        (call) => `198.51.100.${call % 250}`,
        () => null,
      ),
      pageLimits.network.calls.burst,
    );
    assert.ok(limiter.call(from('198.51.100.251'), 'a') > 0);
    assert.equal(limiter.call(from('198.51.101.1'), 'a'), 0);
    assert.equal(
      passed(
        10_000,
        (call) => `2001:db8:1:${(call % 250).toString(16)}::1`,
        () => null,
      ),
      pageLimits.network.calls.burst,
    );
    assert.equal(limiter.call(from('2001:db8:2::1'), 'a'), 0);
  });

  test('looking at a link takes nothing from its buyers, and is limited by address and network', () => {
    const { limiter } = open();
    const looked = (calls: number, address: (call: number) => string): number =>
      Array.from({ length: calls }, (_, call) => limiter.link(from(address(call)))).filter(
        (wait_s) => wait_s === 0,
      ).length;
    assert.equal(
      looked(300, () => '198.51.100.7'),
      linkLimits.address.burst,
    );
    assert.equal(
      looked(300, (call) => `2001:db8:1:2::${call.toString(16)}`),
      linkLimits.address.burst,
    );
    assert.equal(
      looked(1_000, (call) => `203.0.113.${call % 250}`),
      linkLimits.network.burst,
    );
    assert.equal(limiter.link(from('192.0.2.1')), 0);
    assert.equal(limiter.linkPayment(from('198.51.100.7'), 'a'), 0);
  });

  test('a link makes so many payments; those who make many leave half of them to newcomers', () => {
    const { limiter, time } = open();
    const made = (calls: number, address: (call: number) => string, link = 'a'): number =>
      Array.from({ length: calls }, (_, call) =>
        limiter.linkPayment(from(address(call)), link),
      ).filter((wait_s) => wait_s === 0).length;
    const crowd = (call: number): string => `198.51.100.${call % 6}`;
    const ofBlock = (call: number): string => `2001:db8:1:${call.toString(16)}::1`;
    const buyer = (call: number): string => `203.0.${call % 250}.7`;
    const { link, newcomers } = linkLimits;
    assert.equal(made(2_000, crowd), link.burst);
    assert.equal(made(2_000, ofBlock), 1, 'a network of IPv6 is one');
    assert.equal(made(50, buyer), 50, 'buyers who come then pay');
    assert.equal(made(50, buyer), 0, 'they are newcomers once');
    assert.equal(
      made(1_000, (call) => `192.0.${call % 250}.7`),
      newcomers.burst - 51,
    );
    assert.equal(made(1, crowd, 'b'), 1, 'another link is not concerned');
    time.us += newcomerAgain_s * 1_000_000;
    assert.equal(made(1, buyer), 1);
    const loopback = made(300, () => '127.0.0.1', 'c');
    assert.equal(loopback, link.burst + newcomers.burst, 'loopback is everybody');
  });

  test('two buyers in a second who pay behind one address, and wait at their banks for two minutes, are not limited', () => {
    const { passed, time } = open();
    // 25 calls to pay, and one in 3 s from each of the 240 who wait.
    const calls = 2 * 25 + 240 / 3;
    for (let second = 0; second < 300; second += 1) {
      assert.equal(
        passed(
          calls,
          () => '198.51.100.7',
          (call) => `page ${second}.${call % 26}`,
        ),
        calls,
      );
      time.us += 1_000_000;
    }
  });

  test('loopback is the machine’s own: pages alone are counted', () => {
    const { passed } = open();
    assert.equal(
      passed(
        9_000,
        (call) => (call % 2 === 0 ? '127.0.0.1' : '::1'),
        () => null,
      ),
      9_000,
    );
    assert.equal(
      passed(
        1_000,
        () => '127.0.0.1',
        () => 'a',
      ),
      pageLimits.page.calls.burst,
    );
  });

  test('streams are counted while they are open', () => {
    const { limiter } = open();
    const held = Array.from({ length: 12 }, () => limiter.stream(from('198.51.100.7'), 'a'));
    assert.equal(held.filter((one) => one !== null).length, pageLimits.page.streams);
    held[0]?.();
    held[0]?.();
    assert.notEqual(limiter.stream(from('198.51.100.7'), 'a'), null);
    assert.equal(limiter.stream(from('198.51.100.7'), 'a'), null, 'a place is given back once');
    // What a page refused is not counted for the address.
    const others = Array.from({ length: 600 }, (_, index) =>
      limiter.stream(from('198.51.100.7'), `page ${index}`),
    );
    assert.equal(
      others.filter((one) => one !== null).length,
      pageLimits.address.streams - pageLimits.page.streams,
    );
  });
});

describe('the hosted page under its limits', { skip: noChromium }, () => {
  let harness: BrowserHarness;
  before(async () => {
    harness = await openBrowserHarness();
  });
  after(() => harness?.close());

  const callAtOnce = (address: string, calls: number): Promise<Response[]> =>
    Promise.all(Array.from({ length: calls }, () => fetch(address)));

  /** Calls until it is refused; gives the refusal, and the statuses of all answers. */
  const callUntilRefused = async (address: string) => {
    const statuses = new Set<number>();
    const refusals: Response[] = [];
    const lane = async (): Promise<void> => {
      while (refusals.length === 0) {
        const answer = await fetch(address, { redirect: 'manual' });
        statuses.add(answer.status);
        if (answer.status === 429) refusals.push(answer);
        else await answer.body?.cancel();
      }
    };
    await Promise.all(Array.from({ length: 50 }, lane));
    const [refusal, ...others] = refusals;
    await Promise.all(others.map(async ({ body }) => body?.cancel()));
    assert.ok(refusal);
    return { refusal, statuses };
  };

  test('refuses with 429, Retry-After and the envelope; a person gets a page', async () => {
    const [payment, other] = await Promise.all([harness.create(), harness.create()]);
    // An address with a slash at its end leads to the page: nothing is cheaper, so that the machine
    // is fast enough.
    const { refusal, statuses } = await callUntilRefused(`${payment.url}/`);
    assert.deepEqual(statuses, new Set([308, 429]));
    assert.match(refusal.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    const answered: any = await refusal.json();
    assert.equal(answered.error.code, 'rate_limited');
    assert.equal(typeof answered.error.message, 'string');
    const { refusal: shown } = await callUntilRefused(payment.url);
    assert.match(shown.headers.get('content-type') ?? '', /^text\/html/);
    assert.equal((await fetch(`${other.url}/state`)).status, 200);
  });

  test('of a link is paid by its buyers, however often strangers load it', async () => {
    const { url } = await harness.link();
    const looks = await callAtOnce(url, linkLimits.link.burst + 100);
    assert.deepEqual(new Set(looks.map(({ status }) => status)), new Set([200]));
    const paid = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '',
    });
    assert.equal(paid.status, 303);
  });

  test('has ten streams of one payment', async () => {
    const payment = await harness.create();
    const streams = await callAtOnce(`${payment.url}/events`, pageLimits.page.streams + 1);
    const open = streams.filter(({ status }) => status === 200);
    const refused = streams.filter(({ status }) => status === 429);
    assert.deepEqual(
      [open.length, refused.length, refused[0]?.headers.get('retry-after')],
      [pageLimits.page.streams, 1, String(streamRetry_s)],
    );
    await open[0]?.body?.cancel();
    await eventually(async () => {
      const again = await fetch(`${payment.url}/events`);
      if (again.status === 200) open.push(again);
      else await again.body?.cancel();
      return again.status === 200;
    }, 'a place for one more stream');
    await Promise.all(open.slice(1).map(async ({ body }) => body?.cancel()));
  });

  test('is paid all the same: what was refused is sent again, once it may be', async () => {
    const payment = await harness.create();
    const { page } = await harness.open(payment);
    // What the buyer does first gets the refusal of a page that is called too often.
    const answer = {
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { code: 'rate_limited', message: 'Too many calls' } },
    };
    const sent: string[] = [];
    await page.route(/\/(method|pay)\?/, (route) => {
      const [, action = ''] = /\/(method|pay)\?/.exec(route.request().url()) ?? [];
      sent.push(action);
      return sent.filter((one) => one === action).length === 1
        ? route.fulfill(answer)
        : route.continue();
    });
    await page.locator('#pay .primary').click();
    await eventually(
      async () => (await payment.read()).status !== 'pending',
      'the payment to go on',
    );
    assert.deepEqual([...new Set(sent)], ['method', 'pay']);
  });
});
