/** The recurring subgraph's resolvers. */
import type { Resolvers } from '../../schema/generated/recurring.ts';
import type { EntityLoaders } from '../kernel/service/entities.ts';
import { loadTokens } from './find-recurring.ts';
import { loadSubscriptions } from './find-subscriptions.ts';
import { subscriptionChargeFields, subscriptionFields, subscriptionMutations, subscriptionQueries, type SubscriptionParts } from './subscription-resolvers.ts';
import { tokenFields, tokenMutations, tokenQueries } from './token-resolvers.ts';

/** The resolvers and the entity loaders of the recurring subgraph. */
export const recurringSubgraph = (parts: SubscriptionParts): { name: 'recurring'; resolvers: Resolvers; entities: EntityLoaders } => {
  const { pool } = parts.database;
  return {
    name: 'recurring',
    resolvers: {
      Token: tokenFields,
      BillingSubscription: subscriptionFields(parts),
      SubscriptionCharge: subscriptionChargeFields,
      Query: { ...subscriptionQueries(parts), ...tokenQueries(parts) },
      Mutation: { ...subscriptionMutations(parts), ...tokenMutations(parts) },
    },
    entities: {
      Token: (references) => loadTokens(pool, references),
      BillingSubscription: (references) => loadSubscriptions(pool, references),
    },
  };
};
