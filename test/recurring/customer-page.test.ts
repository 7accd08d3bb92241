/** The page on which a customer sees and ends what a shop may charge. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { askGraph, callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { openPlainService } from '../support/plain-service.ts';
import { advanceClock, setClock } from '../support/test-clock.ts';
import { flawsOf, noChromium, openWindow, startChromium } from '../browser/chromium.ts';

type Service = Awaited<ReturnType<typeof openPlainService>>;

let service: Service;
let merchant: Merchant;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
});
after(() => service?.stop());

const pay = async (url: string): Promise<void> => {
  await payByCard(url);
  await confirmAtBank(url);
};

/** The merchant's things of a kind, of a customer. */
const listed = async (kind: 'tokens' | 'subscriptions', ref: string): Promise<any[]> => {
  const { body } = await merchant.call('GET', `/${kind}`);
  return body.items.filter((one: any) => one.customer_ref === ref);
};

const active = (kind: 'tokens' | 'subscriptions', ref: string): Promise<any> =>
  eventually(
    async () => (await listed(kind, ref)).find(({ status }) => status === 'active'),
    `an active one of ${ref}`,
  );

const bind = async (ref: string): Promise<any> => {
  const { body } = await merchant.call('POST', '/tokens', { customer_ref: ref });
  await pay(body.pay_url);
  return active('tokens', ref);
};

const subscribe = async (ref: string, terms: object = {}): Promise<any> => {
  const { body } = await merchant.call('POST', '/subscriptions', {
    customer_ref: ref,
    amount: 99_000,
    plan_name: `Plan <of> ${ref}`,
    ...terms,
  });
  await pay(body.pay_url);
  return active('subscriptions', ref);
};

const session = async (body: object, caller = merchant): Promise<any> => {
  const made = await caller.call('POST', '/customer-sessions', body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body;
};

const show = async (url: string, language = 'en') => {
  const response = await fetch(url, { headers: { 'accept-language': language } });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

const end = (url: string, thing: string, id: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(url).origin, ...headers },
    body: new URLSearchParams({ [thing]: id }),
  });

