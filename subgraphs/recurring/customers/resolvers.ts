/** Customers' pages: from GraphQL to a verb, and back. */
import type {
  CustomerPageResolvers,
  MutationResolvers,
  QueryResolvers,
} from '../../../schema/generated/recurring.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { keyOf } from '../../platform/access/access.ts';
import {
  endSubscription,
  endToken,
  findCustomerPage,
  type CustomerDeps,
  subscriptionsOf,
  tokensOf,
} from './customer-page.ts';
import { addressOfSession, newSession } from './customer-session.ts';
import { findSeller } from '../../platform/database/find-seller.ts';
import { findCustomerSubscription } from './customer-subscription.ts';

/** The page of a session. */
export const customerQueries = (deps: CustomerDeps): Pick<QueryResolvers, 'customerPage'> => ({
  customerPage: (_, { address }) => findCustomerPage(deps, address),
});

/** What a page shows. */
export const customerPageFields = (deps: CustomerDeps): CustomerPageResolvers => {
  const { pool } = deps.database;
  return {
    seller: ({ merchantId }) => findSeller(pool, merchantId),
    tokens: (page) => tokensOf(pool, page),
    subscriptions: (page) => subscriptionsOf(pool, page),
    subscription: (page, { id }) => findCustomerSubscription(deps, page, id),
  };
};

/** What a merchant does for a customer, and the customer on the page. */
export const customerMutations = (
  deps: CustomerDeps,
): Pick<
  MutationResolvers,
  'customerSessionCreate' | 'customerTokenCancel' | 'customerSubscriptionCancel'
> => ({
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
