/**
 * Who operates on a payment, or makes one or a link: the key of the shop, or a person for the
 * merchant.
 */
import type { Acting } from '../platform/database/audit.ts';
import type { ClaimingCaller } from '../platform/database/idempotency.ts';
import { ShopEntity } from '../platform/database/entities.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import type { Runner } from '../platform/database/statement.ts';
import { isUuid } from '../rules/ids.ts';
import type { Mode } from '../rules/mode.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { KeyPrincipal, OperatorPrincipal, Principal } from '../platform/access/principal.ts';
import { keyOf, merchantOf } from '../platform/access/access.ts';
import type { Payment } from './entities.ts';
import { loadPayments } from './find-payments.ts';
import type { PaymentsDeps } from './parts.ts';

/** A person, in the shop and the mode of the payment. */
export interface PersonCaller extends ClaimingCaller {
  readonly kind: 'person';
  readonly principal: OperatorPrincipal;
}

export type PaymentCaller = KeyPrincipal | PersonCaller;

/** The caller as the audit log has it. */
export const actingOf = (
  caller: PaymentCaller,
  requestId: string,
  now: Temporal.Instant,
): Acting => ({
  principal: caller.kind === 'person' ? caller.principal : caller,
  requestId,
  now: () => now,
});

export const isOfCaller = (
  { shopId, mode }: Pick<Payment, 'shopId' | 'mode'>,
  caller: ClaimingCaller,
): boolean => shopId === caller.shopId && mode === caller.mode;

/** The payment, as its caller names it. */
interface Named {
  readonly id: string;
  readonly merchantId?: string | null | undefined;
}

/** The caller, and what time it is for them. */
interface Calling {
  readonly caller: PaymentCaller;
  readonly now: Temporal.Instant;
}

/**
 * The caller of an operation on a payment. A person acts in the shop, mode and time of the payment,
 * and must name the merchant. Refuses with `bad_request` and `not_found`.
 */
export const callerOf = async (
  { database, clocks }: Pick<PaymentsDeps, 'database' | 'clocks'>,
  principal: Principal,
  { id, merchantId: named }: Named,
  now: () => Temporal.Instant,
): Promise<Calling | Refusal> => {
  if (principal.kind !== 'operator') {
    const caller = keyOf(principal);
    return named && named !== caller.merchantId
      ? refuse('not_found', 'there is no such payment')
      : { caller, now: now() };
  }
  const merchantId = principal.merchantId ?? named;
  if (!merchantId) return refuse('bad_request', 'merchantId: required');
  const isTheirs = !named || named === merchantId;
  const [payment] = isTheirs ? await loadPayments(database.pool, [{ merchantId, id }]) : [];
  if (!payment) return refuse('not_found', 'there is no such payment');
  const { shopId, mode } = payment;
  return {
    caller: { kind: 'person', principal, merchantId, shopId, mode },
    now: mode === 'test' ? await clocks.timeOf({ kind: 'payment', merchantId, id }) : now(),
  };
};

// Who makes a payment or a link.

/** What a shop demands; null without the shop. */
export const shopDemand = async (
  runner: Runner,
  { merchantId, shopId }: Pick<PaymentCaller, 'merchantId' | 'shopId'>,
): Promise<{ readonly receiptsRequired?: true } | null> => {
  const only = { fields: ['receiptsRequired'] } as const;
  const shop = await emOn(runner).findOne(ShopEntity, { merchantId, id: shopId }, only);
  return shop && (shop.receiptsRequired ? { receiptsRequired: true } : {});
};

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
interface NamedShop {
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
  named: NamedShop,
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
