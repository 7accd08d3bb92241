/**
 * The page on which a shop's customer sees and ends recurring charges. It uses the merchant's
 * verbs, limited to the session's customer, shop and mode.
 */
import {
  nullable,
  number,
  parseJson,
  picklist,
  pipe,
  safeParse,
  strictTuple,
  string,
} from 'valibot';
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import { columns, propertyNames, run, type Statement } from '../../platform/database/statement.ts';
import { refuse, type Refusal, refuseMistakes } from '../../rules/refusal.ts';
import type { Keys } from '../../platform/access/keys.ts';
import { loadTokens } from '../find-recurring.ts';
import type { EndReason } from '../rules/subscription.ts';
import { cancelSubscription } from '../subscriptions/cancel-subscription.ts';
import { SubscriptionEntity, type Subscription } from '../subscriptions/entities.ts';
import { loadSubscriptions } from '../subscriptions/find-subscriptions.ts';
import type { SubscriptionDeps } from '../subscriptions/resolvers.ts';
import { cancelToken } from '../tokens/cancel-token.ts';
import { TokenEntity, type Token } from '../tokens/entities.ts';
import { modes, type Mode } from '../../rules/mode.ts';
import { textMistake } from '../../rules/text-mistake.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import { seal, unseal } from '../../platform/access/vault.ts';
import { customerRef_max_chars, returnUrlMistake } from '../rules/token.ts';

/*
 * The address of a customer's page: the customer and the expiry, sealed, so it cannot be guessed or
 * read and needs no table. It grants access like a session: anyone with the address sees the page.
 */

const sessionTtl_default_min = 30;
const sessionTtl_max_min = 1_440;

/** One customer of one shop and mode. */
interface CustomerSession {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly customerRef: string;
  /** Where the page leads back to; null: nowhere. */
  readonly returnUrl: string | null;
  /** By the shop's clock. */
  readonly expiresAt: Temporal.Instant;
}

interface SessionInput {
  readonly customerRef: string;
  readonly returnUrl?: string | null | undefined;
  readonly ttlMinutes?: number | null | undefined;
}

/** A session of the key's shop, from `now` on; `bad_request` that names the field. */
export const newSession = (
  { merchantId, shopId, mode }: KeyPrincipal,
  { customerRef, returnUrl, ttlMinutes }: SessionInput,
  now: Temporal.Instant,
): CustomerSession | Refusal => {
  const minutes = ttlMinutes ?? sessionTtl_default_min;
  const wrong = refuseMistakes([
    textMistake('customer_ref', customerRef, 1, customerRef_max_chars),
    returnUrlMistake(returnUrl),
    minutes < 1 || minutes > sessionTtl_max_min
      ? `ttl_minutes: expected an integer from 1 to ${sessionTtl_max_min}, got ${minutes}`
      : null,
  ]);
  if (wrong) return wrong;
  const expiresAt = now.add({ minutes });
  return { merchantId, shopId, mode, customerRef, returnUrl: returnUrl ?? null, expiresAt };
};

/** What is sealed: merchant, shop, mode, customer, the way back, the end in milliseconds. */
const sealedFields = pipe(
  string(),
  parseJson(),
  strictTuple([string(), string(), picklist(modes), string(), nullable(string()), number()]),
);

/** The last part of a session's address. Two of the same session differ. */
export const addressOfSession = (keys: Keys, session: CustomerSession): string => {
  const { merchantId, shopId, mode, customerRef, returnUrl, expiresAt } = session;
  const end_ms = expiresAt.epochMilliseconds;
  return seal(keys, JSON.stringify([merchantId, shopId, mode, customerRef, returnUrl, end_ms]));
};

const unsealed = (keys: Keys, address: string): string | null => {
  try {
    return unseal(keys, address);
  } catch {
    // Any error means that it is not our address.
    return null;
  }
};

/** The session of an address, which may be over; null when the address is not ours. */
const sessionOfAddress = (keys: Keys, address: string): CustomerSession | null => {
  // Base64 has several encodings of a text; only one is ours.
  const [, , text = ''] = address.split('.');
  if (Buffer.from(text, 'base64url').toString('base64url') !== text) return null;
  const { success, output } = safeParse(sealedFields, unsealed(keys, address));
  if (!success) return null;
  const [merchantId, shopId, mode, customerRef, returnUrl, end_ms] = output;
  const expiresAt = Temporal.Instant.fromEpochMilliseconds(end_ms);
  return { merchantId, shopId, mode, customerRef, returnUrl, expiresAt };
};

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

export interface CustomerPage extends CustomerSession {
  readonly shopName: string;
  readonly tokens: Token[];
  readonly subscriptions: Subscription[];
}

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

/** What the page at an address shows; null when there is none. */
export const findCustomerPage = async (
  deps: CustomerDeps,
  address: string,
): Promise<CustomerPage | null> => {
  const session = await openSession(deps, address);
  if (!session) return null;
  const { pool } = deps.database;
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
