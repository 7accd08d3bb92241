/**
 * The connector to T-Bank's internet acquiring (EACQ), behind the port of every acquirer. It has no
 * payouts: its payouts are a product and an API of their own.
 */
import { defaultCurrency } from '../../rules/money.ts';
import type { Runner } from '../../platform/database/statement.ts';
import type { OpenedBank } from '../connector.ts';
import { openBreaker, watchBreaker } from '../bank-http.ts';
import { openCheckEcho } from '../check-echo.ts';
import { tbankCharges } from './charges.ts';
import { openClient, type TBankConfig } from './client.ts';
import { tbankHolds } from './holds.ts';
import { unknown } from './orders.ts';
import { tbankPayments } from './payments.ts';
import { tbankReceipts } from './receipts.ts';
import { tbankRefunds } from './refunds.ts';

/** The connector's name: in routes and before the bank's own codes. */
const connector = 'tbank';

/**
 * Opens the connector; makes no call until it is used. `publicUrl` is where the bank reaches us;
 * alerts are raised on `pool`.
 */
export const openTBank = (config: TBankConfig, publicUrl: string, pool: Runner): OpenedBank => {
  const bankName = 'T-Bank';
  const breaker = openBreaker();
  const client = openClient(config, breaker);
  const stopWatching = watchBreaker(connector, breaker);
  const calls = {
    client,
    pool,
    checkEcho: openCheckEcho(pool, bankName),
    register: config.register,
    hold_d: config.hold_d,
    callbackUrl: (merchantId: string) => `${publicUrl}/callbacks/tbank/${merchantId}`,
  };
  return {
    connector,
    bankName,
    methods: ['sbp', 'cards', 'tpay'],
    currencies: [defaultCurrency],
    cardsOn: 'bank_page',
    ...tbankPayments(calls),
    ...tbankCharges(calls),
    ...tbankRefunds(calls),
    ...tbankHolds(calls),
    ...tbankReceipts(calls, config.register),
    payoutWays: [],
    pay: async () => unknown,
    askPayout: async () => unknown,
    close: async () => {
      stopWatching();
      await client.close();
    },
  };
};
