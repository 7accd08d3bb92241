/**
 * The demo merchant of an embedded installation: a shop and a test key, so that a first payment
 * needs no set-up. Keys are stored hashed, so this test key is stored in plain text with the local
 * data.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Database } from '../platform/database/orm.ts';
import { isRefusal } from '../rules/refusal.ts';
import { unseal, type Keys } from '../platform/access/keys.ts';
import { issueApiKey } from './keys/api-keys.ts';
import type { Acting } from '../platform/database/audit.ts';
import { createMerchant } from './change-merchant.ts';
import { profileOf } from './rules/merchant.ts';
import { createShop } from './shops/change-shop.ts';
import { findKeyHolder } from './find-merchants.ts';
import { digestOf } from './keys/rules.ts';

export interface DemoMerchant {
  readonly merchantId: string;
  readonly shopId: string;
  /** `sk_test_...`, with every scope. */
  readonly key: string;
  /** `whs_...`: signs webhooks to a payment's own webhook_url. */
  readonly webhookSecret: string;
}

const textOrNone = v.fallback(v.string(), '');
const keptMerchant = v.object({
  merchantId: textOrNone,
  shopId: textOrNone,
  key: textOrNone,
  webhookSecret: textOrNone,
});

const read = (path: string): DemoMerchant | null => {
  if (!existsSync(path)) return null;
  return v.parse(keptMerchant, JSON.parse(readFileSync(path, 'utf8')));
};

/**
 * The demo merchant of this data directory. It is created when it is missing, or its key is not in
 * the database.
 */
export const ensureDemoMerchant = async (
  database: Database,
  vaultKey: Keys,
  dataDir: string,
  now: Temporal.Instant,
): Promise<DemoMerchant> => {
  const path = join(dataDir, 'demo-merchant.json');
  const known = read(path);
  if (known && (await findKeyHolder(database.pool, digestOf(known.key)))) return known;
  const acting: Acting = {
    principal: { kind: 'service', name: 'first-start' },
    requestId: 'first-start',
    now: () => now,
  };
  const merchant = await createMerchant(database, acting, 'Demo merchant', profileOf({}));
  if (isRefusal(merchant)) throw new Error(merchant.message);
  const shop = await createShop({ database, vaultKey }, acting, {
    merchantId: merchant.id,
    name: 'Demo shop',
    terminalName: null,
  });
  if (isRefusal(shop)) throw new Error(shop.message);
  const key = { merchantId: merchant.id, shopId: shop.id, mode: 'test' } as const;
  const terms = { name: '', scopes: null, expiresAt: null };
  const made = await issueApiKey({ database }, acting, { ...key, ...terms });
  if (isRefusal(made)) throw new Error(made.message);
  const demo = {
    merchantId: merchant.id,
    shopId: shop.id,
    key: made.secret,
    webhookSecret: unseal(vaultKey, shop.webhookSecretSealed),
  };
  writeFileSync(`${path}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return demo;
};
