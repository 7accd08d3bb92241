/**
 * What a merchant and a buyer do in the tests of this folder, and the private things that they
 * bring, which must be seen nowhere.
 */
import assert from 'node:assert/strict';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import type { Service } from '../support/service.ts';

/** Data that the calls below send, by what it is. */
const privateData = {
  card: '4111111111111111',
  'card of a payout': '2200000000000004',
  phone: '9161234567',
  name: 'Seraphima Quillon',
  account: '40817810900000012345',
  purpose: 'Theodora Wexcombe',
  customer: 'customer-of-the-logs',
  'card in a free text': '5105105105105100',
};

export interface Lived {
  readonly merchant: Merchant;
  readonly paymentId: string;
  readonly payoutId: string;
  /** Names of the headers that webhooks came with. */
  readonly webhookHeaders: readonly string[];
  /** What must not be found in logs and spans. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A payout of each kind; gives the id of the first. */
const payOut = async (merchant: Merchant): Promise<string> => {
  const payouts = [
    {
      method: 'payouts_sbp',
      amount: 500,
      phone: `+7${privateData.phone}`,
      bank_id: '100000000004',
      full_name: privateData.name,
    },
    { method: 'payouts_card', amount: 300, card_pan: privateData['card of a payout'] },
    {
      method: 'payouts_account',
      amount: 200,
      account_number: privateData.account,
      bik: '044525225',
      full_name: privateData.name,
    },
  ];
  const made = await Promise.all(
    payouts.map((payout) => merchant.call('POST', '/payouts', payout)),
  );
  for (const answer of made) assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return made[0]?.body.payout.id;
};

/**
 * A card payment with a step at the bank, payouts of each kind, a refund, refusals, and their
 * webhooks. `traceparent` is sent with the call that makes the payment.
 */
export const live = async (service: Service, traceparent: string): Promise<Lived> => {
  const merchant = await makeMerchant(service);
  const receiver = await openReceiver();
  const webhookSecret = await merchant.endpoint(receiver.url);
  const body = {
    amount: 10_005,
    order_id: `O-${privateData['card in a free text']}`,
    method: 'cards',
    description: `for ${privateData.purpose}`,
    customer_id: privateData.customer,
  };
  const created = await merchant.call('POST', '/payments', body, { traceparent });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { payment, payment_url: paymentUrl } = created.body;
  await payByCard(paymentUrl);
  await confirmAtBank(paymentUrl);
  await receiver.until(({ body: received }) => received.event === 'payment.succeeded');
  const payoutId = await payOut(merchant);
  const refund = await merchant.call('POST', `/payments/${payment.id}/refund`, {
    amount: 1_000,
    reason: privateData.name,
  });
  assert.ok(refund.status < 300, JSON.stringify(refund.body));
  await merchant.call('GET', `/payments?cursor=${privateData.card}`);
  await merchant.call('POST', '/payments', { amount: 'much', card: privateData.card });
  await receiver.until(
    ({ body: received }) => received.event === 'payout.succeeded' && received.data.id === payoutId,
  );
  await receiver.until(({ body: received }) => received.event === 'payment.refunded');
  const headers = receiver.received.map((received) => Object.keys(received.headers)).flat();
  await receiver.close();
  const pageToken: string = paymentUrl.split('/pay/')[1];
  return {
    merchant,
    paymentId: payment.id,
    payoutId,
    webhookHeaders: headers,
    secrets: { ...privateData, key: merchant.key, webhookSecret, pageToken },
  };
};
