/** What operators and cabinet users set up: merchants, shops, webhook endpoints. Secrets are shown once and kept encrypted. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ShopEntity, type Shop } from '../kernel/database/entities.ts';
import { isUuid } from '../kernel/database/load-by-key.ts';
import type { WebhookEvent } from '../kernel/rules/event.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import { seal } from '../kernel/service/vault.ts';
import type { ShopKey } from './api-keys.ts';
import { MerchantEntity, WebhookEndpointEntity, type Merchant, type WebhookEndpoint } from './entities.ts';
import { makeWebhookSecret } from './rules/api-key.ts';

/** What a cabinet action works with. */
export interface Cabinet {
  readonly em: EntityManager;
  readonly vaultKey: Buffer;
  readonly now: Temporal.Instant;
}

/** Creates a merchant. Live mode is off until an operator turns it on. */
export const createMerchant = async ({ em, now }: Cabinet, name: string): Promise<Merchant> => {
  const merchant = { id: randomUUID(), name, liveEnabled: false, ratePerSecond: null, rateBurst: null, createdAt: now };
  await em.insert(MerchantEntity, merchant);
  return merchant;
};

/** Creates a shop with its terminal and its own webhook secret (decision D-71); refuses with `not_found` without the merchant. */
export const createShop = async (
  { em, vaultKey, now }: Cabinet,
  input: { readonly merchantId: string; readonly name: string; readonly terminalName?: string | null | undefined },
): Promise<Shop | Refused> => {
  const { merchantId, name } = input;
  const merchant = isUuid(merchantId) && (await em.findOne(MerchantEntity, { id: merchantId }));
  if (!merchant) return refused('not_found', 'there is no such merchant');
  const shop = {
    merchantId,
    id: randomUUID(),
    name,
    terminalId: randomUUID(),
    terminalName: input.terminalName ?? name,
    webhookSecretSealed: seal(vaultKey, makeWebhookSecret(randomBytes(32))),
    previousWebhookSecretSealed: null,
    previousWebhookUntil: null,
    requireSignature: false,
    signingSecretSealed: null,
    allowList: [],
    createdAt: now,
  };
  await em.insert(ShopEntity, shop);
  return shop;
};

const shopOf = async ({ em }: Cabinet, { merchantId, shopId }: ShopKey): Promise<object | Refused> => {
  const shop = isUuid(merchantId) && isUuid(shopId) && (await em.findOne(ShopEntity, { merchantId, id: shopId }));
  return shop || refused('not_found', 'there is no such shop');
};

/** Adds a webhook endpoint to a shop; its secret is in the answer and nowhere else in clear. `url` has been checked. Refuses with `not_found`. */
export const createWebhookEndpoint = async (
  cabinet: Cabinet,
  input: ShopKey & { readonly url: string; readonly events: readonly WebhookEvent[] },
): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string } | Refused> => {
  const shop = await shopOf(cabinet, input);
  if (isRefused(shop)) return shop;
  const secret = makeWebhookSecret(randomBytes(32));
  const { merchantId, shopId, url, events } = input;
  const endpoint = {
    merchantId,
    id: randomUUID(),
    shopId,
    url,
    events: [...events],
    secretSealed: seal(cabinet.vaultKey, secret),
    previousSecretSealed: null,
    previousUntil: null,
    signature: 'v2' as const,
    active: true,
    createdAt: cabinet.now,
  };
  await cabinet.em.insert(WebhookEndpointEntity, endpoint);
  return { endpoint, secret };
};
