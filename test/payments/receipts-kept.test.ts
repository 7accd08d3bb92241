/**
 * Receipts that are given before there is a payment: of links, of charges of a saved method and of
 * the periods of a subscription. Additions, section 2.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { receiptOf } from '../support/receipts.ts';
import { advanceClock, setClock } from '../support/test-clock.ts';
import { openPool } from '../support/database.ts';
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

const receiptsOf = async (merchant: Merchant, paymentId: string): Promise<any[]> =>
  (await merchant.call('GET', `/receipts?payment_id=${paymentId}`)).body.items;

const registered = (merchant: Merchant, paymentId: string): Promise<any> =>
  eventually(async () => {
    const receipts = await receiptsOf(merchant, paymentId);
    return receipts.length === 1 && receipts[0].status === 'registered' && receipts[0];
  }, `the receipt of ${paymentId}`);

const countTerms = async (merchant: Merchant): Promise<number> => {
  const { rows } = await pool.query(
    'select count(*)::int as count from receipt_terms where merchant_id = $1',
    [merchant.id],
  );
  return rows[0]?.count;
};

const until = (merchant: Merchant, path: string, status: string): Promise<any> =>
  eventually(async () => {
    const { body } = await merchant.call('GET', path);
    return body.status === status && body;
  }, `${path} ${status}`);

const masked = { email: 'i***@example.com', phone: '+7 *** ***-45-67', full_name: null, inn: null };

describe('the receipt of a link', { concurrency: true }, () => {
  test('is shown with its customer masked, and each payment through the link has it', async () => {
    const merchant = await makeMerchant(service);
    const body = { amount: 10_000, method: 'sbp', uses: 2, receipt: receiptOf(10_000) };
    const made = await merchant.call('POST', '/links', body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { link } = made.body;
    assert.deepEqual(link.receipt.customer, masked);
    assert.deepEqual([link.receipt.tax_system, link.receipt.items[0].price], [null, 10_000]);
    for (const _ of [1, 2]) {
      const sent = { method: 'POST', redirect: 'manual', body: new URLSearchParams() } as const;
      const page = (await fetch(link.url, sent)).headers.get('location');
      await pay(`${service.rest}${page}`);
    }
    const paid = await eventually(async () => {
      const { items } = (await merchant.call('GET', '/payments?status=succeeded')).body;
      return items.length === 2 && items;
    }, 'both payments');
    for (const { id } of paid) {
      const receipt = await registered(merchant, id);
      assert.deepEqual([receipt.type, receipt.amount], ['payment', 10_000]);
      assert.deepEqual(receipt.customer, masked);
    }
    assert.equal(await countTerms(merchant), 1);
  });

  test('goes with a fixed amount to which it sums; nothing is made else', async () => {
    const merchant = await makeMerchant(service);
    const refused = async (body: object, words: RegExp) => {
      const answer = await merchant.call('POST', '/links', body);
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'bad_request']);
      assert.match(answer.body.error.message, words);
    };
    await refused({ amount: 10_000, receipt: receiptOf(9_999) }, /9999.*10000/);
    await refused({ amount_min: 100, receipt: receiptOf(100) }, /fixed amount/);
    assert.equal((await merchant.call('GET', '/links')).body.items.length, 0);
    assert.equal(await countTerms(merchant), 0);
  });

  test('loses its customer with the data of a payment, once the link has ended', async () => {
    const merchant = await makeMerchant(service);
    const body = { amount: 10_000, method: 'sbp', receipt: receiptOf(10_000) };
    const { link } = (await merchant.call('POST', '/links', body)).body;
    const sent = { method: 'POST', redirect: 'manual', body: new URLSearchParams() } as const;
    const page = (await fetch(link.url, sent)).headers.get('location');
    await pay(`${service.rest}${page}`);
    await until(merchant, `/links/${link.id}`, 'paid');
    const { items } = (await merchant.call('GET', '/payments')).body;
    await registered(merchant, items[0].id);
    const { personalDataErase } = await askGraph(
      service,
      `mutation ($m: ID!, $p: String!) { personalDataErase(merchantId: $m, subject: payment, id: $p, reason: "Asked for") { ... on PersonalDataErased { payments } } }`,
      { m: merchant.id, p: items[0].id },
    );
    assert.equal(personalDataErase.payments, 1);
    const nobody = { email: null, phone: null, full_name: null, inn: null };
    const shown = (await merchant.call('GET', `/links/${link.id}`)).body;
    assert.deepEqual(shown.receipt.customer, nobody);
    const { rows } = await pool.query(
      'select count(*)::int as count from receipt_terms where merchant_id = $1 and (customer_sealed is not null or customer_shown is not null)',
      [merchant.id],
    );
    assert.equal(rows[0]?.count, 0);
  });
});

describe('the receipt of a charge without the buyer', () => {
  test('is made with the charge, once for equal calls; a charge that is refused keeps nothing', async () => {
    const merchant = await makeMerchant(service);
    const bound = await merchant.call('POST', '/tokens', { customer_ref: 'buyer-1' });
    const { id } = bound.body.card;
    const charge = (body: object, key: string = randomUUID()) =>
      merchant.call('POST', `/tokens/${id}/charge`, body, { 'Idempotency-Key': key });
    const early = await charge({ amount: 5_000, receipt: receiptOf(5_000) });
    assert.equal(early.body.error.code, 'token_not_active');
    await payByCard(bound.body.pay_url);
    await confirmAtBank(bound.body.pay_url);
    await eventually(async () => {
      const { items } = (await merchant.call('GET', '/tokens')).body;
      return items[0].status === 'active';
    }, 'the token is active');
    const wrong = await charge({ amount: 5_000, receipt: receiptOf(4_999) });
    assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'bad_request']);
    assert.match(wrong.body.error.message, /4999.*5000/);
    assert.equal(await countTerms(merchant), 0);
    const key = randomUUID();
    const body = { amount: 5_000, receipt: receiptOf(5_000) };
    // An equal call that has waited too long for the first one is sent again.
    const sent = async (): Promise<any> => {
      const answer = await charge(body, key);
      return answer.body.error?.code === 'idempotent_in_progress' ? sent() : answer;
    };
    const answers = await Promise.all(Array.from({ length: 20 }, sent));
    const ids = new Set(answers.map((answer) => answer.body.id));
    assert.equal(ids.size, 1);
    const other = await charge({ amount: 5_000 }, key);
    assert.equal(other.body.error.code, 'idempotent_conflict');
    const receipt = await registered(merchant, String([...ids][0]));
    assert.deepEqual([receipt.type, receipt.amount, receipt.customer], ['payment', 5_000, masked]);
    assert.equal(await countTerms(merchant), 1);
    const refunded = await merchant.call('POST', `/payments/${[...ids][0]}/refund`, {});
    assert.equal(refunded.status, 201);
  });
});

describe('the receipt of a subscription', { concurrency: true }, () => {
  test('is that of each period, and not of the 1 RUB that begins a trial', async () => {
    const merchant = await makeMerchant(service);
    await setClock(service, merchant, 'Create', ', at: "2027-01-31T09:00:00.000Z"');
    const wrong = { amount: 99_000, customer_ref: 'b', receipt: receiptOf(98_999) };
    assert.equal((await merchant.call('POST', '/subscriptions', wrong)).status, 400);
    assert.equal(await countTerms(merchant), 0);
    const body = { amount: 99_000, customer_ref: 'b', trial_days: 7, receipt: receiptOf(99_000) };
    const started = await merchant.call('POST', '/subscriptions', body);
    assert.equal(started.status, 201, JSON.stringify(started.body));
    const { subscription, initial_payment: first, pay_url: url } = started.body;
    await payByCard(url);
    await confirmAtBank(url);
    await until(merchant, `/subscriptions/${subscription.id}`, 'active');
    await advanceClock(service, merchant, '2027-02-07T09:10:00.000Z');
    await advanceClock(service, merchant, '2027-03-07T09:10:00.000Z');
    const { items } = (await merchant.call('GET', '/payments')).body;
    assert.deepEqual(
      items.map(({ amount }: any) => amount),
      [99_000, 99_000, 100],
    );
    for (const { id, amount } of items)
      if (amount === 99_000)
        assert.deepEqual((await registered(merchant, id)).items[0].price, 99_000);
    assert.deepEqual(await receiptsOf(merchant, first.id), []);
    assert.equal(await countTerms(merchant), 1);
  });

  test('is that of the first payment, too, where there is no trial; its customer goes with the buyer’s data', async () => {
    const merchant = await makeMerchant(service);
    const body = { amount: 99_000, customer_ref: 'buyer-9', receipt: receiptOf(99_000) };
    const key = { 'Idempotency-Key': randomUUID() };
    const started = await merchant.call('POST', '/subscriptions', body, key);
    const again = await merchant.call('POST', '/subscriptions', body, key);
    assert.deepEqual([started.status, again.status], [201, 200]);
    const { subscription, initial_payment: first, pay_url: url } = started.body;
    await payByCard(url);
    await confirmAtBank(url);
    await until(merchant, `/subscriptions/${subscription.id}`, 'active');
    await registered(merchant, first.id);
    await merchant.call('POST', `/subscriptions/${subscription.id}/cancel`, {});
    await askGraph(
      service,
      `mutation ($m: ID!) { personalDataErase(merchantId: $m, subject: customer, id: "buyer-9", reason: "Asked for") { __typename } }`,
      { m: merchant.id },
    );
    const { rows } = await pool.query(
      'select customer_sealed as sealed, customer_shown as shown from receipt_terms where merchant_id = $1',
      [merchant.id],
    );
    assert.deepEqual(rows, [{ sealed: null, shown: null }]);
  });
});
