/**
 * Commission rates. Platform, merchant, shop; the most specific wins, per method; dated, never
 * retroactive.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';

/** The methods whose rates the API lists. */
const ratedMethods = ['sbp', 'cards', 'tpay', 'sberpay', 'recurrent'] as const;
export type RatedMethod = (typeof ratedMethods)[number];

/** What operators set rates for: the listed methods, and payouts, which the API does not list. */
const settableMethods = [
  ...ratedMethods,
  'payouts_sbp',
  'payouts_card',
  'payouts_account',
] as const;
export type SettableMethod = (typeof settableMethods)[number];

/** SQL: the rate in force of a method column of a shop at a moment. */
const inForce = (merchantId: string, shopId: string, method: string, at: string): string =>
  `from rate where rate.method = ${method} and rate.since <= ${at}
     and (rate.merchant_id is null or rate.merchant_id = ${merchantId} and (rate.shop_id is null or rate.shop_id = ${shopId}))
   order by rate.shop_id nulls last, rate.merchant_id nulls last, rate.since desc limit 1`;

/** SQL for the effective rate, in basis points, of a method column of a shop at a moment. */
export const effectiveRate = (...shopAndMethod: Parameters<typeof inForce>): string =>
  `(select rate_bps ${inForce(...shopAndMethod)})`;

/** A method's rate that is in force, and where it was set. */
export interface EffectiveRate {
  readonly method: SettableMethod;
  readonly rateBps: number;
  readonly level: 'platform' | 'merchant' | 'shop';
  /** Null: no rate is set, the method is free of a fee. */
  readonly since: Temporal.Instant | null;
}

const effective: Statement = {
  name: 'rate.effective',
  text: `select wanted.shop_id as "shopId", m.method, coalesce(held.rate_bps, 0) as "rateBps", held.since,
      case when held.shop_id is not null then 'shop' when held.merchant_id is not null then 'merchant' else 'platform' end as level
    from unnest($1::uuid[], $2::uuid[]) as wanted(merchant_id, shop_id)
      cross join unnest($4::text[]) with ordinality as m(method, position)
      left join lateral (select rate_bps, since, merchant_id, shop_id ${inForce('wanted.merchant_id', 'wanted.shop_id', 'm.method', '$3::timestamptz')}) as held on true
    order by m.position`,
};

/** The rates in force of each shop, payouts included, in the order of the methods. */
export const findEffectiveRates = async (
  runner: Runner,
  shops: readonly { readonly merchantId: string; readonly id: string }[],
  at: Temporal.Instant,
): Promise<EffectiveRate[][]> => {
  const rows = await run<EffectiveRate & { readonly shopId: string }>(runner, effective, [
    shops.map(({ merchantId }) => merchantId),
    shops.map(({ id }) => id),
    at,
    settableMethods,
  ]);
  const byShop = Map.groupBy(rows, ({ shopId }) => shopId);
  return shops.map(({ id }) => byShop.get(id) ?? []);
};

type Rated = EffectiveRate & { readonly method: RatedMethod };

const isRated = (rate: EffectiveRate): rate is Rated =>
  ratedMethods.some((rated) => rated === rate.method);

/** The rates of a shop at a moment, one per method that buyers pay with, in the order of the API. */
export const ratesOf = async (
  runner: Runner,
  { merchantId, shopId }: { readonly merchantId: string; readonly shopId: string },
  at: Temporal.Instant,
): Promise<Rated[]> => {
  const [rates = []] = await findEffectiveRates(runner, [{ merchantId, id: shopId }], at);
  return rates.filter(isRated);
};
