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
import type { Acting } from '../platform/database/audit.ts';
import { profileOf } from './rules/merchant.ts';
import { onboardMerchant } from './onboard/onboard-merchant.ts';
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
  const names = { name: 'Demo merchant', shopName: 'Demo shop' };
  const asked = { ...names, profile: profileOf({}), endpoint: null };
  const deps = { database, vaultKey, privateTargets: () => false };
  const made = await onboardMerchant(deps, acting, asked);
  if (isRefusal(made)) throw new Error(made.message);
  const { merchant, shop, apiKey } = made;
  const demo = {
    merchantId: merchant.id,
    shopId: shop.id,
    key: apiKey.secret,
    webhookSecret: unseal(vaultKey, shop.webhookSecretSealed),
  };
  writeFileSync(`${path}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return demo;
};
