/**
 * Creates and changes shops, which are also terminals. Each change writes an audit entry; secrets
 * are shown once and stored encrypted.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type {
  MutationshopCreateArgs,
  MutationshopRenameArgs,
  MutationshopWebhookSecretRotateArgs,
  WebhookSecretRotated,
} from '../../../schema/generated/merchants.ts';
import { ShopEntity, type Shop, MerchantEntity } from '../../platform/database/entities.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { seal, type Keys } from '../../platform/access/keys.ts';
import {
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import { makeWebhookSecret } from '../keys/rules.ts';
import {
  nameMistake,
  overlapEnd,
  overlapMistake,
  shopsPerMerchant_max,
} from '../rules/merchant.ts';
import { shownSecret } from '../webhooks/rules.ts';

export interface ShopDeps extends OnDatabase<'pool' | 'emOf'> {
  readonly vaultKey: Keys;
}

/**
 * Creates a shop with its terminal and its own webhook secret. Refuses with
 * `not_found` without the merchant, and a wrong name or one shop too many with `bad_request`.
 */
export const createShop = async (
  { database, vaultKey }: ShopDeps,
  acting: Acting,
  { merchantId, name, ...input }: MutationshopCreateArgs,
): Promise<Shop | Refusal> => {
  const terminalName = input.terminalName ?? name;
  const mistake = nameMistake('name', name) ?? nameMistake('terminalName', terminalName);
  if (mistake) return refuse('bad_request', mistake);
  const id = randomUUID();
  // The merchant is locked before its shops are counted, so concurrent creations count.
  const create = changing(MerchantEntity, { id: merchantId }, 'merchant', async (_, em) => {
    if ((await em.count(ShopEntity, { merchantId })) >= shopsPerMerchant_max)
      return refuse('bad_request', `a merchant has at most ${shopsPerMerchant_max} shops`);
    return em.create(ShopEntity, {
      merchantId,
      id,
      name,
      terminalId: randomUUID(),
      terminalName,
      webhookSecretSealed: seal(vaultKey, makeWebhookSecret(randomBytes(32))),
      previousWebhookSecretSealed: null,
      previousWebhookUntil: null,
      requireSignature: false,
      requireBoundSignature: false,
      signingSecretSealed: null,
      allowList: [],
      receiptsRequired: false,
      createdAt: acting.now(),
    });
  });
  return changeEntities(database, acting, { action: 'shop.create', merchantId, id }, create);
};

/**
 * Renames a shop, and its terminal when `terminalName` is given; payments keep the names from their
 * creation.
 */
export const renameShop = async (
  { database }: Pick<ShopDeps, 'database'>,
  acting: Acting,
  { merchantId, shopId, name, terminalName = null }: MutationshopRenameArgs,
): Promise<Shop | Refusal> => {
  const mistake =
    nameMistake('name', name) ??
    (terminalName === null ? null : nameMistake('terminalName', terminalName));
  if (mistake) return refuse('bad_request', mistake);
  const action: AuditedAction = { action: 'shop.rename', merchantId, id: shopId };
  const rename = changing(ShopEntity, { merchantId, id: shopId }, 'shop', (shop, em) =>
    em.assign(shop, { name, terminalName: terminalName ?? shop.terminalName }),
  );
  return changeEntities(database, acting, action, rename);
};

/**
 * Creates a new shop-level webhook secret. The old one stops at once, or also signs for
 * `overlapHours` (at most 24). Refuses with `not_found`, or a wrong overlap with `bad_request`.
 */
export const rotateShopSecret = async (
  { database, vaultKey }: ShopDeps,
  acting: Acting,
  { merchantId, shopId, overlapHours }: Required<MutationshopWebhookSecretRotateArgs>,
): Promise<WebhookSecretRotated | Refusal> => {
  const mistake = overlapMistake(overlapHours, 'v2');
  if (mistake) return refuse('bad_request', mistake);
  const action: AuditedAction = {
    action: 'shop.webhook_secret_rotate',
    merchantId,
    id: shopId,
    view: 'rotation',
  };
  const rotate = changing(ShopEntity, { merchantId, id: shopId }, 'shop', (shop, em, notes) => {
    const secret = makeWebhookSecret(randomBytes(32));
    const previousUntil = overlapEnd(acting.now(), overlapHours);
    em.assign(shop, {
      webhookSecretSealed: seal(vaultKey, secret),
      previousWebhookSecretSealed: previousUntil && shop.webhookSecretSealed,
      previousWebhookUntil: previousUntil,
    });
    notes.before = null;
    return { ...shownSecret(secret), previousUntil };
  });
  return changeEntities(database, acting, action, rotate);
};
