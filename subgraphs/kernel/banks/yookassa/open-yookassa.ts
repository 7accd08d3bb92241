/** The connector to YooKassa API v3, behind the port of every acquirer. */
import { defaultCurrency } from '../../rules/money.ts';
import type { AccountPurpose, AccountsOf } from '../bank-accounts.ts';
import type { Runner } from '../../database/statement.ts';
import type { OpenedBank } from '../connector.ts';
import { openBreaker, watchBreaker } from '../breaker.ts';
import { yooKassaCharges } from './charges.ts';
import { openReceiptRefusal } from './cash-register.ts';
import { openClient } from './client.ts';
import type { YooKassaConfig } from './config.ts';
import { openCheckEcho } from './echo.ts';
import { yooKassaHolds } from './holds.ts';
import { yooKassaPayments } from './payments.ts';
import { yooKassaPayouts } from './payouts.ts';
import { yooKassaReceipts } from './receipts.ts';
import { yooKassaRefunds } from './refunds.ts';

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
