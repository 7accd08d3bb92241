/** The recurring subgraph's resolvers. */
import type {
  Resolvers,
  CustomerPageResolvers,
  MutationResolvers,
} from '../../schema/generated/recurring.ts';
import { accessRefusal, keyOf } from '../platform/access/access.ts';
import type { Principal } from '../platform/access/principal.ts';
import { findSeller } from '../platform/database/find-seller.ts';
import { openKnownMerchants } from '../platform/database/known-merchants.ts';
import { totalField } from '../platform/database/lists.ts';
import type { SubgraphDeps } from '../platform/graph/build-subgraph.ts';
import { mayReadOfMode, ownOnly, type OfMode } from '../platform/graph/entities.ts';
import { isRefusal } from '../rules/refusal.ts';
import {
  type CustomerDeps,
  endSubscription,
  endToken,
  findCustomerPage,
  subscriptionsOf,
  tokensOf,
  findCustomerSubscription,
} from './customers/customer-page.ts';
import { addressOfSession, newSession } from './customers/customer-session.ts';
import {
  subscriptionChargeFields,
  subscriptionFields,
  subscriptionMutations,
  subscriptionQueries,
  subscriptionTermsFields,
} from './subscriptions/resolvers.ts';
import { tokenFields, tokenMutations, tokenQueries } from './tokens/resolvers.ts';
import { loadTokens, loadSubscriptions } from './find-recurring.ts';

/**
 * A key needs the list's scope to read a token or subscription, wherever the reference comes from.
 */
const mayRead = (principal: Principal, row: OfMode): boolean =>
  mayReadOfMode(principal, row) &&
  (principal.kind !== 'key' || accessRefusal('Query.tokens', principal) === null);

/** A buyer reads the subscription of its page's payment, and no other. */
const mayReadTerms = (principal: Principal, row: OfMode): boolean =>
  principal.kind === 'buyer' || mayRead(principal, row);

// Customers' pages: from GraphQL to a verb, and back.

/** What a page shows. */
const customerPageFields = (deps: CustomerDeps): CustomerPageResolvers => {
  const { database } = deps;
  return {
    seller: ({ merchantId }) => findSeller(database.pool, merchantId),
    tokens: (page, _, context) => tokensOf(database.emOf(context), page),
    subscriptions: (page, _, context) => subscriptionsOf(database.emOf(context), page),
    subscription: (page, { id }) => findCustomerSubscription(deps, page, id),
  };
};

/** What a merchant does for a customer, and the customer on the page. */
const customerMutations = (deps: CustomerDeps): MutationResolvers => ({
  customerSessionCreate: async (_, { input }, { principal, now }) => {
    const session = newSession(keyOf(principal), input, now());
    if (isRefusal(session)) return session;
    const address = addressOfSession(deps.customerSecret, session);
    const url = `${deps.publicUrl}/pay/c/${address}`;
    return { __typename: 'CustomerSessionCreated', url, expiresAt: session.expiresAt };
  },
  customerTokenCancel: async (_, { address, id }, { requestId }) => {
    const token = await endToken(deps, address, id, requestId);
    return isRefusal(token) ? token : { __typename: 'TokenCancelled', token };
  },
  customerSubscriptionCancel: async (_, { address, id }, { requestId }) => {
    const subscription = await endSubscription(deps, address, id, requestId);
    return isRefusal(subscription)
      ? subscription
      : { __typename: 'SubscriptionCancelled', subscription };
  },
});

export const recurringSubgraph = (
  deps: CustomerDeps,
): SubgraphDeps & { name: 'recurring'; resolvers: Resolvers } => {
  const { pool } = deps.database;
  return {
    name: 'recurring',
    resolvers: {
      Token: tokenFields(deps),
      BillingSubscription: subscriptionFields(deps),
      SubscriptionTerms: subscriptionTermsFields,
      SubscriptionCharge: subscriptionChargeFields,
      CustomerPage: customerPageFields(deps),
      BillingSubscriptionConnection: totalField,
      Query: {
        ...subscriptionQueries(deps),
        ...tokenQueries(deps),
        customerPage: (_, { address }) => findCustomerPage(deps, address),
      },
      Mutation: {
        ...subscriptionMutations(deps),
        ...tokenMutations(deps),
        ...customerMutations(deps),
      },
    },
    areMerchants: openKnownMerchants(pool),
    entities: {
      Token: ownOnly((references) => loadTokens(pool, references), mayRead),
      BillingSubscription: ownOnly((references) => loadSubscriptions(pool, references), mayRead),
      SubscriptionTerms: ownOnly((references) => loadSubscriptions(pool, references), mayReadTerms),
    },
  };
};
