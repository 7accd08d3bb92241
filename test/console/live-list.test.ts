/** The live list when the service goes away, and when much happens at once. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { freePort } from '../support/free-port.ts';
import { noChromium } from '../browser/chromium.ts';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { operatorToken } from '../support/service.ts';
import { openPassage } from '../support/passage.ts';
import { makeSession, openConsole } from './console-window.ts';
import { comesTo, eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';

let service: ServiceInUse;
before(async () => {
  if (!noChromium) service = await openPlainService();
});
after(() => service?.stop());

const openPayments = async (rest: string, merchant: Merchant): Promise<Page> => {
  const cookie = await makeSession(service, 'viewer', merchant.id);
  const { page } = await openConsole(rest, cookie);
  await page.goto(`${rest}/console/payments?mode=test`);
  return page;
};

const create = async ({ key }: Merchant, orderId: string): Promise<void> => {
  const body = { amount: 1_000, order_id: orderId, method: 'cards' };
  const { status } = await callRest({ rest: service.rest, key }, 'POST', '/payments', body);
  assert.equal(status, 201);
};

/** A way to the service, which is closed as if the service had ended, and opened again. */
const openWay = async (port: number) => {
  const { pass, cut } = openPassage(() => Number(new URL(service.rest).port));
  const server = createServer(pass);
  const open = (): Promise<unknown> => once(server.listen(port, '127.0.0.1'), 'listening');
  const close = (): void => {
    server.close();
    cut();
  };
  await open();
  return { rest: `http://127.0.0.1:${port}`, open, close };
};

describe('a service that goes away', { skip: noChromium }, () => {
  let way: Awaited<ReturnType<typeof openWay>>;
  before(async () => {
    way = await openWay(await freePort());
  });
  after(() => way?.close());

  test('is said, ended, and misses nothing: what came meanwhile is there without loading the page', async () => {
    const merchant = await makeMerchant(service);
    await create(merchant, 'order-before');
    const page = await openPayments(way.rest, merchant);
    await page.getByRole('row', { name: /order-before/ }).waitFor();
    await page.locator('.live-dot[data-open=true]').waitFor();
    await page.evaluate('window.neverLoadedAgain = true');
    way.close();
    await page.getByText(/Reconnecting since/).waitFor();
    await create(merchant, 'order-meanwhile');
    assert.equal(await page.getByRole('row', { name: /order-meanwhile/ }).count(), 0);
    const [isRead, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/graphql', async (route) => {
      const answer = await route.fetch().catch(() => null);
      if (!answer) return route.abort();
      if (route.request().postDataJSON().operationName === 'Payments') {
        isRead.resolve();
        await isReleased.promise;
      }
      return route.fulfill({ response: answer });
    });
    await way.open();
    await page.locator('.live-dot[data-open=true]').waitFor();
    // The list is being queried anew, and the answer is older than this order.
    await isRead.promise;
    await eventually(async () => {
      await create(merchant, 'order-beside');
      return (await ordersOn(page)).includes('order-beside');
    }, 'an order that comes live');
    await page.evaluate(`new MutationObserver(() => {
      window.hasGone ||= !document.body.textContent.includes('order-beside');
    }).observe(document.querySelector('main'), { childList: true, subtree: true })`);
    isReleased.resolve();
    await page.getByRole('row', { name: /order-meanwhile/ }).waitFor();
    await create(merchant, 'order-after');
    await page.getByRole('row', { name: /order-after/ }).waitFor();
    assert.equal(await page.evaluate('window.neverLoadedAgain && !window.hasGone'), true);
    assert.deepEqual(
      [...new Set(await ordersOn(page))],
      ['order-after', 'order-beside', 'order-meanwhile', 'order-before'],
    );
  });
});

