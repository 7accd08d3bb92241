/** The banks of this process: the simulator for test mode, and for live mode the acquirers whose accounts are configured. */
import type { Database } from '../database/orm.ts';
import type { Config } from '../service/config.ts';
import { openBanks, type Banks } from './route.ts';
import { openSimulator } from './simulator.ts';
import { openYooKassa } from './yookassa/open-yookassa.ts';

/** Opens them; `stack` closes their connections. */
export const openEveryBank = ({ yookassa: account }: Pick<Config, 'yookassa'>, database: Database, stack: AsyncDisposableStack): Banks => {
  const yookassa = account && openYooKassa(account, database.pool);
  if (yookassa) stack.defer(() => yookassa.close());
  return openBanks(openSimulator(database), database.pool, yookassa ? [yookassa] : []);
};
