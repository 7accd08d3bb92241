/**
 * The banks of this process: the simulator for test mode, and for live mode the acquirers that this
 * installation can reach.
 */
import type { Database } from '../platform/database/orm.ts';
import type { CustomerVault } from '../platform/database/kept-keys.ts';
import type { Keys } from '../platform/access/keys.ts';
import type { Bank } from './bank.ts';
import { openCallRecorder } from './calls/record-calls.ts';
import type { Connector } from './connector.ts';
import { openReadTerms } from './receipt-terms.ts';
import { openBanks, type Banks } from './route.ts';
import { openSimulator } from './simulator/simulator.ts';

/**
 * Opens them; `stack` closes their connections. The accounts are the merchants' own, else those of
 * the configuration; `vaultKey` opens the former, `customers` the receipts of orders.
 */
export const openEveryBank = async (
  connectors: readonly Connector[],
  {
    database,
    vaultKey,
    customers,
    publicUrl,
  }: {
    readonly database: Database;
    readonly vaultKey: Keys;
    readonly customers: CustomerVault;
    readonly publicUrl: string;
  },
  stack: AsyncDisposableStack,
): Promise<Banks> => {
  const { pool } = database;
  const banks: Bank[] = [];
  for (const connector of connectors) {
    const bank = await connector.open({ pool, vaultKey, publicUrl });
    stack.defer(() => bank.close());
    banks.push(bank);
  }
  const recorder = openCallRecorder(pool);
  stack.defer(() => recorder.close());
  const readTerms = openReadTerms(pool, customers);
  return openBanks(openSimulator(database), pool, banks, readTerms, recorder);
};
