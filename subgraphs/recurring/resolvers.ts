/** The recurring subgraph's resolvers. */
import type { Resolvers } from '../../schema/generated/recurring.ts';
import type { Database } from '../kernel/database/orm.ts';
import { refused } from '../kernel/rules/refusal.ts';
import type { EntityLoaders } from '../kernel/service/entities.ts';
import { perCall } from '../kernel/service/per-call.ts';
import { keyOf } from '../kernel/service/reach.ts';
import type { Token } from './entities.ts';
import { findTokens, loadTokens } from './find-recurring.ts';
import { findSubscriptions, loadSubscriptions } from './find-subscriptions.ts';
import type { Subscription } from './subscription-entities.ts';

const notThereYet = () => refused('not_implemented', 'recurring billing is not there yet');

/** The resolvers and the entity loaders of the recurring subgraph. */
export const recurringSubgraph = ({
  database: { pool },
}: {
  readonly database: Database;
}): { name: 'recurring'; resolvers: Resolvers; entities: EntityLoaders } => {
  const tokenOf = perCall<Subscription, Token | null>((subscriptions) =>
    loadTokens(
      pool,
      subscriptions.map(({ merchantId, tokenId }) => ({ merchantId, id: tokenId })),
    ),
  );
  return {
    name: 'recurring',
    resolvers: {
      Token: { shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }) },
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
        tokens: (_, { customerRef }, { principal }) => findTokens(pool, keyOf(principal).merchantId, keyOf(principal).mode, customerRef ?? null),
      },
      Mutation: {
        subscriptionCreate: notThereYet,
        subscriptionCancel: notThereYet,
        tokenCreate: notThereYet,
        tokenCharge: notThereYet,
        tokenCancel: notThereYet,
      },
    },
    entities: {
      Token: (references) => loadTokens(pool, references),
      BillingSubscription: (references) => loadSubscriptions(pool, references),
    },
  };
};
