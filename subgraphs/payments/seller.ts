/** Who makes a payment or a link: the key of the shop, or a person for a shop of the merchant. */
import type { Mode } from '../rules/mode.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import { isUuid } from '../rules/ids.ts';
import type { KeyPrincipal, Principal } from '../platform/access/principal.ts';
import { keyOf, merchantOf } from '../platform/access/access.ts';
import type { PaymentsDeps } from './parts.ts';
import { shopDemand } from './receipts/part-receipt.ts';

/** The shop and the mode, the key, and whether a receipt is needed. */
export type SellingShop = Pick<
  KeyPrincipal,
  'merchantId' | 'shopId' | 'mode' | 'receiptsRequired'
> &
  Partial<Pick<KeyPrincipal, 'keyId'>>;

/** The seller, and what time it is there. */
interface Selling {
  readonly shop: SellingShop;
  readonly now: () => Temporal.Instant;
}

/** What a person names; a key does not. */
interface Named {
  readonly merchantId?: string | null | undefined;
  readonly shopId?: string | null | undefined;
  readonly mode: Mode;
}

/**
 * The seller of a call. A person acts in the time of the shop. Refuses with `bad_request`,
 * `not_found` and `live_not_enabled`.
 */
export const sellerOf = async (
  { database, clocks, banks }: Pick<PaymentsDeps, 'database' | 'clocks' | 'banks'>,
  principal: Principal,
  named: Named,
  now: () => Temporal.Instant,
): Promise<Selling | Refusal> => {
  if (principal.kind !== 'operator') return { shop: keyOf(principal), now };
  const { shopId, mode } = named;
  if (!shopId) return refuse('bad_request', 'shopId: required');
  const merchantId = merchantOf(principal, named.merchantId);
  const key = { merchantId, shopId, mode };
  const demand = isUuid(shopId) ? await shopDemand(database.pool, key) : null;
  if (!demand) return refuse('not_found', 'there is no such shop');
  const disabled = await banks.liveModeRefusal(key);
  if (disabled) return disabled;
  const at = await clocks.timeOf({ kind: 'shop', ...key });
  return { shop: { ...key, ...demand }, now: () => at };
};
