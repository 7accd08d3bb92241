/** Resolvers of subscriptions: from GraphQL to a verb, and back. */
import type {
  BillingSubscriptionResolvers,
  MutationResolvers,
  QueryResolvers,
  SubscriptionChargeResolvers,
  SubscriptionTermsResolvers,
} from '../../../schema/generated/recurring.ts';
import type pg from 'pg';
import { mayReadOfMode, type EntityReference } from '../../platform/graph/entities.ts';
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import { isUuid } from '../../rules/ids.ts';
import type { Policies } from '../../platform/policies/policies.ts';
import { modes } from '../../rules/mode.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import type { Acting } from '../../platform/database/audit.ts';
import { exactly } from '../../platform/database/lists.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import type { Principal } from '../../platform/access/principal.ts';
import { keyOf, merchantOf, orThrow } from '../../platform/access/access.ts';
import type { PageDeps } from '../../platform/access/keys.ts';
import type { TokenDeps } from '../tokens/bind-token.ts';
import { payUrlOf } from '../tokens/resolvers.ts';
import { cancellingCaller, recordCancellation } from '../caller.ts';
import { cancelSubscription, pauseSubscription, resumeSubscription } from './stop-subscription.ts';
import type { Token, Subscription, SubscriptionCharge } from '../entities.ts';
import {
  loadTokens,
  findCharges,
  findSubscriptions,
  loadSubscriptions,
  listSubscriptions,
  recurringPage_max,
  upcomingDates,
} from '../find-recurring.ts';
import { startSubscription } from './start-subscription.ts';

export interface SubscriptionDeps extends TokenDeps, PageDeps {
  readonly policies: Pick<Policies, 'current'>;
  readonly clocks: TestClocks;
}

/** Fields of a subscription that are other rows. */
export const subscriptionFields = (deps: SubscriptionDeps): BillingSubscriptionResolvers => {
  const { pool } = deps.database;
  const tokenOf = perCall<Subscription, Token>(async (subscriptions) => {
    const tokens = await loadTokens(
      pool,
      subscriptions.map(({ merchantId, tokenId }) => ({ merchantId, id: tokenId })),
    );
    return tokens.map((token, index) => {
      if (!token) throw new Error(`subscription ${subscriptions[index]?.id} has no token`);
      return token;
    });
  });
  const chargesOf = perCall<Subscription, SubscriptionCharge[]>((subscriptions) =>
    findCharges(pool, subscriptions),
  );
  return {
    shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
    token: (subscription, _, context) => tokenOf(context).load(subscription),
    payUrl: async (subscription, _, context) =>
      subscription.status === 'pending'
        ? payUrlOf(deps, await tokenOf(context).load(subscription))
        : null,
    charges: (subscription, _, context) => chargesOf(context).load(subscription),
    metadata: ({ metadata }) => metadata ?? {},
    retryAt: ({ status, dueAt }) => (status === 'past_due' ? dueAt : null),
    upcoming: (subscription) => [...upcomingDates(subscription)],
  };
};

/** The terms of a subscription: its first period begins with the schedule. */
export const subscriptionTermsFields: SubscriptionTermsResolvers = {
  firstChargeAt: ({ anchorAt }) => anchorAt,
};

/** Whether a reader of a subscription may read its payments: a key only those of its own shop. */
const isOwn = (principal: Principal, shopId: string): boolean =>
  principal.kind !== 'key' || principal.shopId === shopId;

/** Fields of a charge that are other subgraphs' objects. */
export const subscriptionChargeFields: SubscriptionChargeResolvers = {
  payment: ({ merchantId, shopId, paymentId }, _, { principal }) =>
    paymentId !== null && isOwn(principal, shopId) ? { merchantId, id: paymentId } : null,
};

export const subscriptionQueries = ({ database: { pool } }: SubscriptionDeps): QueryResolvers => ({
  billingSubscription: async (_, { id, merchantId }, { principal }) => {
    const [subscription] = await loadSubscriptions(pool, [
      { merchantId: merchantOf(principal, merchantId), id },
    ]);
    return subscription && mayReadOfMode(principal, subscription) ? subscription : null;
  },
  billingSubscriptions: async (_, asked, { principal }) => {
    const merchantId = merchantOf(principal, asked.merchantId);
    const request = { merchantId, modes, columns: {} };
    return orThrow(await findSubscriptions(pool, principal, request));
  },
  billingSubscriptionsConnection: async (_, { filter, ...asked }, { principal }) => {
    const rows = [
      exactly('subscription.customer_ref', filter?.customerRef, { indexedBy: ['mode'] }),
    ];
    const columns = { status: filter?.status };
    const limit = filter ? {} : { page_max: recurringPage_max };
    const request = { ...asked, ...limit, modes, columns, filter, rows };
    return orThrow(await listSubscriptions(pool, principal, request));
  },
});

const answer = <Name extends string>(__typename: Name, result: Subscription | Refusal) =>
  isRefusal(result) ? result : { __typename, subscription: result };

export const subscriptionMutations = ({
  policies,
  clocks,
  ...parts
}: SubscriptionDeps): MutationResolvers => ({
  subscriptionCreate: async (_, { input, idempotency }, { principal, now, requestId }) => {
    const deps = { ...parts, policies: await policies.current() };
    const request = { input, idempotency, requestId };
    const started = await startSubscription(deps, keyOf(principal), request, now());
    if (isRefusal(started)) return started;
    const { replayed, ...rest } = started;
    return { __typename: 'SubscriptionCreated', ...rest, idempotent: replayed };
  },
  subscriptionCancel: async (_, { id, reason = null, merchantId }, context) => {
    const {
      database: { pool },
      payments,
    } = parts;
    const { principal, requestId, now } = context;
    const find = async (key: EntityReference) => (await loadSubscriptions(pool, [key]))[0] ?? null;
    const asked = { id, merchantId, reason };
    const caller = await cancellingCaller(principal, 'subscription', asked, find);
    if (isRefusal(caller)) return caller;
    const isPerson = principal.kind === 'operator';
    const at = isPerson ? (await timed(clocks, context, caller.merchantId, id)).at : now();
    const record = (client: pg.PoolClient, { status: before }: Subscription): Promise<void> =>
      recordCancellation(
        client,
        context,
        { action: 'subscription.cancel', merchantId: caller.merchantId, id },
        { before, reason },
      );
    const request = { id, reason, requestId, record };
    const cancelled = await cancelSubscription(pool, payments, caller, request, at);
    return answer('SubscriptionCancelled', cancelled);
  },
  subscriptionPause: async (_, { merchantId, id, reason }, context) =>
    answer(
      'SubscriptionPaused',
      await pauseSubscription(parts.database, context, {
        ...(await timed(clocks, context, merchantId, id)),
        reason: reason ?? null,
      }),
    ),
  subscriptionResume: async (_, { merchantId, id }, context) =>
    answer(
      'SubscriptionResumed',
      await resumeSubscription(
        parts.database,
        context,
        await timed(clocks, context, merchantId, id),
      ),
    ),
});

/** The time of a subscription: a person has the real time, its shop may have a clock. */
const timed = async (clocks: TestClocks, { now }: Acting, merchantId: string, id: string) => {
  const isKnown = isUuid(merchantId) && isUuid(id);
  return {
    merchantId,
    id,
    at: isKnown ? await clocks.timeOf({ kind: 'subscription', merchantId, id }) : now(),
  };
};
