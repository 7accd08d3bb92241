/** Facts about whose account at the acquirer serves a merchant. */
import assert from 'node:assert/strict';
import { gatewayAccount } from '../acquirer/start-acquirer.ts';
import { askGraph } from '../support/merchant.ts';
import { stage, type Facts } from './shared-stage.ts';
import { enableLive, makeLiveMerchant, operate, order, confirmed, onPage, routeToYooKassa, untilStatus } from './stage.ts';

const set = (merchantId: string, account: string, secret: string): Promise<any> =>
  operate(
    stage().service,
    `mutation ($m: ID!, $a: String!, $s: String!) {
        bankAccountSet(merchantId: $m, connector: "yookassa", account: $a, secret: $s) { ... on BankAccount { account active } ... on Refused { code message } } }`,
    { m: merchantId, a: account, s: secret },
  );

export const accountFacts: Facts = {
  "a merchant's own account serves it from the next call on; retired, it is still asked about what it has, and its secret is never shown": async () => {
    const { service } = stage();
    const merchant = await makeLiveMerchant(service);
    await enableLive(service, merchant.id);
    await routeToYooKassa(service, merchant);
    await set(merchant.id, gatewayAccount.id, 'not-the-secret');
    const early = await order(merchant, 4_000);
    assert.deepEqual([early.payment.status, early.answer.bank_ref], ['pending', null], 'the bank turns the account away, the platform does not step in');
    await set(merchant.id, gatewayAccount.id, gatewayAccount.secret);
    const { payment, url, answer } = await order(merchant, 4_100);
    assert.equal(answer.bank, 'YooKassa');
    await onPage(url, 'pay');
    await operate(
      service,
      'mutation ($m: ID!) { bankAccountRemove(merchantId: $m, connector: "yookassa") { ... on BankAccount { active } ... on Refused { code } } }',
      {
        m: merchant.id,
      },
    );
    await confirmed(stage(), payment.id, 'pay');
    await untilStatus(merchant, payment.id, 'succeeded');
    assert.equal((await merchant.call('POST', `/payments/${payment.id}/refund`, {})).status, 201);
    const seen = await askGraph(
      service,
      'query ($m: ID!) { bankAccounts(merchantId: $m) { account active } auditLog(merchantId: $m, first: 50) { nodes { action before after } } }',
      { m: merchant.id },
    );
    assert.deepEqual(seen.bankAccounts, [{ account: gatewayAccount.id, active: false }]);
    const actions = seen.auditLog.nodes.map(({ action }: any) => action).filter((action: string) => action.startsWith('bank_account'));
    assert.deepEqual(actions.toSorted(), ['bank_account.remove', 'bank_account.set', 'bank_account.set']);
    assert.doesNotMatch(JSON.stringify(seen), new RegExp(`${gatewayAccount.secret}|not-the-secret`));
  },
};
