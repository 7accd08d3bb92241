/**
 * Commission rates. Platform, merchant, shop; the most specific wins, per method; dated, never
 * retroactive.
 */
import { run, type Runner, type Statement } from '../database/statement.ts';

/** The methods whose rates the API lists. */
const ratedMethods = ['sbp', 'cards', 'tpay', 'sberpay', 'recurrent'] as const;
export type RatedMethod = (typeof ratedMethods)[number];

/** What operators set rates for: the listed methods, and payouts, which the API does not list. */
export const settableMethods = [
  ...ratedMethods,
  'payouts_sbp',
  'payouts_card',
  'payouts_account',
] as const;
export type SettableMethod = (typeof settableMethods)[number];

/** SQL for the effective rate, in basis points, of a method column of a shop at a moment. */
export const effectiveRate = (
  merchantId: string,
  shopId: string,
  method: string,
  at: string,
): string =>
  `(select rate_bps from rate where rate.method = ${method} and rate.since <= ${at}
     and (rate.merchant_id is null or rate.merchant_id = ${merchantId} and (rate.shop_id is null or rate.shop_id = ${shopId}))
   order by rate.shop_id nulls last, rate.merchant_id nulls last, rate.since desc limit 1)`;

const list: Statement = {
  name: 'rate.of_shop',
  text: `select m.method, coalesce(${effectiveRate('$1::uuid', '$2::uuid', 'm.method', '$3::timestamptz')}, 0) as "rateBps"
    from unnest($4::text[]) with ordinality as m(method, position) order by m.position`,
};

/** The rates of a shop at a moment, one per method, in the order of the API. */
export const ratesOf = (
  runner: Runner,
  shop: { merchantId: string; shopId: string },
  at: Temporal.Instant,
): Promise<{ method: RatedMethod; rateBps: number }[]> =>
  run(runner, list, [shop.merchantId, shop.shopId, at, ratedMethods]);
