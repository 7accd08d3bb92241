/** Customers' pages: from GraphQL to a verb, and back. */
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/recurring.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import { keyOf } from '../../kernel/service/access/reach.ts';
import {
  endSubscription,
  endToken,
  findCustomerPage,
  type CustomerParts,
  addressOfSession,
  newSession,
} from './customer-page.ts';

/** The page of a session. */
export const customerQueries = (parts: CustomerParts): Pick<QueryResolvers, 'customerPage'> => ({
  customerPage: (_, { address }) => findCustomerPage(parts, address),
});

/** What a merchant does for a customer, and the customer on the page. */
export const customerMutations = (
  parts: CustomerParts,
): Pick<
  MutationResolvers,
  'customerSessionCreate' | 'customerTokenCancel' | 'customerSubscriptionCancel'
> => ({
  customerSessionCreate: async (_, { input }, { principal, now }) => {
    const session = newSession(keyOf(principal), input, now());
    if (isRefused(session)) return session;
    const address = addressOfSession(parts.customerSecret, session);
    const url = `${parts.publicUrl}/pay/c/${address}`;
    return { __typename: 'CustomerSessionCreated', url, expiresAt: session.expiresAt };
  },
  customerTokenCancel: async (_, { address, id }, { requestId }) => {
    const token = await endToken(parts, address, id, requestId);
    return isRefused(token) ? token : { __typename: 'TokenCancelled', token };
  },
  customerSubscriptionCancel: async (_, { address, id }, { requestId }) => {
    const subscription = await endSubscription(parts, address, id, requestId);
    return isRefused(subscription)
      ? subscription
      : { __typename: 'SubscriptionCancelled', subscription };
  },
});