/** The orders that the list shows, from the top. */
const ordersOn = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('tbody tr')].map(
    (row) => /order-[a-z0-9]+/.exec(row.textContent)[0])`);

/** Watches how often the list is drawn, how long that holds the page, how many rows there are. */
const watch = `{
  const seen = { draws: 0, rows_max: 0, frame_max_ms: 0, task_max_ms: 0, tasks: 0 };
  window.seen = seen;
  new MutationObserver(() => {
    seen.draws += 1;
    seen.rows_max = Math.max(seen.rows_max, document.querySelectorAll('tbody tr').length);
  }).observe(document.querySelector('main'), { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      seen.tasks += 1;
      seen.task_max_ms = Math.max(seen.task_max_ms, Math.round(duration));
    }
  }).observe({ type: 'longtask' });
  let last = performance.now();
  const frame = (now) => {
    seen.frame_max_ms = Math.max(seen.frame_max_ms, Math.round(now - last));
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}`;

/** What the page has used of the processor until now, in seconds: a busy machine changes little. */
const openCpu = async (page: Page): Promise<() => Promise<Readonly<Record<string, number>>>> => {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const wanted = ['TaskDuration', 'ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];
    return Object.fromEntries(
      metrics.flatMap(({ name, value }) => (wanted.includes(name) ? [[name, value]] : [])),
    );
  };
};

const payments_count = size(150, 1_000);
const spread_ms = size(1_500, 10_000);
const callers = 50;
/** The page gathers events for 150 ms; beside that flashes end, and the total is asked for. */
const draws_max_per_s = 12;
const rows_max = 100;
const page_rows = 50;

describe('a hundred payments a second', { skip: noChromium }, () => {
  test('are listed as the graph lists them, and drawn a few times a second', async (t) => {
    const merchant = await makeMerchant(service);
    await askGraph(
      service,
      `mutation ($m: ID!) { merchantRateLimitSet(merchantId: $m, perSecond: 1000, burst: 2000) { __typename } }`,
      { m: merchant.id },
      operatorToken,
    );
    await create(merchant, 'order-first');
    const page = await openPayments(service.rest, merchant);
    await page.getByRole('row', { name: /order-first/ }).waitFor();
    await page.locator('.live-dot[data-open=true]').waitFor();
    await page.evaluate(watch);
    // On a busy machine it may lose its connection, or stand for a minute: it queries its page anew.
    let queries = 0;
    page.on('request', (request) => {
      const sent = request.url().endsWith('/graphql') ? request.postDataJSON() : null;
      if (sent?.operationName === 'Payments') queries += 1;
    });
    const cpu = await openCpu(page);
    const before = await cpu();
    const began_ms = performance.now();
    // On a busy machine they come later, and no more of them at once.
    const indices = Array.from({ length: payments_count }, (_, index) => index).values();
    const caller = async (): Promise<void> => {
      for (const index of indices) {
        const due_ms = began_ms + (index / payments_count) * spread_ms;
        await sleep(Math.max(0, due_ms - performance.now()));
        await create(merchant, `order-${index}`);
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    const took_s = (performance.now() - began_ms) / 1_000;
    const { payments } = await askGraph(
      service,
      `query ($m: ID!) { payments(merchantId: $m, includeTest: true, first: ${rows_max}) { nodes { orderId } } }`,
      { m: merchant.id },
    );
    const listed = payments.nodes.map(({ orderId }: { orderId: string }) => orderId);
    await comesTo([], async () => {
      const shown = await ordersOn(page);
      const least = queries === 0 ? rows_max : page_rows;
      return shown.length < least
        ? [`${shown.length} rows`]
        : shown.filter((order, place) => order !== listed[place]);
    });
    await page.getByText(`${(payments_count + 1).toLocaleString('en-GB')} in all`).waitFor();
    const seen: any = await page.evaluate('window.seen');
    const used = await cpu();
    const lasted_s = (performance.now() - began_ms) / 1_000;
    t.diagnostic(`${payments_count} payments in ${took_s.toFixed(1)} s: ${JSON.stringify(seen)}`);
    const perDraw = Object.entries(used).map(([name, total]) => {
      const each_ms = ((total - (before[name] ?? 0)) * 1_000) / seen.draws;
      return `${name} ${each_ms.toFixed(1)} ms`;
    });
    t.diagnostic(`of the processor, for each time it is drawn: ${perDraw.join(', ')}`);
    assert.ok(seen.rows_max <= rows_max, `${seen.rows_max} rows`);
    const isLive = seen.draws > 1 && seen.draws <= draws_max_per_s * lasted_s;
    assert.ok(isLive, `drawn ${seen.draws} times`);
  });
});
