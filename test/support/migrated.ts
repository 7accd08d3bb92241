/**
 * A migrated database with the ORM on it, for tests of what stands between the resolvers and the
 * tables.
 */
import { randomBytes } from 'node:crypto';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { migrate, openDatabase, type Database } from '../../subgraphs/platform/database/orm.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { scopes } from '../../subgraphs/platform/access/principal.ts';
import type { Mode } from '../../subgraphs/rules/mode.ts';
import type { Acting } from '../../subgraphs/platform/database/audit.ts';
import { createMerchant, switchLive } from '../../subgraphs/merchants/change-merchant.ts';
import { profileOf } from '../../subgraphs/merchants/rules/merchant.ts';
import { createShop } from '../../subgraphs/merchants/shops/change-shop.ts';
import { migrateQueues } from '../../subgraphs/platform/queue/queue-stores.ts';
import { entities } from '../../subgraphs/entities.ts';
import { startTestDatabase, testPool } from './database.ts';

export interface MigratedDatabase {
  readonly database: Database;
  /**
   * A new merchant with one shop, as its key would be seen; live mode is on for that of a live key.
   */
  merchant(mode?: Mode): Promise<KeyPrincipal>;
  close(): Promise<void>;
}

/**
 * Applies every migration to the database at `url`, those of the queues too; gives its name, from
 * which others are made (`TEST_POSTGRES_TEMPLATE`).
 */
export const migrateTemplate = async (url: string): Promise<string> => {
  const database = await openDatabase({ url, entities, pool: 2 });
  await migrate(database);
  await database.close();
  await migrateQueues(url);
  return new URL(url).pathname.slice(1);
};

/** Starts a database without rows that has every migration. */
export const startMigratedDatabase = async (): Promise<MigratedDatabase> => {
  const test = await startTestDatabase({ migrated: true });
  const opened = await openMigratedDatabase(test.url);
  await migrate(opened.database);
  return {
    ...opened,
    close: async () => {
      await opened.close();
      await test.stop();
    },
  };
};

/** Opens a database that has every migration. */
export const openMigratedDatabase = async (url: string): Promise<MigratedDatabase> => {
  const database = await openDatabase({ url, entities, pool: testPool });
  const vaultKey = randomBytes(32);
  return {
    database,
    merchant: async (mode = 'test') => {
      const acting: Acting = {
        principal: { kind: 'service', name: 'test' },
        requestId: 'test',
        now: () => Temporal.Now.instant(),
      };
      const made = await createMerchant(database, acting, 'Merchant', profileOf({}));
      if (isRefusal(made)) throw new Error(made.message);
      const merchantId = made.id;
      if (mode === 'live')
        await switchLive({ database, bus: { publish: async () => {} } }, acting, merchantId, true);
      const shop = await createShop({ database, vaultKey }, acting, {
        merchantId,
        name: 'Shop',
        terminalName: 'Terminal',
      });
      if (isRefusal(shop)) throw new Error(shop.message);
      return { kind: 'key', keyId: shop.id, merchantId, shopId: shop.id, mode, scopes };
    },
    close: () => database.close(),
  };
};
