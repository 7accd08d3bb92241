/**
 * Payment links over HTTP, and their page as a browser without script sees it. Additions, section
 * 3.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { linkKeyIn } from '../support/buyer.ts';
import { openPool } from '../support/database.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { setClock } from '../support/test-clock.ts';
import { eventually } from '../support/eventually.ts';

let service: ServiceInUse;
let pool: pg.Pool;
before(async () => {
  service = await openPlainService();
  pool = openPool(service.databaseUrl, 2);
});
after(async () => {
  await pool?.end();
  await service?.stop();
});

interface Link {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly uses_left: number | null;
  readonly payments_count: number;
  readonly amount_paid: number;
  readonly finalized_at: string | null;
}

const create = async (merchant: Merchant, body: object): Promise<Link> => {
  const answer = await merchant.call('POST', '/links', body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.link;
};
const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`own_${n}`, String(n)]));

const read = async (merchant: Merchant, { id }: Pick<Link, 'id'>): Promise<Link> =>
  (await merchant.call('GET', `/links/${id}`)).body;

/**
 * Sends the form of a link's page; the path of the payment's page, or the page that came instead.
 */
const goOn = async ({ url }: Link, amount?: string, key?: string) => {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'accept-language': 'en' },
    body: new URLSearchParams({
      ...(amount === undefined ? {} : { amount }),
      ...(key === undefined ? {} : { idempotency_key: key }),
    }).toString(),
  });
  const { status, headers } = response;
  return { status, page: headers.get('location') ?? '', text: await response.text() };
};

/** The key that a link's page carries in its form. */
const keyOf = async ({ url }: Link): Promise<string> => {
  const text = await fetch(url).then((shown) => shown.text());
  return linkKeyIn(text) ?? assert.fail(text);
};

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${service.rest}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Opens the bank session of a payment by SBP, as the page does. */
const openSession = async (page: string): Promise<void> => {
  const opened = await post(`${page}/pay`, {});
  assert.equal(opened.status, 200, await opened.text());
};

