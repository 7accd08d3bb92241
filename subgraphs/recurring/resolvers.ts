/** The recurring subgraph's resolvers. */
import type { Resolvers } from '../../schema/generated/recurring.ts';
import { openKnownMerchants } from '../platform/database/known-merchants.ts';
import { totalField } from '../platform/database/lists.ts';
import { accessRefusal } from '../platform/access/access.ts';
import { mayReadOfMode, ownOnly, type OfMode } from '../platform/graph/entities.ts';
import type { Principal } from '../platform/access/principal.ts';
import type { SubgraphDeps } from '../platform/graph/build-subgraph.ts';
import type { CustomerDeps } from './customers/customer-page.ts';
import { customerMutations, customerPageFields, customerQueries } from './customers/resolvers.ts';
import { loadTokens } from './find-recurring.ts';
import { loadSubscriptions } from './subscriptions/find-subscriptions.ts';
import {
  subscriptionChargeFields,
  subscriptionFields,
  subscriptionMutations,
  subscriptionQueries,
  subscriptionTermsFields,
} from './subscriptions/resolvers.ts';
import { tokenFields, tokenMutations, tokenQueries } from './tokens/resolvers.ts';

/**
 * A key needs the list's scope to read a token or subscription, wherever the reference comes from.
 */
const mayRead = (principal: Principal, row: OfMode): boolean =>
  mayReadOfMode(principal, row) &&
  (principal.kind !== 'key' || accessRefusal('Query.tokens', principal) === null);

/** A buyer reads the subscription of its page's payment, and no other. */
const mayReadTerms = (principal: Principal, row: OfMode): boolean =>
  principal.kind === 'buyer' || mayRead(principal, row);

/** The resolvers and the entity loaders of the recurring subgraph. */
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
      Query: { ...subscriptionQueries(deps), ...tokenQueries(deps), ...customerQueries(deps) },
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
