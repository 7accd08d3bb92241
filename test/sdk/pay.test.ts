/** `psp pay` pays a test payment as its buyer, without a key and without a browser. */
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { openPsp } from './run-psp.ts';

const service = await openPlainService();
after(() => service.stop());
const merchant = await makeMerchant(service);
const psp = openPsp({ PSP_URL: service.rest });
after(psp.remove);

/** A new payment, which `psp pay` pays; gives how the command ended, and the payment. */
const paid = async (body: object, ...options: readonly string[]) => {
  const made = await merchant.call('POST', '/payments', { amount: 10_000, ...body });
  const { payment, payment_url } = made.body;
  const { code, out, err } = await psp.run(['pay', payment_url, ...options]);
  const read = await merchant.call('GET', `/payments/${payment.id}`);
  return { code, out: out.trim(), err, payment: read.body };
};

test('psp pay pays by any method, through the bank’s questions', async () => {
  const open = await paid({});
  assert.deepEqual([open.code, open.out, open.err], [0, 'succeeded', '']);
  const card = await paid({}, '--card', '2200 0000 0000 0004');
  assert.deepEqual([card.code, card.payment.status], [0, 'succeeded']);
  assert.equal(card.payment.customer_card_mask, '**** **** **** 0004');
  const asked = await paid({ amount: 10_005, method: 'cards' }, '--code', '654321');
  assert.deepEqual([asked.code, asked.payment.status], [0, 'succeeded'], asked.err);
  const held = await paid({ method: 'cards', capture: 'manual' });
  assert.deepEqual([held.code, held.out], [0, 'authorized']);
});

test('psp pay has the bank decline, and ends with 1 where that was not asked for', async () => {
  const declined = await paid({}, '--decline');
  assert.deepEqual([declined.code, declined.payment.status], [0, 'failed']);
  const why = await paid({ method: 'sbp' }, '--code', 'insufficient_funds');
  assert.deepEqual([why.code, why.out], [0, 'failed (insufficient_funds)']);
  const unknown = await paid({}, '--code', 'insuficient_funds');
  assert.deepEqual([unknown.code, unknown.payment.status], [2, 'pending']);
  assert.match(unknown.err, /--code: the simulated bank has no failure code insuficient_funds/);
  const atBank = await paid({ amount: 10_005, method: 'cards' }, '--code', '000000');
  assert.deepEqual([atBank.code, atBank.payment.status], [1, 'failed']);
  assert.equal((await paid({ amount: 10_001 })).code, 1);
});

test('psp pay pays through a link, binds a token, and says what is no test payment', async () => {
  const { body } = await merchant.call('POST', '/links', { amount: 5_000 });
  assert.equal((await psp.json('pay', body.link.url))[0].status, 'succeeded');
  const token = await merchant.call('POST', '/tokens', { customer_ref: 'c' });
  assert.equal((await psp.json('pay', token.body.pay_url))[0].status, 'succeeded');
  const again = await psp.run(['pay', token.body.pay_url]);
  assert.deepEqual([again.code, again.err.includes('succeeded already')], [1, true]);
  assert.equal((await psp.run(['pay', `${service.rest}/pay/nothing`])).code, 1);
  const { err } = await psp.run(['pay', `${service.rest}/pay/l/nothing`]);
  assert.equal(err, 'psp: the hosted page answered 404\n');
  const wrong = await paid({}, '--card', '4111111111111112');
  assert.match(wrong.err, /answered 400: The bank did not accept these details/);
  assert.equal((await psp.run(['pay', 'nothing'])).code, 2);
  assert.equal((await psp.run(['pay', token.body.pay_url, '--card', 'x'])).code, 2);
  assert.equal((await psp.run(['pay'])).code, 2);
});
