/**
 * What payouts would take from the balance if they were made now. Nothing is reserved: each payout is
 * charged at the rate of its own moment, and covered under the merchant's lock.
 */
import { readBalances } from '../ledger/balance.ts';
import { findEffectiveRates } from '../ledger/rate.ts';
import type { Runner } from '../platform/database/statement.ts';
import { defaultCurrency, largestAmount, minorUnits } from '../rules/money.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import { chargedRate, payoutFee } from './rules/create.ts';
import type { QuerypayoutQuoteArgs, PayoutQuote } from '../../schema/generated/payouts.ts';

/** As many as a merchant may have pending drafts. */
const quoted_max = 1_000;

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

/**
 * The sums of up to 1,000 payouts of a merchant's shops, with the balance beside them. Refuses with
 * `bad_request` (their number, an amount) or `not_found` (a shop).
 */
export const quotePayouts = async (
  runner: Runner,
  { merchantId, mode, items }: QuerypayoutQuoteArgs,
  now: Temporal.Instant,
): Promise<PayoutQuote | Refusal> => {
  if (items.length > quoted_max)
    return refuse('bad_request', `items: expected at most ${quoted_max}, got ${items.length}`);
  if (items.some(({ amount }) => amount < 1n || amount > largestAmount))
    return refuse('bad_request', `items: expected amounts from 1 to ${largestAmount}`);
  const balances = await readBalances(runner, merchantId, mode, defaultCurrency);
  const known = new Set(balances.map(({ shopId }) => shopId));
  const shops = [...new Set(items.map(({ shopId }) => shopId))];
  if (shops.some((id) => !known.has(id))) return refuse('not_found', 'there is no such shop');
  const asked = shops.map((id) => ({ merchantId, id }));
  const found = await findEffectiveRates(runner, asked, now);
  const rates = new Map(shops.map((id, place) => [id, found[place] ?? []]));
  const fees = items.map(({ shopId, method, amount }) => {
    const rate = rates.get(shopId)?.find((one) => one.method === method);
    return payoutFee(minorUnits(amount), chargedRate(mode, rate?.rateBps ?? 0));
  });
  const [amount, fee] = [sum(items.map((item) => item.amount)), sum(fees)];
  const available = sum(balances.map((shop) => shop.available));
  return {
    currency: defaultCurrency,
    amount,
    fee,
    withheld: amount + fee,
    balance: sum(balances.map((shop) => shop.balance)),
    available,
    remaining: available - amount - fee,
  };
};
