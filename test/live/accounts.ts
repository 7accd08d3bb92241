/** Facts about whose account at the acquirer serves a merchant. */
import assert from 'node:assert/strict';
import { gatewayAccount } from '../acquirer/start-acquirer.ts';
import { askGraph } from '../support/merchant.ts';
import { harness, type Facts } from './shared-harness.ts';
import {
  atBank,
  cardOf,
  enableLive,
  makeLiveMerchant,
  operate,
  order,
  confirmed,
  onPage,
  routeToYooKassa,
  untilStatus,
  type LiveMerchant,
} from './harness.ts';
import { eventually } from '../support/eventually.ts';

const set = (merchantId: string, account: string, secret: string): Promise<any> =>
  operate(
    harness().service,
    `mutation ($m: ID!, $a: String!, $s: String!) {
        bankAccountSet(merchantId: $m, connector: "yookassa", account: $a, secret: $s) { ... on BankAccount { account active } ... on Refused { code message } } }`,
    { m: merchantId, a: account, s: secret },
  );

const remove = (merchantId: string): Promise<any> =>
  operate(
    harness().service,
    'mutation ($m: ID!) { bankAccountRemove(merchantId: $m, connector: "yookassa") { ... on BankAccount { active } ... on Refused { code } } }',
    { m: merchantId },
  );

/** A merchant with its own account, by which it has saved a card; gives the token's id. */
const savedByOwn = async (): Promise<{
  readonly merchant: LiveMerchant;
  readonly token: string;
}> => {
  const { service } = harness();
  const merchant = await makeLiveMerchant(service);
  await enableLive(service, merchant.id);
  await routeToYooKassa(service, merchant);
  await set(merchant.id, gatewayAccount.id, gatewayAccount.secret);
  const { body } = await merchant.call('POST', '/tokens', { customer_ref: 'c-1' });
  await onPage(body.pay_url, 'pay', { card: cardOf() });
  const token = await eventually(
    async () =>
      (await merchant.call('GET', '/tokens')).body.items.find(
        ({ status }: any) => status === 'active',
      ),
    'the active token',
  );
  return { merchant, token: token.id };
};

export const accountFacts: Facts = {
  'a card that an account saved is charged by it, whichever is in force; where it turns us away the charge is refused at once':
    async () => {
      const { merchant, token } = await savedByOwn();
      await remove(merchant.id);
      const charge = async (amount: number): Promise<any> =>
        (await merchant.call('POST', `/tokens/${token}/charge`, { amount })).body;
      const charged = await untilStatus(merchant, (await charge(5_100)).id, 'succeeded');
      assert.equal(
        (await atBank(harness(), 'payments', charged.id)).recipient.account_id,
        gatewayAccount.id,
      );
      await set(merchant.id, gatewayAccount.id, 'not-the-secret');
      const { id } = await charge(5_200);
      const refused = (await merchant.call('GET', `/payments/${id}`)).body;
      assert.deepEqual(
        [refused.status, refused.metadata.failure_code, refused.metadata.bank_failure_code],
        ['failed', 'method_unavailable', 'yookassa:no_account'],
      );
      const books = await harness().acquirer.books();
      assert.ok(books.payments.every(({ metadata }) => metadata.operation_id !== id));
    },

  "a merchant's own account serves it from the next call on; retired, it is still asked about what it has, and its secret is never shown":
    async () => {
      const { service } = harness();
      const merchant = await makeLiveMerchant(service);
      await enableLive(service, merchant.id);
      await routeToYooKassa(service, merchant);
      await set(merchant.id, gatewayAccount.id, 'not-the-secret');
      const early = await order(merchant, 4_000);
      assert.deepEqual(
        [early.payment.status, early.answer.bank_ref],
        ['pending', null],
        'the bank turns the account away, the platform does not step in',
      );
      await set(merchant.id, gatewayAccount.id, gatewayAccount.secret);
      const { payment, url, answer } = await order(merchant, 4_100);
      assert.equal(answer.bank, 'YooKassa');
      await onPage(url, 'pay');
      await remove(merchant.id);
      await confirmed(harness(), payment.id, 'pay');
      await untilStatus(merchant, payment.id, 'succeeded');
      assert.equal((await merchant.call('POST', `/payments/${payment.id}/refund`, {})).status, 201);
      const seen = await askGraph(
        service,
        'query ($m: ID!) { bankAccounts(merchantId: $m) { account active } auditLog(merchantId: $m, first: 50) { nodes { action before after } } }',
        { m: merchant.id },
      );
      assert.deepEqual(seen.bankAccounts, [{ account: gatewayAccount.id, active: false }]);
      const actions = seen.auditLog.nodes
        .map(({ action }: any) => action)
        .filter((action: string) => action.startsWith('bank_account'));
      assert.deepEqual(actions.toSorted(), [
        'bank_account.remove',
        'bank_account.set',
        'bank_account.set',
      ]);
      assert.doesNotMatch(
        JSON.stringify(seen),
        new RegExp(`${gatewayAccount.secret}|not-the-secret`),
      );
    },
};
