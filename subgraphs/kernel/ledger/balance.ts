/**
 * Balances. Architecture decision 8: credits append deltas and wait for nobody; the fold moves deltas into the balance rows;
 * what is read is the row plus the deltas, in one statement, so that a fold in between changes nothing.
 */
import { run, type Runner, type Statement } from '../database/statement.ts';
import type { Mode } from '../rules/mode.ts';

export interface ShopBalanceRow {
  readonly shopId: string;
  readonly shopName: string;
  /** What the merchant owns, reserves included. */
  readonly balance: bigint;
  /** What may be paid out. */
  readonly available: bigint;
}

const balancesOf: Statement = {
  name: 'balances_of_merchant',
  text: `select shop.id as "shopId", shop.name as "shopName", coalesce(sum(b.amount), 0)::int8 as balance,
      coalesce(sum(b.amount) filter (where b.account = 'merchant'), 0)::int8 as available
    from shop left join (
      select shop_id, account, amount from balance where merchant_id = $1 and mode = $2 and currency = $3
      union all
      select shop_id, account, amount from balance_delta where merchant_id = $1 and mode = $2 and currency = $3
    ) b on b.shop_id = shop.id
    where shop.merchant_id = $1 group by shop.id, shop.name, shop.created_at order by shop.created_at, shop.id`,
};

/** The balance of each shop of a merchant, oldest shop first. */
export const readBalances = (runner: Runner, merchantId: string, mode: Mode, currency: string): Promise<ShopBalanceRow[]> =>
  run(runner, balancesOf, [merchantId, mode, currency]);

const fold: Statement = {
  name: 'balance_fold',
  text: `with due as (delete from balance_delta where ctid = any (array(select ctid from balance_delta limit $1 for update skip locked)) returning *),
    sums as (select merchant_id, shop_id, mode, currency, account, sum(amount)::int8 as amount from due group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5),
    folded as (insert into balance (merchant_id, shop_id, mode, currency, account, amount) select * from sums
      on conflict (merchant_id, shop_id, mode, currency, account) do update set amount = balance.amount + excluded.amount returning 1)
    select count(*)::int as count from due`,
};

/** Moves up to `most` deltas into the balance rows; exact, since what is deleted is what is added. Returns how many. */
export const foldBalances = async (runner: Runner, most = 5_000): Promise<number> => {
  const [row] = await run<{ count: number }>(runner, fold, [most]);
  return row?.count ?? 0;
};

/**
 * One run of the fold: rounds of `most` deltas until a round is not full, `rounds` have been, or `stopping`. So a run ends while deltas keep coming, and 200,000
 * of them in about a second are more than any load makes: what an outage left is gone after a few runs.
 */
export const foldBacklog = async (runner: Runner, stopping: AbortSignal, { most = 5_000, rounds = 40 } = {}): Promise<void> => {
  for (let round = 0; round < rounds && !stopping.aborted; round++) if ((await foldBalances(runner, most)) < most) return;
};
