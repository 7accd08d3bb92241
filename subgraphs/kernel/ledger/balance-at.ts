/** The balance as it was at a moment: the sum of the postings booked until then. */
import { run, type Runner, type Statement } from '../database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import { readSums, type ShopBalanceRow, type ShopSums } from './balance.ts';

const balancesAt: Statement = {
  name: 'balance.at',
  text: `select shop.id as "shopId", shop.name as "shopName", coalesce(sum(side.amount), 0)::text as balance,
      coalesce(sum(side.amount) filter (where side.account = 'merchant'), 0)::text as available
    from shop left join posting as entry on entry.merchant_id = shop.merchant_id and entry.shop_id = shop.id and entry.mode = $2 and entry.currency = $3
        and entry.created_at <= $4
      left join lateral (values (entry.to_account, entry.amount), (entry.from_account, -entry.amount)) as side(account, amount)
        on side.account in ('merchant', 'merchant_reserved')
    where shop.merchant_id = $1 group by shop.id, shop.name, shop.created_at order by shop.created_at, shop.id`,
};

/**
 * The balance of each shop of a merchant as of a moment, including all postings of that very
 * millisecond; oldest shop first, today's shops and names. It reads the merchant's postings up to
 * then: about a second for a million.
 */
export const readBalancesAt = async (
  runner: Runner,
  merchantId: string,
  mode: Mode,
  currency: string,
  at: Temporal.Instant,
): Promise<ShopBalanceRow[]> =>
  (await run<ShopSums>(runner, balancesAt, [merchantId, mode, currency, at])).map(readSums);
