/**
 * The page on which a shop's customer sees and ends recurring charges. It uses the merchant's
 * verbs, limited to the session's customer, shop and mode.
 */
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import type { Keys } from '../../platform/access/keys.ts';
import { loadTokens } from '../find-recurring.ts';
import type { EndReason } from '../rules/subscription.ts';
import { cancelSubscription } from '../subscriptions/cancel-subscription.ts';
import { SubscriptionEntity, type Subscription } from '../subscriptions/entities.ts';
import { loadSubscriptions } from '../subscriptions/find-subscriptions.ts';
import type { SubscriptionDeps } from '../subscriptions/resolvers.ts';
import { cancelToken } from '../tokens/cancel-token.ts';
import { TokenEntity, type Token } from '../tokens/entities.ts';
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

const ofCustomer = (table: string, names: readonly string[], status: string): string =>
  `select ${columns(names)} from ${table}
    where merchant_id = $1 and shop_id = $2 and mode = $3 and customer_ref = $4 and ${status}
    order by created_at desc, id desc limit ${shown_max}`;

const activeTokens: Statement = {
  name: 'customer.tokens',
  text: ofCustomer('token', propertyNames(TokenEntity), `status = 'active'`),
};

/** Pending ones have no method yet, and their binding has a page of its own. */
const openSubscriptions: Statement = {
  name: 'customer.subscriptions',
  text: ofCustomer(
    'subscription',
    propertyNames(SubscriptionEntity),
    `status in ('active', 'past_due', 'paused')`,
  ),
};

const shopName: Statement = {
  name: 'customer.shop',
  text: 'select name from shop where merchant_id = $1 and id = $2',
};

/** The session of an address; null when there is none, or when it is over. */
const openSession = async (
  { customerSecret, clocks }: CustomerDeps,
  address: string,
): Promise<CustomerSession | null> => {
  const session = sessionOfAddress(customerSecret, address);
  if (!session) return null;
  const { merchantId, shopId, mode, expiresAt } = session;
  const now = await clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
  return Temporal.Instant.compare(now, expiresAt) < 0 ? session : null;
};

/** The page at an address, without what it lists; null when there is none. */
export const findCustomerPage = async (
  deps: CustomerDeps,
  address: string,
): Promise<CustomerPage | null> => {
  const session = await openSession(deps, address);
  if (!session) return null;
  const { merchantId, shopId } = session;
  const [shop] = await run<{ readonly name: string }>(deps.database.pool, shopName, [
    merchantId,
    shopId,
  ]);
  return shop ? { ...session, shopName: shop.name } : null;
};

const whose = ({ merchantId, shopId, mode, customerRef }: CustomerSession): readonly string[] => [
  merchantId,
  shopId,
  mode,
  customerRef,
];

/** The active tokens of a page, newest first. */
export const tokensOf = (runner: Runner, page: CustomerPage): Promise<Token[]> =>
  run<Token>(runner, activeTokens, whose(page));

/** The bound subscriptions of a page that have not ended, newest first. */
export const subscriptionsOf = (runner: Runner, page: CustomerPage): Promise<Subscription[]> =>
  run<Subscription>(runner, openSubscriptions, whose(page));

/** Whether it is the customer's, and bound or ended. */
export const isShown = (
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
  return cancelSubscription(
    { pool, payments: deps.payments },
    session,
    { id, reason, requestId },
    now,
  );
};
