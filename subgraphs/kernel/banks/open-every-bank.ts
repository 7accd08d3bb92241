/**
 * The banks of this process: the simulator for test mode, and for live mode the acquirers that this
 * installation can reach.
 */
import type { Database } from '../database/orm.ts';
import type { Config } from '../service/config/config.ts';
import { openAccounts } from './bank-accounts.ts';
import { openBanks, type Banks } from './route.ts';
import { openSimulator } from './simulator/simulator.ts';
import { openTBank } from './tbank/open-tbank.ts';
import { connector, openYooKassa } from './yookassa/open-yookassa.ts';
import type { Keys } from '../service/access/keys.ts';

type BankConfig = Pick<Config, 'yookassa' | 'tbank'> & { readonly publicUrl: string };

/**
 * Opens them; `stack` closes their connections. The accounts are the merchants' own, else those of
 * the configuration; `vaultKey` opens the former.
 */
export const openEveryBank = (
  { yookassa, tbank, publicUrl }: BankConfig,
  vaultKey: Keys,
  database: Database,
  stack: AsyncDisposableStack,
): Banks => {
  const { shop: payments, payouts } = yookassa;
  const bank = openYooKassa(
    yookassa,
    openAccounts(database.pool, vaultKey, connector, { payments, payouts }),
    database.pool,
  );
  stack.defer(() => bank.close());
  const second = tbank && openTBank(tbank, publicUrl, database.pool);
  if (second) stack.defer(() => second.close());
  return openBanks(openSimulator(database), database.pool, [bank, ...(second ? [second] : [])]);
};
