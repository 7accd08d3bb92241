/** The lives that a merchant can try in test mode by what the buyer does (docs/testing.md). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { advanceClock, setClock } from '../support/test-clock.ts';
import { eventually } from '../support/eventually.ts';

const declinesToBeSaved = '2200000000000012';
const refusesFirstCharge = '2200000000000020';

describe('a life that a tester chooses', { concurrency: 2 }, () => {
  let service: ServiceInUse;
  before(async () => {
    service = await openPlainService();
  });
  after(() => service.stop());

  const subscribe = async (merchant: Merchant, body: object = {}) => {
    const started = await merchant.call('POST', '/subscriptions', {
      amount: 99_000,
      customer_ref: 'buyer-1',
      ...body,
    });
    assert.equal(started.status, 201);
    const { subscription, initial_payment: payment, pay_url: url } = started.body;
    const read = async (): Promise<any> =>
      (await merchant.call('GET', `/subscriptions/${subscription.id}`)).body;
    const until = (status: string): Promise<any> =>
      eventually(async () => {
        const seen = await read();
        return seen.status === status ? seen : undefined;
      }, `the subscription is ${status}`);
    return { payment, url, until };
  };

  test('the first scheduled charge of a subscription fails, and its retry a day later succeeds', async (context) => {
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver();
    context.after(() => receiver.close());
    await merchant.endpoint(receiver.url);
    await setClock(service, merchant, 'Create', ', at: "2027-01-31T09:00:00.000Z"');
    const { url, until } = await subscribe(merchant);
    await payByCard(url, refusesFirstCharge);
    await confirmAtBank(url);
    await until('active');
    await advanceClock(service, merchant, '2027-02-28T09:00:10.000Z');
    await until('past_due');
    await advanceClock(service, merchant, '2027-03-01T09:00:20.000Z');
    const { last_charge_at: charged } = await until('active');
    assert.match(charged, /^2027-03-01T09:00/);
    await advanceClock(service, merchant, '2027-03-31T09:00:30.000Z');
    const paid = await merchant.call('GET', '/payments');
    assert.deepEqual(
      paid.body.items.map((payment: any) => payment.status),
      ['succeeded', 'succeeded', 'failed', 'succeeded'],
    );
    assert.equal(paid.body.items[2].metadata.failure_code, 'insufficient_funds');
    await receiver.until(({ body }) => body.event === 'payment.failed');
  });

  test('charges of such a card by the merchant: the first alone is refused, and is answered so again', async () => {
    const merchant = await makeMerchant(service);
    const bound = await merchant.call('POST', '/tokens', { customer_ref: 'buyer-1' });
    await payByCard(bound.body.pay_url, refusesFirstCharge);
    await confirmAtBank(bound.body.pay_url);
    const { id } = bound.body.card;
    await eventually(async () => {
      const { body } = await merchant.call('GET', '/tokens');
      return body.items[0].status === 'active' || undefined;
    }, 'the token is active');
    const charge = async (key: string): Promise<string> => {
      const headers = { 'Idempotency-Key': key };
      const body = { amount: 5_000 };
      const answer = await merchant.call('POST', `/tokens/${id}/charge`, body, headers);
      return answer.body.status;
    };
    const statuses = [await charge('one'), await charge('one'), await charge('two')];
    assert.deepEqual(statuses, ['failed', 'failed', 'succeeded']);
  });

  test('a card is declined to be saved, and the subscription ends with its binding', async () => {
    const merchant = await makeMerchant(service);
    const { payment, url, until } = await subscribe(merchant, { trial_days: 14 });
    await payByCard(url, declinesToBeSaved);
    await until('cancelled');
    const { body } = await merchant.call('GET', `/payments/${payment.id}`);
    assert.deepEqual([body.status, body.metadata.failure_code], ['failed', 'do_not_honor']);
  });

  test('such cards pay as any other where nothing is saved', async () => {
    const merchant = await makeMerchant(service);
    for (const number of [declinesToBeSaved, refusesFirstCharge]) {
      const made = await merchant.call('POST', '/payments', { amount: 10_000, method: 'cards' });
      await payByCard(made.body.payment_url, number);
      await eventually(async () => {
        const { body } = await merchant.call('GET', `/payments/${made.body.payment.id}`);
        return body.status === 'succeeded' ? body : undefined;
      }, 'the payment succeeds');
    }
  });

  test('a wrong 3-D Secure code declines the payment', async () => {
    const merchant = await makeMerchant(service);
    const made = await merchant.call('POST', '/payments', { amount: 10_005, method: 'cards' });
    await payByCard(made.body.payment_url);
    await confirmAtBank(made.body.payment_url, '000000');
    const { body } = await merchant.call('GET', `/payments/${made.body.payment.id}`);
    assert.deepEqual(
      [body.status, body.metadata.failure_code],
      ['failed', 'authentication_failed'],
    );
  });
});
