/** A link whose payments come to more than one amount keeps, and more than a bigint holds. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { pay } from '../support/buyer.ts';
import { openPool } from '../support/database.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';

// Its own: these sums would be in what everybody's payments come to.
let service: ServiceInUse;
let pool: pg.Pool;
before(async () => {
  service = await startOwn();
  pool = openPool(service.databaseUrl, 1);
});
after(async () => {
  await pool?.end();
  await service?.stop();
});

/** The largest amount that ends in 00: the simulated bank approves it. */
const amount = 9_007_199_254_740_900n;

const until = (merchant: Merchant, id: string, status: string) =>
  eventually(async () => {
    const { body } = await merchant.call('GET', `/payments/${id}`);
    return body.status === status;
  }, `the payment is ${status}`);

/** A buyer pays; the merchant gives the money back, so that its balance has room for the next. */
const payAndRefund = async (merchant: Merchant, url: string): Promise<void> => {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  });
  await pay(new URL(response.headers.get('location') ?? '', url).href);
  const { items } = (await merchant.call('GET', '/payments')).body;
  const { id } = items[0];
  await until(merchant, id, 'succeeded');
  assert.equal((await merchant.call('POST', `/payments/${id}/refund`, {})).status, 201);
  await until(merchant, id, 'refunded');
};

/** What REST answers, as it is written: a reader's numbers would lose digits. */
const written = async (merchant: Merchant, path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${merchant.key}` };
  const response = await fetch(`${service.rest}/v1/public${path}`, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
};

test('a link is read, listed and notified of to the last digit, and its payments succeed', async (t) => {
  const merchant = await makeMerchant(service);
  const receiver = await openReceiver();
  t.after(() => receiver.close());
  await merchant.endpoint(receiver.url, ['link_paid']);
  const made = await merchant.call('POST', '/links', {
    amount: Number(amount),
    uses: null,
    method: 'sbp',
  });
  const { id, url } = made.body.link;
  const isSum = async (count: number, sum: bigint): Promise<void> => {
    const shown = `"payments_count":${count},"amount_paid":${sum},`;
    for (const path of [`/links/${id}`, '/links'])
      assert.ok((await written(merchant, path)).includes(shown), await written(merchant, path));
    await receiver.until(({ raw }) => raw.includes(shown));
  };
  // As if 1,023 buyers had paid.
  await pool.query(
    'update payment_link set payments_count = 1023, amount_paid = $2 where id = $1',
    [id, (amount * 1_023n).toString()],
  );
  await payAndRefund(merchant, url);
  await isSum(1_024, amount * 1_024n);
  await payAndRefund(merchant, url);
  await isSum(1_025, amount * 1_025n);
  const ended = await merchant.call('POST', `/links/${id}/deactivate`);
  assert.deepEqual([ended.status, ended.body.status], [200, 'deactivated']);
});
