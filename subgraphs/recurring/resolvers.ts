/** The recurring subgraph's resolvers. */
import type { Resolvers } from '../../schema/generated/recurring.ts';
import { refused } from '../kernel/rules/refusal.ts';
import type { EntityLoaders } from '../kernel/service/entities.ts';
import { perCall } from '../kernel/service/per-call.ts';
import { keyOf } from '../kernel/service/reach.ts';
import type { Token } from './entities.ts';
import type { TokenParts } from './bind-token.ts';
import { loadTokens } from './find-recurring.ts';
import { findSubscriptions, loadSubscriptions } from './find-subscriptions.ts';
import type { Subscription } from './subscription-entities.ts';
import { tokenFields, tokenMutations, tokenQueries } from './token-resolvers.ts';

const notThereYet = () => refused('not_implemented', 'recurring billing is not there yet');

/** The resolvers and the entity loaders of the recurring subgraph. */
export const recurringSubgraph = (parts: TokenParts): { name: 'recurring'; resolvers: Resolvers; entities: EntityLoaders } => {
  const { pool } = parts.database;
  const tokenOf = perCall<Subscription, Token | null>((subscriptions) =>
    loadTokens(
      pool,
      subscriptions.map(({ merchantId, tokenId }) => ({ merchantId, id: tokenId })),
    ),
  );
  return {
    name: 'recurring',
    resolvers: {
      Token: tokenFields,
      BillingSubscription: {
        shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
        token: (subscription, _, context) => tokenOf(context).load(subscription),
        // Nothing can have been charged or planned: subscriptions cannot be created yet.
        charges: () => [],
        upcoming: () => [],
      },
      Query: {
        billingSubscription: async (_, { id }, { principal }) => {
          const { merchantId, mode } = keyOf(principal);
          const [subscription] = await loadSubscriptions(pool, [{ merchantId, id }]);
          return subscription?.mode === mode ? subscription : null;
        },
        billingSubscriptions: (_, __, { principal }) => findSubscriptions(pool, keyOf(principal).merchantId, keyOf(principal).mode),
        ...tokenQueries(parts),
      },
      Mutation: {
        subscriptionCreate: notThereYet,
        subscriptionCancel: notThereYet,
        ...tokenMutations(parts),
      },
    },
    entities: {
      Token: (references) => loadTokens(pool, references),
      BillingSubscription: (references) => loadSubscriptions(pool, references),
    },
  };
};