describe('a customer session', () => {
  test('shows the active tokens and subscriptions of its customer alone, in the reader’s language', async () => {
    const [card, plan] = await Promise.all([bind('c-1'), subscribe('c-1')]);
    const other = await bind('c-2');
    const from = Date.now();
    const { url, expires_at, ...rest } = await session({
      customer_ref: 'c-1',
      return_url: 'https://shop.example/me',
    });
    assert.deepEqual(rest, {});
    const minutes = (Date.parse(expires_at) - from) / 60_000;
    assert.ok(minutes > 29.9 && minutes < 30.5, expires_at);
    const page = await show(url);
    assert.deepEqual([page.status, page.headers.get('cache-control')], [200, 'no-store']);
    for (const text of [card.id, plan.id, 'Plan &lt;of&gt; c-1', '•• 1111', '₽990 a month'])
      assert.ok(page.text.includes(text), text);
    assert.ok(page.text.includes('href="https://shop.example/me"'));
    assert.ok(!page.text.includes(other.id));
    assert.match((await show(url, 'ru')).text, /Сохранённые способы оплаты/);
    assert.doesNotMatch(url, /c-1/);
  });

  test('ends a token and a subscription of its customer, again is fine, and nothing else', async () => {
    const [card, plan] = await Promise.all([bind('c-3'), subscribe('c-3')]);
    const [foreign, foreignPlan] = await Promise.all([bind('c-4'), subscribe('c-4')]);
    const { url } = await session({ customer_ref: 'c-3' });
    assert.equal((await end(url, 'token', foreign.id)).status, 404);
    assert.equal((await end(url, 'subscription', foreignPlan.id)).status, 404);
    assert.equal((await end(url, 'token', 'no-id')).status, 404);
    assert.equal((await end(url, 'payment', card.id)).status, 404);
    assert.equal(
      (await end(url, 'token', card.id, { 'sec-fetch-site': 'cross-site' })).status,
      404,
    );
    for (let time = 0; time < 2; time += 1) {
      const removed = await end(url, 'token', card.id);
      assert.equal(removed.status, 303);
      const led = new URL(removed.headers.get('location') ?? '', url);
      assert.match((await show(led.href)).text, /the shop cannot charge it any more/);
      assert.equal((await end(url, 'subscription', plan.id)).status, 303);
    }
    const [tokens, plans] = [await listed('tokens', 'c-3'), await listed('subscriptions', 'c-3')];
    assert.equal(tokens.find(({ id }) => id === card.id).status, 'cancelled');
    assert.deepEqual(
      plans.map(({ status }) => status),
      ['cancelled'],
    );
    assert.equal((await active('tokens', 'c-4')).status, 'active');
    assert.equal((await active('subscriptions', 'c-4')).status, 'active');
    const page = await show(url);
    assert.ok(!page.text.includes(card.id) && !page.text.includes(plan.id));
    const { billingSubscription } = await askGraph(
      service,
      'query ($id: ID!, $m: ID!) { billingSubscription(id: $id, merchantId: $m) { cancelReason } }',
      { id: plan.id, m: merchant.id },
    );
    assert.equal(billingSubscription.cancelReason, 'customer_cancelled');
  });

  test('says of a method which subscriptions it pays, and of a trial when it is charged first', async () => {
    await subscribe('c-7', { trial_days: 14 });
    const card = await active('tokens', 'c-7');
    const { url } = await session({ customer_ref: 'c-7' });
    const { text } = await show(url);
    const pays = 'This subscription will not renew: Plan &lt;of&gt; c-7, ₽990 a month.';
    assert.ok(text.includes(pays), text);
    assert.match(text, /Free until \w+ \d+, \d{4}, then the first charge/);
    assert.equal((await end(url, 'token', card.id)).status, 303);
    const removed = (await show(url)).text;
    assert.match(removed, /Its way to pay is removed: nothing more is charged/);
    assert.ok(!removed.includes(card.id));
  });

  test('has a page for each subscription of its customer alone: terms, charges, and what a cancellation leaves', async () => {
    const [plan, trial, foreign] = await Promise.all([
      subscribe('c-8', { interval_count: 3 }),
      subscribe('c-9', { trial_days: 14 }),
      subscribe('c-10'),
    ]);
    const { url } = await session({ customer_ref: 'c-8' });
    const shown = async (id: string, at = url): Promise<string> => {
      const page = await show(`${at}/${id}`);
      assert.equal(page.status, 200);
      return page.text.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
    };
    const text = await shown(plan.id);
    assert.match(text, /State Active Next charge \w+ \d+, \d{4}, ₽990 Paid until \w+ \d+, \d{4}/);
    assert.match(text, /you agreed that .+ charges ₽990 every 3 months without asking/);
    assert.match(text, /Charges \w+ \d+, \d{4} ₽990 Charged/);
    assert.match(text, /stays paid\. The period that you paid for ends on \w+ \d+, \d{4}\./);
    const free = await shown(trial.id, (await session({ customer_ref: 'c-9' })).url);
    assert.match(free, /Free trial until \w+ \d+, \d{4}/);
    assert.match(free, /The free trial ends on .+ ₽1 ₽1 returned Check of the way to pay/);
    for (const id of [foreign.id, 'no-id', `${plan.id}/x`])
      assert.equal((await show(`${url}/${id}`)).status, 404, id);
    assert.equal((await end(`${url}/${foreign.id}`, 'subscription', foreign.id)).status, 404);

    const { billingSubscription: charged } = await askGraph(
      service,
      'query ($id: ID!, $m: ID!) { billingSubscription(id: $id, merchantId: $m) { charges { paymentId } } }',
      { id: plan.id, m: merchant.id },
    );
    const payment_id = charged.charges[0].paymentId;
    const back = { amount: 40_000, reason: 'half' };
    assert.equal((await merchant.call('POST', `/payments/${payment_id}/refund`, back)).status, 201);
    assert.match(await shown(plan.id), /₽990 ₽400 returned/);
    for (let time = 0; time < 2; time += 1) {
      const ended = await end(`${url}/${plan.id}`, 'subscription', plan.id);
      assert.equal(ended.status, 303);
      const led = new URL(ended.headers.get('location') ?? '', url);
      assert.match((await show(led.href)).text, /The subscription is cancelled/);
    }
    assert.match(await shown(plan.id), /State Cancelled on .+ Paid until /);
    assert.doesNotMatch(await shown(plan.id), /Yes, cancel it/);
  });

  test('is 404 when it is not ours, and from its end on by the clock of the shop', async () => {
    const owner = await makeMerchant(service);
    await setClock(service, owner, 'Create', ', at: "2027-01-31T09:00:00Z"');
    const { url, expires_at } = await session({ customer_ref: 'c', ttl_minutes: 1_440 }, owner);
    assert.equal(expires_at, '2027-02-01T09:00:00.000Z');
    const changed = `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`;
    for (const wrong of [changed, `${url}A`, `${url}=`, url.slice(0, -9), `${url}/x`])
      assert.equal((await show(wrong)).status, 404, wrong);
    assert.equal((await show(new URL('/pay/c/', url).href)).status, 404);
    assert.equal((await show(`${url}/`)).status, 200);
    await advanceClock(service, owner, '2027-02-01T08:59:00.000Z');
    assert.equal((await show(url)).status, 200);
    await advanceClock(service, owner, '2027-02-01T09:00:00.000Z');
    assert.equal((await show(url)).status, 404);
  });

  test('refuses what is wrong by its field, and a key without the scope', async () => {
    const long = 'https://shop.example/'.padEnd(2_048, 'a');
    const { url } = await session({ customer_ref: '🙂'.repeat(255), return_url: long });
    assert.equal((await show(url)).status, 200);
    for (const [body, field] of [
      [{}, 'customer_ref'],
      [{ customer_ref: '' }, 'customer_ref'],
      [{ customer_ref: 'c'.repeat(256) }, 'customer_ref'],
      [{ customer_ref: 'c', return_url: 'http://shop.example' }, 'return_url'],
      [{ customer_ref: 'c', return_url: `${long}a` }, 'return_url'],
      [{ customer_ref: 'c', ttl_minutes: 0 }, 'ttl_minutes'],
      [{ customer_ref: 'c', ttl_minutes: 1_441 }, 'ttl_minutes'],
      [{ customer_ref: 'c', ttl_minutes: 1.5 }, 'ttl_minutes'],
      [{ customer_ref: 'c', ttl_minutes: '30' }, 'ttl_minutes'],
      [{ customer_ref: 'c', shop_id: 'x' }, 'shop_id'],
    ] as const) {
      const { status, body: refused } = await merchant.call('POST', '/customer-sessions', body);
      assert.deepEqual([status, refused.error.code], [400, 'bad_request']);
      assert.ok(refused.error.message.includes(field), refused.error.message);
    }
    const { apiKeyIssue } = await askGraph(
      service,
      `mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, mode: test, scopes: ["api:recurrent:charge"]) { ... on ApiKeyIssued { secret } } }`,
      { m: merchant.id, s: merchant.shopId },
    );
    const at = { rest: service.rest, key: apiKeyIssue.secret };
    const refused = await callRest(at, 'POST', '/customer-sessions', { customer_ref: 'c' });
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'scope_required']);
  });

  test('has a page that is slowed down like the others, each by itself', async () => {
    const [busy, calm] = await Promise.all([
      session({ customer_ref: 'c-5' }),
      session({ customer_ref: 'c-5' }),
    ]);
    const statuses = new Set<number>();
    // A form of another site is turned away before anything is read: nothing is cheaper, so that a slow
    // machine uses the calls up sooner than they come back.
    const origin = 'https://elsewhere.example';
    const lane = async (): Promise<void> => {
      for (let calls = 0; calls < 200 && !statuses.has(429); calls += 1) {
        const answer = await end(busy.url, 'token', 'none', { origin });
        await answer.arrayBuffer();
        statuses.add(answer.status);
      }
    };
    await Promise.all(Array.from({ length: 50 }, lane));
    assert.deepEqual(statuses, new Set([404, 429]));
    assert.equal((await show(calm.url)).status, 200);
  });
});

test(
  'a customer ends a subscription in a browser without scripts',
  { skip: noChromium },
  async () => {
    await Promise.all([subscribe('c-6'), bind('c-6')]);
    const { url } = await session({ customer_ref: 'c-6', return_url: 'https://shop.example/me' });
    const browser = await startChromium();
    const looked = await (await openWindow(browser, { phone: true })).newPage();
    await looked.goto(url);
    assert.deepEqual(await flawsOf(looked), []);
    const page = await (await openWindow(browser, { script: false })).newPage();
    await page.goto(url);
    await page.getByText('Условия и списания').click();
    await page.getByText('Отменить подписку').click();
    await page.getByText(/Оплаченный период: до/).waitFor();
    await looked.goto(page.url());
    await looked.locator('summary').click();
    assert.deepEqual(await flawsOf(looked), []);
    await page.getByRole('button', { name: 'Да, отменить' }).click();
    await page.getByText('Подписка отменена').waitFor();
    await page.getByRole('link', { name: 'Все автоплатежи' }).click();
    await page.getByText('Подписок нет').waitFor();
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await page.waitForURL('https://shop.example/me');
    await browser.close();
  },
);
