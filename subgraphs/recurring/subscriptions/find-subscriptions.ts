/**
 * Reads subscriptions and their charges, of the key's mode. They belong to the merchant, whatever
 * the shop of the key.
 */
import { runSharded, shardedByKey } from '../../platform/database/sharding.ts';
import { type ListedPage, openList } from '../../platform/database/lists.ts';
import { loadByKey } from '../../platform/database/batch-calls.ts';
import { readPage, type Page, type PageQuery } from '../../platform/database/keyset.ts';
import { columns, propertyNames, type Runner } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import type { Refusal } from '../../rules/refusal.ts';
import { listOfModes, recurringPage_max, wholeList } from '../list-pages.ts';
import { datesFrom } from '../rules/schedule.ts';
import { scheduleOf, subscriptionStatuses } from '../rules/subscription.ts';
import {
  SubscriptionChargeEntity,
  SubscriptionEntity,
  type Subscription,
  type SubscriptionCharge,
} from './entities.ts';

export const subscriptionNames = propertyNames(SubscriptionEntity);
export const chargeNames = propertyNames(SubscriptionChargeEntity);

export const loadSubscriptions = loadByKey<Subscription>(
  'subscription',
  columns(subscriptionNames),
);

const subscriptionsOf = listOfModes('subscriptions', 'subscription', columns(subscriptionNames));

/**
 * A page of the merchant's subscriptions in these modes, newest first; `bad_request` for a wrong
 * size or cursor.
 */
const pageOfSubscriptions = (
  runner: Runner,
  merchantId: string,
  modes: readonly Mode[],
  page: PageQuery,
): Promise<Page<Subscription> | Refusal> =>
  readPage(runner, subscriptionsOf, [merchantId, modes], page, recurringPage_max);

export type SubscriptionPage = ListedPage<Subscription>;

/** Subscriptions as lists show them: the merchant's in pages, or filtered. */
export const listSubscriptions = openList<Subscription>(
  {
    table: { name: 'subscription', filters: { status: subscriptionStatuses } },
    columns: columns(subscriptionNames),
    by: ['mode'],
  },
  (runner, { merchantId, modes }, page) => pageOfSubscriptions(runner, merchantId, modes, page),
);

/**
 * All of the merchant's subscriptions in these modes, newest first; `bad_request` when there are
 * more than a list may hold.
 */
export const findSubscriptions = (
  runner: Runner,
  merchantId: string,
  modes: readonly Mode[],
): Promise<Subscription[] | Refusal> =>
  wholeList('billingSubscriptions', (page) => pageOfSubscriptions(runner, merchantId, modes, page));

const chargesOf = shardedByKey(
  'subscription_charge.of_subscriptions',
  'subscription_id',
  (ofKeys) => `select ${columns(chargeNames)} from subscription_charge
    where ${ofKeys} order by created_at, period, attempt`,
);

/** The charges of each subscription, oldest first, in the order of the subscriptions. */
export const findCharges = async (
  runner: Runner,
  subscriptions: readonly Pick<Subscription, 'merchantId' | 'id'>[],
): Promise<SubscriptionCharge[][]> => {
  type Key = Pick<Subscription, 'merchantId' | 'id'>;
  const rows = await runSharded<SubscriptionCharge, Key>(
    runner,
    chargesOf,
    subscriptions,
    (own) => [own.map(({ id }) => id)],
  );
  const found = Map.groupBy(rows, ({ subscriptionId }) => subscriptionId);
  return subscriptions.map(({ id }) => found.get(id) ?? []);
};

/** The next dates of an active or past due subscription; none for others. */
export const upcomingDates = (subscription: Subscription): readonly Temporal.Instant[] =>
  subscription.status === 'active' || subscription.status === 'past_due'
    ? datesFrom(scheduleOf(subscription), subscription.periods)
    : [];
