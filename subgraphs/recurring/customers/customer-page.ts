/**
 * The page on which a shop's customer sees and ends recurring charges. It uses the merchant's
 * verbs, limited to the session's customer, shop and mode.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CustomerCharge } from '../../../schema/generated/recurring.ts';
import type { Keys } from '../../platform/access/keys.ts';
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import { ShopEntity } from '../../platform/database/entities.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import type { Payments } from '../ask-payments.ts';
import { loadTokens, loadSubscriptions } from '../find-recurring.ts';
import { type EndReason, agreedAt, periodEnd } from '../rules/subscription.ts';
import { cancelSubscription } from '../subscriptions/stop-subscription.ts';
import {
  SubscriptionChargeEntity,
  SubscriptionEntity,
  type Subscription,
  type SubscriptionCharge,
  TokenEntity,
  type Token,
} from '../entities.ts';
import type { SubscriptionDeps } from '../subscriptions/resolvers.ts';
import { cancelToken } from '../tokens/bind-token.ts';
import { sessionOfAddress, type CustomerPage, type CustomerSession } from './customer-session.ts';

export interface CustomerDeps extends SubscriptionDeps {
  readonly clocks: TestClocks;
  /** Address of the pages, without a slash at the end. */
  readonly publicUrl: string;
  /** Seals the addresses of customers' pages. */
  readonly customerSecret: Keys;
}

/** Of each list the page shows the newest. */
const shown_max = 100;

const newest = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: shown_max } as const;

/** The session of an address; null when there is none, or when it is over. */
const openSession = async (
  { customerSecret, clocks }: CustomerDeps,
  address: string,
): Promise<CustomerSession | null> => {
  const session = sessionOfAddress(customerSecret, address);
  if (!session) return null;
  const now = await clocks.timeOf({ kind: 'shop', ...session });
  return Temporal.Instant.compare(now, session.expiresAt) < 0 ? session : null;
};

/** The page at an address, without what it lists; null when there is none. */
export const findCustomerPage = async (
  deps: CustomerDeps,
  address: string,
): Promise<CustomerPage | null> => {
  const session = await openSession(deps, address);
  if (!session) return null;
  const { merchantId, shopId } = session;
  const shop = await emOn(deps.database.pool).findOne(ShopEntity, { merchantId, id: shopId });
  return shop && { ...session, shopName: shop.name };
};

const whose = ({ merchantId, shopId, mode, customerRef }: CustomerSession) => ({
  merchantId,
  shopId,
  mode,
  customerRef,
});

/** The active tokens of a page, newest first. */
export const tokensOf = (em: EntityManager, page: CustomerPage): Promise<Token[]> =>
  em.find(TokenEntity, { ...whose(page), status: 'active' }, newest);

/**
 * The bound subscriptions of a page that have not ended, newest first. Pending ones have no method
 * yet, and their binding has a page of its own.
 */
export const subscriptionsOf = (em: EntityManager, page: CustomerPage): Promise<Subscription[]> => {
  const status = { $in: ['active', 'past_due', 'paused'] as const };
  return em.find(SubscriptionEntity, { ...whose(page), status }, newest);
};

/** Whether it is the customer's, and bound or ended. */
const isShown = (
  { shopId, mode, customerRef }: CustomerSession,
  row: Token | Subscription | null | undefined,
): boolean =>
  row?.shopId === shopId &&
  row.mode === mode &&
  row.customerRef === customerRef &&
  row.status !== 'pending';

/** Ends a token for its customer; idempotent. `not_found` where the page has none. */
export const endToken = async (
  deps: CustomerDeps,
  address: string,
  id: string,
  requestId: string,
): Promise<Token | Refusal> => {
  const session = await openSession(deps, address);
  const [token] = session
    ? await loadTokens(deps.database.pool, [{ merchantId: session.merchantId, id }])
    : [];
  if (!session || !isShown(session, token)) return refuse('not_found', 'there is no such token');
  const now = await deps.clocks.timeOf({ kind: 'shop', ...session });
  return cancelToken(deps, session, id, { requestId, now });
};

/** Ends a subscription for its customer; idempotent. `not_found` where the page has none. */
export const endSubscription = async (
  deps: CustomerDeps,
  address: string,
  id: string,
  requestId: string,
): Promise<Subscription | Refusal> => {
  const { pool } = deps.database;
  const session = await openSession(deps, address);
  const key = session && { merchantId: session.merchantId, id };
  const [subscription] = key ? await loadSubscriptions(pool, [key]) : [];
  if (!session || !key || !isShown(session, subscription))
    return refuse('not_found', 'there is no such subscription');
  const reason = 'customer_cancelled' satisfies EndReason;
  const now = await deps.clocks.timeOf({ kind: 'subscription', ...key });
  const request = { id, reason, requestId };
  return cancelSubscription(pool, deps.payments, session, request, now);
};

// What a customer reads of one subscription: what was agreed to, what was charged, what is paid.

const charges_max = 50;

/** The charges, with what was refunded of their payments. */
const withRefunds = async (
  payments: Pick<Payments, 'read'>,
  charges: readonly SubscriptionCharge[],
): Promise<CustomerCharge[]> => {
  const ids = charges.flatMap(({ merchantId, paymentId: id }) => (id ? [{ merchantId, id }] : []));
  const read = ids.length === 0 ? [] : await payments.read(ids);
  const refunded = new Map(read.map((one) => [one?.id, one?.amountRefunded ?? 0n]));
  return charges.map((charge) => {
    const { period, amount, currency, status, failureCode, paymentId } = charge;
    const amountRefunded = (paymentId && refunded.get(paymentId)) || 0n;
    const at = charge.settledAt ?? charge.createdAt;
    return { period, amount, currency, status, failureCode, amountRefunded, at };
  });
};

/** The last period of which something stays paid; a trial's verification is always given back. */
const lastPaid = (charges: readonly CustomerCharge[]): number | null =>
  charges.find(
    ({ status, period, amount, amountRefunded }) =>
      status === 'succeeded' && (period === 0 || amountRefunded < amount),
  )?.period ?? null;

const paidUntil = (
  subscription: Subscription,
  charges: readonly CustomerCharge[],
  now: Temporal.Instant,
): Temporal.Instant | null => {
  const period = lastPaid(charges);
  if (period === null || subscription.anchorAt === null) return null;
  const end = periodEnd(subscription, period);
  return Temporal.Instant.compare(now, end) < 0 ? end : null;
};

/** One subscription of a page's customer, also an ended one; null when the page has none such. */
export const findCustomerSubscription = async (
  { database, payments, clocks }: CustomerDeps,
  page: CustomerPage,
  id: string,
) => {
  const { merchantId } = page;
  const key = { merchantId, id };
  const [subscription] = await loadSubscriptions(database.pool, [key]);
  if (!subscription || !isShown(page, subscription)) return null;
  // By the primary key, backwards; one more says whether there are older ones.
  const found = await emOn(database.pool).find(
    SubscriptionChargeEntity,
    { merchantId, subscriptionId: id },
    { orderBy: { period: 'desc', attempt: 'desc' }, limit: charges_max + 1 },
  );
  const charges = await withRefunds(payments, found.slice(0, charges_max));
  const now = await clocks.timeOf({ kind: 'subscription', ...key });
  return {
    subscription,
    agreedAt: agreedAt(subscription),
    paidUntil: paidUntil(subscription, charges, now),
    charges,
    hasOlderCharges: found.length > charges_max,
  };
};