const paymentOf = (page: string): string => {
  const hex = Buffer.from(page.split('/').at(-1) ?? '', 'base64url')
    .toString('hex')
    .slice(32, 64);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** Waits until a payment has the status; gives it. */
const until = (merchant: Merchant, page: string, status: string) =>
  eventually(async () => {
    const { body } = await merchant.call('GET', `/payments/${paymentOf(page)}`);
    return body.status === status && body;
  }, `the payment is ${status}`);

describe('a payment link', { concurrency: true }, () => {
  test('is what the additions describe, with their defaults; a repeated call gives the same', async () => {
    const merchant = await makeMerchant(service);
    const key = { 'idempotency-key': randomUUID() };
    const body = { amount: 150_000, description: 'Tickets', metadata: { a: 'b' } };
    const made = await merchant.call('POST', '/links', body, key);
    assert.equal(made.status, 201);
    const { link } = made.body;
    const { id, url, expires_at, created_at, ...rest } = link;
    assert.deepEqual(rest, {
      merchant_id: merchant.id,
      shop_id: merchant.shopId,
      status: 'active',
      amount: 150_000,
      amount_min: null,
      amount_max: null,
      currency: 'RUB',
      description: 'Tickets',
      order_id: null,
      method: 'any',
      capture: 'automatic',
      uses: 1,
      uses_left: 1,
      return_url: null,
      metadata: { a: 'b' },
      payments_count: 0,
      amount_paid: 0,
      finalized_at: null,
      receipt: null,
    });
    assert.match(url, /\/pay\/l\/[\w-]{22}$/);
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 30 * 86_400_000);
    const again = await merchant.call('POST', '/links', body, key);
    assert.deepEqual([again.status, again.body], [200, { link }]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal((await merchant.call('POST', '/links', { amount: 1 }, key)).status, 409);
    const open = await create(merchant, { uses: null });
    const page = (await merchant.call('GET', '/links?status=active')).body;
    assert.deepEqual(
      page.items.map((one: Link) => one.id),
      [open.id, id],
    );
    assert.deepEqual(
      ['uses', 'uses_left', 'amount', 'amount_min', 'amount_max'].map(
        (name) => page.items[0][name],
      ),
      [null, null, null, 100, 10_000_000],
    );
  });

  test('is refused with words about what is wrong', async () => {
    const merchant = await makeMerchant(service);
    const day_ms = 86_400_000;
    for (const [body, words] of [
      [{ amount: 1, amount_min: 1 }, /either amount, or amount_min and amount_max/],
      [{ amount_min: 500, amount_max: 499 }, /amount_max: expected an integer not below/],
      [{ amount: 0 }, /amount/],
      [{ amount: 1, uses: 0 }, /uses: expected an integer from 1 to 1000000 or null, got 0/],
      [{ amount: 1, uses: 1_000_001 }, /uses/],
      [{ amount: 1, method: 'recurrent' }, /method/],
      [{ amount: 1, currency: 'XXY' }, /currency/],
      [{ amount: 1, expires_at: '2020-05-06T10:00:00Z' }, /365 days, got 2020-05-06T10:00:00Z/],
      [{ amount: 1, expires_at: new Date(Date.now() + 366 * day_ms).toISOString() }, /expires_at/],
      [{ amount: 1, return_url: 'http://a.example' }, /return_url/],
      [{ amount: 1, metadata: pairs(21) }, /metadata: expected an object of up to 20 strings/],
    ] as const) {
      const answer = await merchant.call('POST', '/links', body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.match(answer.body.error.message, words);
    }
  });

  test('leads a buyer from its page to a payment, which takes its use and notifies the shop', async (t) => {
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver();
    t.after(() => receiver.close());
    await merchant.endpoint(receiver.url, ['link_paid']);
    const link = await create(merchant, {
      amount: 10_000,
      method: 'sbp',
      description: '<b>Tea</b>',
      metadata: { ...pairs(19), link_id: 'own' },
    });
    const shown = await fetch(link.url, { headers: { 'accept-language': 'en' } });
    const text = await shown.text();
    assert.equal(shown.status, 200);
    assert.match(text, /Tea &amp; Cakes.*₽100.*&lt;b&gt;Tea/s);
    const { status, page } = await goOn(link);
    assert.equal(status, 303);
    await openSession(page);
    const paid = await until(merchant, page, 'succeeded');
    assert.deepEqual([paid.metadata.link_id, paid.metadata.own_18], [link.id, '18']);
    const after = await read(merchant, link);
    assert.deepEqual(
      [after.status, after.uses_left, after.payments_count, after.amount_paid],
      ['paid', 0, 1, 10_000],
    );
    assert.ok(after.finalized_at);
    const { body } = await receiver.until(() => true);
    assert.deepEqual([body.event, body.data], ['link.paid', after]);
    const closed = await fetch(link.url, { headers: { 'accept-language': 'en' } });
    assert.equal(closed.status, 410);
    assert.match(await closed.text(), /This link has been paid/);
    assert.equal((await goOn(link)).status, 410);
    const late = await merchant.call('POST', `/links/${link.id}/deactivate`);
    assert.deepEqual([late.status, late.body], [200, { status: 'paid', link: after }]);
  });

  test('of an open amount takes what the buyer types, within its bounds', async () => {
    const merchant = await makeMerchant(service);
    const link = await create(merchant, { amount_min: 500, amount_max: 200_000, uses: null });
    for (const typed of ['', 'ten', '4.99', '2000.01', '10.001', '-5', '1e3']) {
      const { status, text } = await goOn(link, typed);
      assert.equal(status, 422, typed);
      assert.match(text, /Enter an amount from ₽5 to ₽2,000/);
    }
    for (const [typed, amount] of [
      ['5', 500],
      ['1 500,50', 150_050],
      ['99.9', 9_990],
    ] as const) {
      const { page } = await goOn(link, typed);
      const payment = await merchant.call('GET', `/payments/${paymentOf(page)}`);
      assert.equal(payment.body.amount, amount);
    }
    const hostile = await goOn(link, '"><script>alert(1)</script>');
    assert.ok(!hostile.text.includes('<script>alert'));
  });

  test('counts what a buyer types in the minor units of ISO 4217, and names the currency', async () => {
    const merchant = await makeMerchant(service);
    const forints = await create(merchant, { currency: 'HUF', amount_max: 1_000_000_000 });
    const { status, page } = await goOn(forints, '100');
    assert.equal(status, 303);
    const { body } = await merchant.call('GET', `/payments/${paymentOf(page)}`);
    assert.deepEqual([body.amount, body.currency], [10_000, 'HUF']);
    const dollars = await create(merchant, { currency: 'CAD', amount: 1_050 });
    const shown = async (address: string): Promise<string> =>
      (await fetch(address, { headers: { 'accept-language': 'en' } })).text();
    assert.match(await shown(dollars.url), /CAD\s10\.50/);
    const payment = await merchant.call('POST', '/payments', { amount: 1_050, currency: 'CAD' });
    assert.match(await shown(payment.body.payment_url), /CAD\s10\.50/);
    for (const currency of ['HRK', 'BGN', 'DEM', 'XAU'])
      for (const path of ['/links', '/payments'])
        assert.equal((await merchant.call('POST', path, { amount: 100, currency })).status, 400);
  });

  test('makes one payment of a page whose button is pressed again, until that ends unpaid', async () => {
    const merchant = await makeMerchant(service);
    const link = await create(merchant, { amount_min: 500, uses: null });
    const [key, other] = await Promise.all([keyOf(link), keyOf(link)]);
    const pressed = await Promise.all(Array.from({ length: 8 }, () => goOn(link, '5', key)));
    const [{ page } = assert.fail()] = pressed;
    assert.ok(pressed.every(({ status, page: also }) => status === 303 && also === page));
    const { page: ofOther } = await goOn(link, '5', other);
    const { page: ofMore } = await goOn(link, '6', key);
    await merchant.call('POST', `/payments/${paymentOf(page)}/cancel`);
    const { page: anew } = await goOn(link, '5', key);
    assert.equal(
      (await goOn(link, '5', key)).page,
      anew,
      'what came after it is pressed twice, too',
    );
    const notes = 'select 1 from link_payment where merchant_id = $1';
    const { rows } = await pool.query(notes, [merchant.id]);
    const { items } = (await merchant.call('GET', '/payments')).body;
    const pages = new Set([page, ofOther, ofMore, anew].map(paymentOf));
    assert.deepEqual(pages, new Set(items.map(({ id }: Link) => id)));
    assert.deepEqual([items.length, rows.length], [4, 4]);
  });

  test('of two buyers at its last use one is paid, the other gets the money back in full', async () => {
    const merchant = await makeMerchant(service);
    const link = await create(merchant, { amount: 10_000, method: 'sbp' });
    const begun = await Promise.all(Array.from({ length: 6 }, () => goOn(link)));
    await Promise.all(begun.map(({ page }) => openSession(page)));
    const payments = await eventually(async () => {
      const answers = await Promise.all(
        begun.map(({ page }) => merchant.call('GET', `/payments/${paymentOf(page)}`)),
      );
      const bodies = answers.map(({ body }) => body);
      const ends = bodies.map(({ status }) => status);
      return ends.filter((end) => end === 'refunded').length === 5 && bodies;
    }, 'five payments are given back');
    const [kept] = payments.filter(({ status }) => status === 'succeeded');
    assert.ok(kept && kept.metadata.link_exhausted === undefined);
    for (const given of payments.filter(({ id }) => id !== kept.id))
      assert.deepEqual(
        [given.metadata.link_exhausted, given.fee, given.amount_refunded],
        ['true', 0, 10_000],
      );
    const { payments_count, amount_paid, status } = await read(merchant, link);
    assert.deepEqual([payments_count, amount_paid, status], [1, 10_000, 'paid']);
    const { body: balance } = await merchant.call('GET', '/balance');
    assert.equal(balance.balance, kept.net);
    const { rows } = await pool.query(
      "select count(*)::int as alerts from alert where merchant_id = $1 and kind = 'link_exhausted'",
      [merchant.id],
    );
    assert.equal(rows[0].alerts, 5);
  });

  test('of two steps takes its use when the money is captured; SBP cannot hold', async () => {
    const merchant = await makeMerchant(service);
    const refused = await merchant.call('POST', '/links', {
      amount: 1,
      method: 'sbp',
      capture: 'manual',
    });
    assert.deepEqual([refused.status, refused.body.error.code], [422, 'method_unsupported']);
    const link = await create(merchant, { amount: 10_000, method: 'tpay', capture: 'manual' });
    const begun = [await goOn(link), await goOn(link)];
    for (const { page } of begun) {
      await openSession(page);
      await until(merchant, page, 'authorized');
    }
    assert.equal((await read(merchant, link)).uses_left, 1);
    for (const { page } of begun) {
      const body = { amount: 4_000 };
      const captured = await merchant.call('POST', `/payments/${paymentOf(page)}/capture`, body);
      assert.equal(captured.status, 200, JSON.stringify(captured.body));
    }
    const [first, second] = begun;
    await until(merchant, first?.page ?? '', 'succeeded');
    const given = await until(merchant, second?.page ?? '', 'refunded');
    assert.deepEqual([given.amount_captured, given.amount_refunded], [4_000, 4_000]);
    const { payments_count, amount_paid } = await read(merchant, link);
    assert.deepEqual([payments_count, amount_paid], [1, 4_000]);
  });

  test('keeps a use that ended unpaid, and is not the link of a payment that only says so', async () => {
    const merchant = await makeMerchant(service);
    const link = await create(merchant, { amount: 10_001, method: 'sbp' });
    const { page } = await goOn(link);
    await openSession(page);
    await until(merchant, page, 'failed');
    assert.deepEqual((await read(merchant, link)).uses_left, 1);
    const made = await merchant.call('POST', '/payments', {
      amount: 10_000,
      method: 'sbp',
      metadata: { link_id: link.id },
    });
    const { pathname } = new URL(made.body.payment_url);
    await openSession(pathname);
    await until(merchant, pathname, 'succeeded');
    assert.deepEqual((await read(merchant, link)).uses_left, 1);
  });

  test('ends by its time and by its merchant, and belongs to that merchant alone', async () => {
    const [merchant, stranger] = [await makeMerchant(service), await makeMerchant(service)];
    const short = await create(merchant, { amount: 1 });
    await pool.query('update payment_link set expires_at = now() where id = $1', [short.id]);
    const link = await create(merchant, { amount: 1 });
    for (const [method, path] of [
      ['GET', `/links/${link.id}`],
      ['POST', `/links/${link.id}/deactivate`],
    ] as const)
      assert.equal((await stranger.call(method, path)).status, 404);
    assert.deepEqual((await stranger.call('GET', '/links')).body.items, []);
    const ended = await merchant.call('POST', `/links/${link.id}/deactivate`);
    assert.deepEqual([ended.status, ended.body.status], [200, 'deactivated']);
    const again = await merchant.call('POST', `/links/${link.id}/deactivate`);
    assert.deepEqual([again.status, again.body], [200, ended.body]);
    assert.match((await goOn(link)).text, /The shop has closed this link/);
    await eventually(
      async () => (await read(merchant, short)).status === 'expired',
      'the link expires',
    );
    assert.match((await goOn(short)).text, /This link has expired/);
    const unknown = await fetch(`${link.url.slice(0, -22)}${'A'.repeat(22)}`);
    assert.equal(unknown.status, 404);
  });

  test('lives by its shop’s test clock, and so do its payments', async () => {
    const merchant = await makeMerchant(service);
    await askGraph(
      service,
      'mutation ($m: ID!, $s: ID!, $at: DateTime!) { testClockCreate(merchantId: $m, shopId: $s, at: $at) { __typename } }',
      {
        m: merchant.id,
        s: merchant.shopId,
        at: new Date(Date.now() + 60 * 86_400_000).toISOString(),
      },
    );
    const link = await create(merchant, { amount: 10_000, method: 'sbp' });
    const { status, page } = await goOn(link);
    assert.equal(status, 303);
    const { body } = await merchant.call('GET', `/payments/${paymentOf(page)}`);
    assert.ok(Date.parse(body.created_at) > Date.now() + 59 * 86_400_000, body.created_at);
  });

  test('is ended by support at a console, at its shop’s time, which the audit log keeps', async () => {
    const merchant = await makeMerchant(service);
    await setClock(service, merchant, 'Create', ', at: "2027-03-01T12:00:00.000Z"');
    const link = await create(merchant, { amount: 1 });
    const names = { m: merchant.id, l: link.id };
    // The test's key is of test mode, which people read by id.
    const { linkDeactivate } = await askGraph(
      service,
      'mutation ($m: ID, $l: ID!) { linkDeactivate(id: $l, merchantId: $m) { ... on PaymentLinkDeactivated { link { status finalizedAt } } } }',
      names,
    );
    assert.deepEqual(linkDeactivate.link, {
      status: 'deactivated',
      finalizedAt: '2027-03-01T12:00:00.000Z',
    });
    const { auditLog } = await askGraph(
      service,
      'query ($m: ID) { auditLog(merchantId: $m, first: 1) { nodes { action subjectId } } }',
      names,
    );
    assert.deepEqual(auditLog.nodes, [{ action: 'link.deactivate', subjectId: link.id }]);
  });

  test('a payment that is refused leaves nothing behind', async () => {
    const merchant = await makeMerchant(service);
    // The platform's word: it is forbidden to all merchants.
    const word = `w${randomUUID().replaceAll('-', '')}`;
    const link = await create(merchant, { amount: 10_000, description: `${word} ride` });
    const { forbidden } = await askGraph(
      service,
      'mutation ($w: String!) { forbidden: forbiddenPurposeAdd(word: $w, reason: "Law") { ... on ForbiddenPurpose { id } } }',
      { w: word },
    );
    assert.equal((await goOn(link)).status, 422);
    await askGraph(
      service,
      'mutation ($id: ID!) { forbiddenPurposeRemove(id: $id) { __typename } }',
      forbidden,
    );
    const { rows } = await pool.query(
      'select count(*)::int as count from link_payment where merchant_id = $1',
      [merchant.id],
    );
    assert.equal(rows[0]?.count, 0);
  });
});
