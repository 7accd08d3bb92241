/**
 * The receipt setting of a shop with a cash register. It is cached with the shop's keys: a change
 * applies in every process at once, bus topic `keys`.
 */
import type { Shop } from '../../platform/database/entities.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { changeEntities, type Acting, type AuditedAction } from '../audit.ts';
import type { KeyDeps, ShopKey } from '../keys/api-keys.ts';
import { lockShop } from './change-shop.ts';

/**
 * Sets whether the shop's payments, links, token charges and subscriptions, and its partial
 * captures and refunds, need a receipt. Refuses with `not_found`.
 */
export const requireReceipts = async (
  { database, bus }: KeyDeps,
  acting: Acting,
  { merchantId, shopId }: ShopKey,
  required: boolean,
): Promise<Shop | Refusal> => {
  const action: AuditedAction = {
    action: 'shop.receipts_require',
    merchantId,
    subject: { kind: 'shop', id: shopId },
    view: 'receipts',
  };
  const changed = await changeEntities(database, acting, action, async (em) => {
    const shop = await lockShop(em, { merchantId, shopId });
    return shop
      ? em.assign(shop, { receiptsRequired: required })
      : refuse('not_found', 'there is no such shop');
  });
  if (!isRefusal(changed)) await bus.publish('keys', { merchantId });
  return changed;
};
