/**
 * What each call of the payments subgraph is given: the parts that it works with, the payments that
 * this process remembers, and its caller, who operates on a payment, or makes one or a link: the key
 * of the shop, or a person for the merchant.
 */
import { LRUCache } from 'lru-cache';
import type { Banks } from '../acquirers/route.ts';
import { keyOf, merchantOf } from '../platform/access/access.ts';
import type { PageDeps } from '../platform/access/keys.ts';
import type { KeyPrincipal, OperatorPrincipal, Principal } from '../platform/access/principal.ts';
import type { TestClocks } from '../platform/clock/test-clocks.ts';
import type { Acting } from '../platform/database/audit.ts';
import { ShopEntity } from '../platform/database/entities.ts';
import type { ClaimingCaller } from '../platform/database/idempotency.ts';
import type { CustomerVault } from '../platform/database/kept-keys.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import type { Database } from '../platform/database/orm.ts';
import type { Runner } from '../platform/database/statement.ts';
import type { WakeRelay } from '../platform/events/relay.ts';
import type { TargetSwitch } from '../platform/http/webhook-url.ts';
import type { Policies } from '../platform/policies/policies.ts';
import { isUuid } from '../rules/ids.ts';
import type { Mode } from '../rules/mode.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { PageOpenings } from './checkout/page-openings.ts';
import type { Payment, Refund } from './entities.ts';
import { loadPayments } from './find-payments.ts';
import type { RatedPayment } from './store-payment.ts';

export interface PaymentsDeps extends PageDeps, TargetSwitch {
  readonly database: Database;
  readonly banks: Banks;
  readonly policies: Pick<Policies, 'current'>;
  /** Seals what receipts say of buyers. */
  readonly customers: CustomerVault;
  /** The time of a payment's shop, for calls of the service itself. */
  readonly clocks: Pick<TestClocks, 'timeOf' | 'stands'>;
  /** Notes that a buyer has opened a page. */
  readonly openings: Pick<PageOpenings, 'note'>;
  /** Notifies the relay that the outbox has something. */
  readonly wakeRelay: WakeRelay;
  /**
   * Queries the bank about a payment when it is to be asked, if it is still in progress then. The
   * sweep replaces a lost request.
   */
  readonly askLater: (payment: Pick<Payment, 'id' | 'askAt'>, now: Temporal.Instant) => void;
  /** The payment has an end: it need not be asked about. */
  readonly askNoMore: (paymentId: string) => void;
  /** The same for a refund. */
  readonly sendRefundLater: (
    refund: Pick<Refund, 'merchantId' | 'id' | 'askAt'>,
    now: Temporal.Instant,
  ) => void;
}

/**
 * The same, with the refresh on reads and the payments that this process created or showed last.
 */
export type ReadingDeps = PaymentsDeps & {
  /** Returns a payment after a query to its bank, if one is needed. */
  readonly refresh: (payment: Payment, now: Temporal.Instant) => Promise<Payment>;
  readonly shown: ShownPayments;
};

// The payments that this process created or showed last, so that what the buyer does next needs no
// read of the row: the statement that writes a change proves that the payment, and the rate of its
// fee, are still as they are remembered.

/** Payments of buyers that pay at the same time, and shops with a method. */
const remembered_max = 2_000;

export interface ShownPayments {
  /** The payment as it was last known here, with the rate that was last read for its like. */
  readonly find: (paymentId: string) => RatedPayment | undefined;
  /** Remembers a payment as it is now; `rateBps` null: its rate was not read. */
  readonly keep: (rated: RatedPayment) => void;
}

const rateName = ({ shopId, method }: Payment): string => `${shopId}/${method}`;

/** Opens the memory of one process. */
export const openShownPayments = (): ShownPayments => {
  const payments = new LRUCache<string, RatedPayment>({ max: remembered_max });
  const rates = new LRUCache<string, number>({ max: remembered_max });
  return {
    find: (paymentId) => {
      const known = payments.get(paymentId);
      return (
        known && {
          ...known,
          rateBps: known.rateBps ?? rates.get(rateName(known.payment)) ?? null,
        }
      );
    },
    keep: (rated) => {
      payments.set(rated.payment.id, rated);
      if (rated.rateBps !== null) rates.set(rateName(rated.payment), rated.rateBps);
    },
  };
};

// The caller of an operation on a payment.

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
