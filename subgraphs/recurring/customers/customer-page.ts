/**
 * The page on which a shop's customer sees and ends recurring charges. It uses the merchant's
 * verbs, limited to the session's customer, shop and mode.
 */
import type { TestClocks } from '../../kernel/clock/test-clocks.ts';
import { columns, propertyNames, run, type Statement } from '../../kernel/database/statement.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Keys } from '../../kernel/service/access/keys.ts';
import { loadTokens } from '../find-recurring.ts';
import type { EndReason } from '../rules/subscription.ts';
import { cancelSubscription } from '../subscriptions/cancel-subscription.ts';
import { SubscriptionEntity, type Subscription } from '../subscriptions/entities.ts';
import { loadSubscriptions } from '../subscriptions/find-subscriptions.ts';
import type { SubscriptionParts } from '../subscriptions/resolvers.ts';
import { cancelToken } from '../tokens/cancel-token.ts';
import { TokenEntity, type Token } from '../tokens/entities.ts';
import { sessionOfAddress, type CustomerSession } from './session.ts';

export interface CustomerParts extends SubscriptionParts {
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

export interface CustomerPage extends CustomerSession {
  readonly shopName: string;
  readonly tokens: Token[];
  readonly subscriptions: Subscription[];
}

/** The session of an address; null when there is none, or when it is over. */
const openSession = async (
  { customerSecret, clocks }: CustomerParts,
  address: string,
): Promise<CustomerSession | null> => {
  const session = sessionOfAddress(customerSecret, address);
  if (!session) return null;
  const { merchantId, shopId, mode, expiresAt } = session;
  const now = await clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
  return Temporal.Instant.compare(now, expiresAt) < 0 ? session : null;
};

/** What the page at an address shows; null when there is none. */
export const findCustomerPage = async (
  parts: CustomerParts,
  address: string,
): Promise<CustomerPage | null> => {
  const session = await openSession(parts, address);
  if (!session) return null;
  const { pool } = parts.database;
  const { merchantId, shopId, mode, customerRef } = session;
  const [shop] = await run<{ readonly name: string }>(pool, shopName, [merchantId, shopId]);
  if (!shop) return null;
  const whose = [merchantId, shopId, mode, customerRef];
  const tokens = await run<Token>(pool, activeTokens, whose);
  const subscriptions = await run<Subscription>(pool, openSubscriptions, whose);
  return { ...session, shopName: shop.name, tokens, subscriptions };
};

/** Whether the page shows it, or showed it before it was ended. */
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
  parts: CustomerParts,
  address: string,
  id: string,
  requestId: string,
): Promise<Token | Refused> => {
  const session = await openSession(parts, address);
  const [token] = session
    ? await loadTokens(parts.database.pool, [{ merchantId: session.merchantId, id }])
    : [];
  if (!session || !isShown(session, token)) return refused('not_found', 'there is no such token');
  const now = await parts.clocks.timeOf({ kind: 'shop', ...session });
  return cancelToken(parts, session, id, { requestId, now });
};

/** Ends a subscription for its customer; idempotent. `not_found` where the page has none. */
export const endSubscription = async (
  parts: CustomerParts,
  address: string,
  id: string,
  requestId: string,
): Promise<Subscription | Refused> => {
  const { pool } = parts.database;
  const session = await openSession(parts, address);
  const key = session && { merchantId: session.merchantId, id };
  const [subscription] = key ? await loadSubscriptions(pool, [key]) : [];
  if (!session || !key || !isShown(session, subscription))
    return refused('not_found', 'there is no such subscription');
  const reason = 'customer_cancelled' satisfies EndReason;
  const now = await parts.clocks.timeOf({ kind: 'subscription', ...key });
  return cancelSubscription(
    { pool, payments: parts.payments },
    session,
    { id, reason, requestId },
    now,
  );
};
