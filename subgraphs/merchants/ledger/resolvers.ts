/**
 * GraphQL resolvers for balances and the ledger: a merchant's own, and any merchant's for
 * operators, now or as of a moment.
 */
import type { QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { oneOf } from '../../kernel/database/open-list.ts';
import { readBalancesAt } from '../../kernel/ledger/balance-at.ts';
import { readBalances, type ShopBalanceRow } from '../../kernel/ledger/balance.ts';
import { merchantOf, orThrow } from '../../kernel/service/access/reach.ts';
import { pageOfLedger } from './read-ledger.ts';

/** The sum over the shops, and each shop's part (docs/contract.md#balance-and-ledger). */
const balanceOf = (shops: readonly ShopBalanceRow[], currency: string) => {
  const sum = (amounts: readonly bigint[]): bigint =>
    amounts.reduce((total, amount) => total + amount, 0n);
  return {
    balance: sum(shops.map(({ balance }) => balance)),
    available: sum(shops.map(({ available }) => available)),
    currency,
    shops: shops.map(({ shopId, shopName, balance }) => ({ shopId, shopName, balance })),
  };
};

/** The queries of balances and of the ledger. */
export const balanceQueries = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) =>
  ({
    balance: async (_, { merchantId, mode, currency }, { principal }) => {
      const read = principal.kind === 'key' ? principal.mode : (mode ?? 'live');
      return balanceOf(
        await readBalances(pool, merchantOf(principal, merchantId), read, currency),
        currency,
      );
    },
    balanceAt: async (_, { merchantId, mode, currency, at }, { principal }) =>
      balanceOf(
        await readBalancesAt(pool, merchantOf(principal, merchantId), mode, currency, at),
        currency,
      ),
    ledger: async (_, { type, mode, filter, ...asked }, { principal }) => {
      const types = type ? [type] : filter?.type;
      const payoutId = filter?.payoutId;
      const request = {
        ...asked,
        filter,
        modes: [mode ?? 'live'] as const,
        columns: { type: types },
        rows: [oneOf('posting.payout_id::text', payoutId ? [payoutId.toLowerCase()] : null)],
      };
      return orThrow(await pageOfLedger(pool, principal, request));
    },
  }) satisfies QueryResolvers;
