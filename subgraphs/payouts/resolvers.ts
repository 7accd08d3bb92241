/** The payouts subgraph's resolvers. */
import type { Resolvers } from '../../schema/generated/payouts.ts';
import { sbpBanks } from '../kernel/banks/sbp-banks.ts';
import type { Database } from '../kernel/database/orm.ts';
import { refused } from '../kernel/rules/refusal.ts';
import type { EntityLoaders } from '../kernel/service/entities.ts';
import { merchantOf, orThrow, reachOf } from '../kernel/service/reach.ts';
import { listPayouts, loadPayouts } from './find-payouts.ts';

/** The resolvers and the entity loaders of the payouts subgraph. */
export const payoutsSubgraph = ({
  database: { pool },
}: {
  readonly database: Database;
}): { name: 'payouts'; resolvers: Resolvers; entities: EntityLoaders } => ({
  name: 'payouts',
  resolvers: {
    Payout: {
      failReason: ({ failReason }) => failReason ?? '',
      recipient: ({ recipientPhone, recipientBankId, recipientName }) => ({ phone: recipientPhone, bankId: recipientBankId, fullName: recipientName }),
      shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
      merchant: ({ merchantId }) => ({ id: merchantId }),
    },
    Query: {
      payout: async (_, { id, merchantId }, { principal }) => {
        const [payout] = await loadPayouts(pool, [{ merchantId: merchantOf(principal, merchantId), id }]);
        if (!payout) return null;
        return principal.kind === 'key' && (payout.shopId !== principal.shopId || payout.mode !== principal.mode) ? null : payout;
      },
      payouts: async (_, { status, method, merchantId, ...page }, { principal }) => {
        const reach = await reachOf(pool, principal, merchantId);
        return orThrow(await listPayouts(pool, reach, { ...page, filters: { status, method } }));
      },
      sbpBanks: () => [...sbpBanks],
    },
    Mutation: {
      payoutCreate: () => refused('not_implemented', 'payouts are not there yet'),
      payoutBatchCreate: () => refused('not_implemented', 'payouts are not there yet'),
    },
  },
  entities: { Payout: (references) => loadPayouts(pool, references) },
});
