/**
 * Balances and the ledger in the graph: a merchant's own, and any merchant's for operators, now or
 * as of a moment.
 */
import type { QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import type { Reach } from '../../kernel/database/reach.ts';
import type { Runner } from '../../kernel/database/statement.ts';
import { readBalancesAt } from '../../kernel/ledger/balance-at.ts';
import { readBalances, type ShopBalanceRow } from '../../kernel/ledger/balance.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { defaultCurrency } from '../../kernel/rules/money.ts';
import type { Principal } from '../../kernel/service/access/principal.ts';
import { merchantOf, orThrow } from '../../kernel/service/access/reach.ts';
import { reachOf } from '../../kernel/database/reach.ts';
import { listLedger } from './read-ledger.ts';

/** Contract "Balance": the sum over the shops, and each shop's part. */
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

/**
 * A key reads its shop in its mode; an operator all shops of the merchant that it names, in live
 * mode unless it says otherwise.
 */
const ledgerReach = async (
  runner: Runner,
  principal: Principal,
  named: string | null | undefined,
  mode: Mode | null | undefined,
): Promise<Reach> => {
  const reach = await reachOf(runner, principal, merchantOf(principal, named));
  return principal.kind === 'key' ? reach : { ...reach, modes: [mode ?? 'live'] };
};

/** The queries of balances and of the ledger. */
export const balanceQueries = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) =>
  ({
    balance: async (_, { merchantId, mode }, { principal }) => {
      const read = principal.kind === 'key' ? principal.mode : (mode ?? 'live');
      return balanceOf(
        await readBalances(pool, merchantOf(principal, merchantId), read, defaultCurrency),
        defaultCurrency,
      );
    },
    balanceAt: async (_, { merchantId, mode, currency, at }, { principal }) =>
      balanceOf(
        await readBalancesAt(pool, merchantOf(principal, merchantId), mode, currency, at),
        currency,
      ),
    ledger: async (_, { type, merchantId, mode, ...page }, { principal }) =>
      orThrow(
        await listLedger(pool, await ledgerReach(pool, principal, merchantId, mode), {
          ...page,
          type,
        }),
      ),
  }) satisfies QueryResolvers;
