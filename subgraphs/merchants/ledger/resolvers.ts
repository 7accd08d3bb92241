/**
 * GraphQL resolvers for balances and the ledger: a merchant's own, and any merchant's for
 * operators, now or as of a moment.
 */
import type { QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { oneOf } from '../../kernel/database/open-list.ts';
import { readBalancesAt, readClosing, type ShopClosing } from '../../kernel/ledger/closing.ts';
import { readBalances, type ShopBalanceRow } from '../../kernel/ledger/balance.ts';
import type { LedgerType } from '../../kernel/rules/postings.ts';
import { merchantOf, orThrow, refusal } from '../../kernel/service/access/reach.ts';
import { pageOfLedger } from './read-ledger.ts';

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

/** The sum over the shops, and each shop's part (docs/contract.md#balance-and-ledger). */
const balanceOf = (shops: readonly ShopBalanceRow[], currency: string) => ({
  balance: sum(shops.map(({ balance }) => balance)),
  available: sum(shops.map(({ available }) => available)),
  currency,
  shops: shops.map(({ shopId, shopName, balance }) => ({ shopId, shopName, balance })),
});

/** What some shops' postings came to, by type. */
const turnoverOf = (shops: readonly ShopClosing[]) => {
  const of = (type: LedgerType): bigint => sum(shops.map(({ moved }) => moved.get(type) ?? 0n));
  return {
    payment: of('payment'),
    fee: of('fee'),
    refund: of('refund'),
    payout: of('payout'),
    payoutFee: of('payout_fee'),
    settlement: of('settlement'),
    adjustment: of('adjustment'),
  };
};

const closingOf = (shops: readonly ShopClosing[], currency: string) => ({
  currency,
  opening: sum(shops.map(({ opening }) => opening)),
  turnover: turnoverOf(shops),
  closing: sum(shops.map(({ closing }) => closing)),
  closingAvailable: sum(shops.map(({ closingAvailable }) => closingAvailable)),
  shops: shops.map((shop) => ({ ...shop, turnover: turnoverOf([shop]) })),
});

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
    closing: async (_, { merchantId, mode, currency, from, to }, { principal }) => {
      if (Temporal.Instant.compare(from, to) > 0)
        throw refusal('bad_request', 'to: expected a moment after from');
      const span = { merchantId: merchantOf(principal, merchantId), mode, currency, from, to };
      return closingOf(await readClosing(pool, span), currency);
    },
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
