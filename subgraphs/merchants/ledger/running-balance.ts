/**
 * The balance right after a movement. It is read backwards from today's balance by the hours of the
 * ledger, and within the movement's own hour by its postings, for all movements of a page at once.
 */
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';

/** SQL: what a posting adds to what the merchant owns. */
const net = `case when entry.to_account in ('merchant', 'merchant_reserved') then entry.amount else 0 end
  - case when entry.from_account in ('merchant', 'merchant_reserved') then entry.amount else 0 end`;

/** Everything of the merchant, and everything of the shop. */
const wholes = { merchant: '', shop: ', shop_id' } as const;

/** SQL: what an hour and all later ones moved, of the merchant or of the shop. */
const since = (
  by: string,
): string => `select mode, currency, hour${by}, sum(sum(amount)) over (partition by mode, currency${by} order by hour desc) as amount
      from moved group by mode, currency, hour${by}`;

const after: Statement = {
  name: 'ledger.balance_after',
  text: `with row as materialized (select id, shop_id, mode, currency, date_trunc('hour', created_at, 'UTC') as hour
      from posting where merchant_id = $1 and id = any ($2::uuid[])),
    start as (select mode, currency, min(hour) as hour from row group by 1, 2),
    moved as (
      select whole.mode, whole.currency, whole.hour, whole.shop_id, whole.amount from start join ledger_hour as whole
        on whole.merchant_id = $1 and whole.mode = start.mode and whole.currency = start.currency and whole.hour >= start.hour
      union all select mode, currency, hour, shop_id, amount from balance_delta where merchant_id = $1),
    since_all as (${since(wholes.merchant)}),
    since_shop as (${since(wholes.shop)}),
    kept as (select mode, currency, shop_id, amount from balance where merchant_id = $1
      union all select mode, currency, shop_id, amount from balance_delta where merchant_id = $1),
    inside as (
      select entry.id, sum(entry.net) over (partition by place.mode, place.currency, place.hour order by entry.created_at, entry.id) as of_all,
        sum(entry.net) over (partition by place.mode, place.currency, place.hour, shop.id order by entry.created_at, entry.id) as of_shop
      from (select distinct mode, currency, hour from row) as place join shop on shop.merchant_id = $1
        cross join lateral (select entry.id, entry.created_at, ${net} as net from posting as entry
          where entry.merchant_id = $1 and entry.shop_id = shop.id and entry.mode = place.mode and entry.currency = place.currency
            and entry.created_at >= place.hour and entry.created_at < place.hour + interval '1 hour') as entry)
    select row.id,
      ((select sum(amount) from kept where kept.mode = row.mode and kept.currency = row.currency)
        - since_all.amount + inside.of_all)::text as "ofAll",
      ((select sum(amount) from kept where kept.mode = row.mode and kept.currency = row.currency and kept.shop_id = row.shop_id)
        - since_shop.amount + inside.of_shop)::text as "ofShop"
    from row join inside on inside.id = row.id
      join since_all on since_all.mode = row.mode and since_all.currency = row.currency and since_all.hour = row.hour
      join since_shop on since_shop.mode = row.mode and since_shop.currency = row.currency and since_shop.hour = row.hour
        and since_shop.shop_id = row.shop_id`,
};

/** The balance right after a movement: of the merchant, and of the movement's shop. */
export interface BalanceAfter {
  readonly ofAll: bigint;
  readonly ofShop: bigint;
}

interface MovementKey {
  readonly merchantId: string;
  readonly id: string;
}

/**
 * The balances right after these movements, in their order. Null for movements of several merchants,
 * whose balances do not follow one another.
 */
export const balancesAfter = async (
  runner: Runner,
  movements: readonly MovementKey[],
): Promise<readonly (BalanceAfter | null)[]> => {
  const [merchantId, ...others] = new Set(movements.map((movement) => movement.merchantId));
  if (merchantId === undefined || others.length > 0) return movements.map(() => null);
  type Found = { readonly id: string; readonly ofAll: string; readonly ofShop: string };
  const found = await run<Found>(runner, after, [merchantId, movements.map(({ id }) => id)]);
  const known = new Map(
    found.map(({ id, ofAll, ofShop }) => [id, { ofAll: BigInt(ofAll), ofShop: BigInt(ofShop) }]),
  );
  return movements.map(({ id }) => known.get(id) ?? null);
};
