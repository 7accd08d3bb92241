/**
 * Balances: credits append deltas without waiting; the fold moves deltas into the balance rows; a
 * read sums the row and the deltas, in one statement, so that a concurrent fold changes nothing.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';

export interface ShopBalanceRow {
  readonly shopId: string;
  readonly shopName: string;
  /** What the merchant owns, reserves included. */
  readonly balance: bigint;
  /** The amount available for payout. */
  readonly available: bigint;
}

/** The sums of a shop, as PostgreSQL returns them. */
interface ShopSums {
  readonly shopId: string;
  readonly shopName: string;
  readonly balance: string;
  readonly available: string;
}

/** Sums are read as text: every database type for a sum could be too small. */
const readSums = ({ balance, available, ...shop }: ShopSums): ShopBalanceRow => ({
  ...shop,
  balance: BigInt(balance),
  available: BigInt(available),
});

const balancesOf: Statement = {
  name: 'balance.of_merchant',
  text: `select shop.id as "shopId", shop.name as "shopName", coalesce(sum(b.amount), 0)::text as balance,
      coalesce(sum(b.amount) filter (where b.account = 'merchant'), 0)::text as available
    from shop left join (
      select shop_id, account, amount from balance where merchant_id = $1 and mode = $2 and currency = $3
      union all
      select shop_id, account, amount from balance_delta where merchant_id = $1 and mode = $2 and currency = $3
    ) b on b.shop_id = shop.id
    where shop.merchant_id = $1 group by shop.id, shop.name, shop.created_at order by shop.created_at, shop.id`,
};

/** The balance of each shop of a merchant, oldest shop first. */
export const readBalances = async (
  runner: Runner,
  merchantId: string,
  mode: Mode,
  currency: string,
): Promise<ShopBalanceRow[]> =>
  (await run<ShopSums>(runner, balancesOf, [merchantId, mode, currency])).map(readSums);
