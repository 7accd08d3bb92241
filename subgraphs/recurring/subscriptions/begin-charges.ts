/**
 * Begins due charges of subscriptions and takes up unrequested ones, in rounds; charge-due.ts then
 * requests their payments.
 */
import type pg from 'pg';
import { workBatch } from '../../platform/alerts/dead-letters.ts';
import type { Timeline } from '../../platform/clock/due.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { loadTokens } from '../find-recurring.ts';
import { begun, ended, type EndReason } from '../rules/subscription.ts';
import type { Token, Subscription, SubscriptionCharge } from '../entities.ts';
import { paymentOf } from './ask-charge.ts';
import {
  dueAsks,
  dueSubscriptions,
  storeSubscriptions,
  takeAsks,
  type SubscriptionChange,
} from './store-subscription.ts';

/** When a charge is requested again after an interruption. Repeated requests create one payment. */
const askLease_s = 120;

/** The end of the lease on a charge that is being requested. */
export const leaseFrom = (now: Temporal.Instant): Temporal.Instant =>
  now.add({ seconds: askLease_s });

const beginning = (before: Subscription, now: Temporal.Instant): SubscriptionChange => {
  const { merchantId, id, shopId, mode, amount, currency } = before;
  const { charge, patch } = begun(before);
  const due = {
    merchantId,
    subscriptionId: id,
    ...charge,
    shopId,
    mode,
    kind: 'subscription_charge',
    amount,
    currency,
  } as const;
  const open = {
    status: 'open',
    paymentId: paymentOf(due),
    failureCode: null,
    askAt: leaseFrom(now),
    createdAt: now,
    settledAt: null,
  } as const;
  return { before, patch, charge: { ...due, ...open }, at: now };
};

/** The decision on a due subscription: its charge begins, or nothing is left to charge. */
const dueChange = (
  before: Subscription,
  token: Token | null | undefined,
  now: Temporal.Instant,
): SubscriptionChange =>
  token?.status === 'active'
    ? beginning(before, now)
    : {
        before,
        patch: ended(before, 'charging_ended', now, 'token_cancelled' satisfies EndReason),
        at: now,
      };

type FindDue = (client: pg.PoolClient) => Promise<readonly Subscription[]>;

/** Begins the charges of due subscriptions, at most a page. */
const beginCharges = (
  pool: pg.Pool,
  now: Temporal.Instant,
  find: FindDue,
): Promise<{ readonly charges: readonly SubscriptionCharge[]; readonly begun: number }> =>
  inTransaction(pool, async (client) => {
    const due = await find(client);
    if (due.length === 0) return { charges: [], begun: 0 };
    const tokens = await loadTokens(
      client,
      due.map(({ merchantId, tokenId }) => ({ merchantId, id: tokenId })),
    );
    const changes = due.map((subscription, index) => dueChange(subscription, tokens[index], now));
    const stored = await storeSubscriptions(client, changes);
    if (stored.size < due.length)
      throw new Error(
        `${due.length - stored.size} locked subscriptions were written by another transaction`,
      );
    return {
      charges: changes.flatMap(({ charge }) => (charge ? [charge] : [])),
      begun: due.length,
    };
  });

interface RoundOptions {
  readonly timeline: Timeline;
  readonly limit: number;
  /** Whether each merchant has a share; otherwise the longest due come first. */
  readonly isShared: boolean;
  /** Merchants without a share. */
  readonly except: readonly string[];
}

/**
 * Takes up charges left unrequested by a crash or an outage, and begins the charges of due
 * subscriptions: a page of each. A subscription that makes either fail is set aside.
 */
export const takeRound = async (
  pool: pg.Pool,
  now: Temporal.Instant,
  { timeline, limit, isShared, except }: RoundOptions,
) => {
  const left = await workBatch(pool, {
    task: dueAsks.task,
    limit,
    work: (some) =>
      inTransaction(pool, (client) => takeAsks(client, timeline, now, leaseFrom(now), some)),
    first: () => dueAsks.first(pool, timeline, now),
  });
  const fresh = await workBatch(pool, {
    task: dueSubscriptions.task,
    limit,
    // A failed page is retried in order of age, which finds the failing row.
    work: (some) =>
      beginCharges(pool, now, (client) =>
        isShared && some === limit
          ? dueSubscriptions.dueOfEach(client, now, some, except)
          : dueSubscriptions.due(client, timeline, now, some),
      ),
    first: () => dueSubscriptions.first(pool, timeline, now),
  });
  return {
    charges: [...left.result, ...fresh.result.charges],
    /** Whether more may be due. */
    more: left.result.length > 0 || fresh.result.begun > 0,
    /** Then the merchants share the next one. */
    isFull: fresh.result.begun === limit,
  };
};
