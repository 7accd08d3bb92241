/** The connector to YooKassa API v3, behind the port of every acquirer. */
import type { Bank } from '../bank.ts';
import type { Runner } from '../../database/statement.ts';
import { openBreaker } from './breaker.ts';
import { openClient, type YooKassaConfig } from './client.ts';
import { openCheckEcho } from './echo.ts';
import { yooKassaPayments } from './payments.ts';
import { yooKassaPayouts } from './payouts.ts';
import { yooKassaRefunds } from './refunds.ts';

export interface YooKassa extends Bank {
  close(): Promise<void>;
}

/** Opens the connector; nothing is called until it is asked to. Alerts are raised on `pool`. */
export const openYooKassa = (config: YooKassaConfig, pool: Runner): YooKassa => {
  const { shop, payouts } = config;
  const client = openClient(config, openBreaker());
  const checkEcho = openCheckEcho(pool);
  const calls = { client, shop, checkEcho };
  return {
    connector: 'yookassa',
    bankName: 'YooKassa',
    methods: ['sbp', 'cards', 'tpay', 'sberpay'],
    ...yooKassaPayments(calls),
    ...yooKassaRefunds(calls),
    ...yooKassaPayouts(payouts && { client, gateway: payouts, checkEcho }),
    close: () => client.close(),
  };
};
