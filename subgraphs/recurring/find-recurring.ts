/** Reads tokens of the key's mode. Tokens belong to the merchant, whatever the shop of the key. */
import { loadByKey } from '../platform/database/batch-calls.ts';
import type { Principal } from '../platform/access/principal.ts';
import type { Page, Position } from '../platform/database/keyset.ts';
import { openList, type ListedPage, type ListRequest } from '../platform/database/lists.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import { eachMerchant } from '../platform/database/sql-file.ts';
import { columns, propertyNames, type Runner } from '../platform/database/statement.ts';
import { type Refusal, isRefusal, refuse } from '../rules/refusal.ts';
import { datesFrom } from './rules/schedule.ts';
import { scheduleOf, subscriptionStatuses } from './rules/subscription.ts';
import { tokenStatuses } from './rules/token.ts';
import {
  SubscriptionChargeEntity,
  SubscriptionEntity,
  type Subscription,
  type SubscriptionCharge,
  TokenEntity,
  type Token,
} from './entities.ts';

const tokenColumns = columns(propertyNames(TokenEntity));

export const loadTokens = loadByKey<Token>('token', tokenColumns);

// The merchant's lists of tokens and subscriptions, in pages by keyset, or as a whole while they
// are short.

/** Rows of a page at most. The REST API reads its whole lists in such pages. */
export const recurringPage_max = 500;
const wholeList_max = 10_000;

/**
 * All rows of a list, page by page; `bad_request`, naming the field to use instead, when there are
 * too many for one answer.
 */
const wholeList =
  <Row extends Position>(field: string, list: ReturnType<typeof openList<Row>>) =>
  async (runner: Runner, principal: Principal, request: ListRequest): Promise<Row[] | Refusal> => {
    const rows: Row[] = [];
    let after: string | null = null;
    do {
      const size = { first: recurringPage_max, page_max: recurringPage_max };
      const page: Page<Row> | Refusal = await list(runner, principal, {
        ...request,
        ...size,
        after,
      });
      if (isRefusal(page)) return page;
      rows.push(...page.nodes);
      after = page.pageInfo.endCursor;
      if (after !== null && rows.length >= wholeList_max) {
        return refuse(
          'bad_request',
          `${field}: there are more than ${wholeList_max}; use ${field}Connection`,
        );
      }
    } while (after !== null);
    return rows;
  };

export const listTokens = openList<Token>({
  table: { name: 'token', filters: { status: tokenStatuses } },
  columns: tokenColumns,
  by: ['mode'],
});

/** All of the merchant's tokens, newest first; `bad_request` when a list cannot hold them. */
export const findTokens = wholeList('tokens', listTokens);

// Reads subscriptions and their charges, of the key's mode. They belong to the merchant, whatever
// the shop of the key.

export const subscriptionNames = propertyNames(SubscriptionEntity);
export const chargeNames = propertyNames(SubscriptionChargeEntity);

export const loadSubscriptions = loadByKey<Subscription>(
  'subscription',
  columns(subscriptionNames),
);

export type SubscriptionPage = ListedPage<Subscription>;

/** Subscriptions as lists show them: the merchant's in pages, or filtered. */
export const listSubscriptions = openList<Subscription>({
  table: { name: 'subscription', filters: { status: subscriptionStatuses } },
  columns: columns(subscriptionNames),
  by: ['mode'],
});

/** All of the merchant's subscriptions, newest first; `bad_request` as for tokens. */
export const findSubscriptions = wholeList('billingSubscriptions', listSubscriptions);

/** The charges of each subscription, oldest first, in the order of the subscriptions. */
export const findCharges = async (
  runner: Runner,
  subscriptions: readonly Pick<Subscription, 'merchantId' | 'id'>[],
): Promise<SubscriptionCharge[][]> => {
  const rows = await eachMerchant(subscriptions, (own, merchantId) => {
    const these = { merchantId, subscriptionId: { $in: own.map(({ id }) => id) } };
    const orderBy = { createdAt: 'asc', period: 'asc', attempt: 'asc' } as const;
    return emOn(runner).find(SubscriptionChargeEntity, these, { orderBy });
  });
  const found = Map.groupBy(rows, ({ subscriptionId }) => subscriptionId);
  return subscriptions.map(({ id }) => found.get(id) ?? []);
};

/** The next dates of an active or past due subscription; none for others. */
export const upcomingDates = (subscription: Subscription): readonly Temporal.Instant[] =>
  subscription.status === 'active' || subscription.status === 'past_due'
    ? datesFrom(scheduleOf(subscription), subscription.periods)
    : [];
