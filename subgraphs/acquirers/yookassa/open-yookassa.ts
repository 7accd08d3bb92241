/** The connector to YooKassa API v3, behind the port of every acquirer. */
import { defaultCurrency } from '../../rules/money.ts';
import type { AccountsOf } from '../bank-accounts.ts';
import type { AccountPurpose } from '../entities.ts';
import type { Runner } from '../../platform/database/statement.ts';
import type { OpenedBank } from '../connector.ts';
import { openBreaker, watchBreaker } from '../bank-http.ts';
import { openReceiptRefusal, wireReceipt } from './receipt-words.ts';
import { openClient, type YooKassaConfig, findHolder } from './client.ts';
import { openCheckEcho, wireAmount, readPayment } from './wire.ts';
import { yooKassaHolds } from './holds.ts';
import { yooKassaPayments } from './payments.ts';
import { yooKassaPayouts } from './payouts.ts';
import { yooKassaReceipts } from './receipts.ts';
import { yooKassaRefunds } from './refunds.ts';
import type { ChargeAnswer, ChargeOrder, TokenBank } from '../bank.ts';
import {
  isAboutUs,
  metadataOf,
  declinedOrder,
  standing,
  unknown,
  withoutReceipt,
  type PaymentCaller,
  type PaymentCalls,
} from './payment-answers.ts';

/*
 * Charges of saved methods at YooKassa. A method is known to the account alone that saved it. The
 * order under its key is also the question.
 */

const charge = async (calls: PaymentCalls, order: ChargeOrder): Promise<ChargeAnswer> => {
  const refused = order.isFirst
    ? await calls.receiptRefusal(calls.shop, order.receipt, order.now)
    : null;
  if (refused !== null) return withoutReceipt(refused);
  const body = {
    amount: wireAmount(order.amount, order.currency),
    capture: true,
    payment_method_id: order.savedReference,
    metadata: metadataOf(order, 'payment'),
    ...(order.receipt ? { receipt: wireReceipt(order.receipt, order.currency) } : {}),
  };
  const answer = await calls.client.call({
    account: calls.shop,
    path: '/payments',
    post: { key: order.operationId, body },
  });
  // The order is also the query: an account that is rejected now proves nothing about an order that
  // was accepted before.
  if (answer.kind === 'rejected')
    return isAboutUs(answer) && !(order.isFirst && answer.isCertain)
      ? unknown
      : declinedOrder(answer);
  return standing(calls, order, answer.kind === 'answered' ? readPayment(answer.body) : null);
};

/**
 * No account of the merchant has the saved method, so nothing was ordered. No account knows it, or
 * those that may know it reject us: an operator can correct that.
 */
const unheld = (
  { isFirst }: ChargeOrder,
  bankCode: 'no_saved_method' | 'no_account',
): ChargeAnswer =>
  isFirst ? { kind: 'declined', failureCode: 'method_unavailable', bankCode } : unknown;

/**
 * The part of the port that charges saved methods: by the account that saved it, whichever is
 * current.
 */
const yooKassaCharges = (callerOf: (merchantId: string) => Promise<PaymentCaller>): TokenBank => ({
  savable: ['cards', 'sbp', 'tpay'],
  charge: async (order) => {
    const { accounts, ...caller } = await callerOf(order.merchantId);
    const holder = await findHolder(
      { ...caller, accounts },
      `/payment_methods/${order.savedReference}`,
    );
    switch (holder.kind) {
      case 'held':
        return charge({ ...caller, shop: holder.account }, order);
      case 'absent':
        return unheld(order, 'no_saved_method');
      case 'turned_away':
        return unheld(order, 'no_account');
      case 'unknown':
        return unknown;
    }
  },
});

/** The connector's name: in routes, in accounts and before the bank's own codes. */
export const connector = 'yookassa';

/**
 * Opens the connector; makes no call until it is used. Alerts are raised on `pool`; `accountsOf`
 * gives the accounts that serve a merchant.
 */
export const openYooKassa = (
  config: Omit<YooKassaConfig, 'shop' | 'networks'>,
  accountsOf: AccountsOf,
  pool: Runner,
): OpenedBank => {
  const breaker = openBreaker();
  const client = openClient(config, breaker);
  const checkEcho = openCheckEcho(pool);
  const receiptRefusal = openReceiptRefusal(client);
  const stopWatching = watchBreaker(connector, breaker);
  const calling = (purpose: AccountPurpose) => async (merchantId: string) => ({
    client,
    checkEcho,
    receiptRefusal,
    accounts: await accountsOf(merchantId, purpose),
  });
  return {
    connector,
    bankName: 'YooKassa',
    methods: ['sbp', 'cards', 'tpay', 'sberpay'],
    currencies: [defaultCurrency],
    cardsOn: 'our_page',
    hasAccount: async (merchantId, purpose) =>
      (await accountsOf(merchantId, purpose)).current !== null,
    ...yooKassaPayments(calling('payments')),
    ...yooKassaCharges(calling('payments')),
    ...yooKassaRefunds(calling('payments')),
    ...yooKassaHolds(calling('payments')),
    ...yooKassaReceipts(calling('payments')),
    ...yooKassaPayouts(calling('payouts'), { client, gateway: config.payouts }),
    close: async () => {
      stopWatching();
      await client.close();
    },
  };
};
