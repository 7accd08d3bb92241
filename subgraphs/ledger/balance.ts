/**
 * Balances: credits append deltas without waiting; the fold moves deltas into the balance rows; a
 * read sums the row and the deltas, in one statement, so that a concurrent fold changes nothing.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import { errorCode } from '../platform/tracing/error-code.ts';
import type { Mode } from '../rules/mode.ts';
import { largestAmount } from '../rules/money.ts';
import type { Posting } from '../rules/postings.ts';
import type { Refusal } from '../rules/refusal.ts';
import { deltaRows, insertRows, postingRows, type PostingSource } from './post.ts';

export interface ShopBalanceRow {
  readonly shopId: string;
  readonly shopName: string;
  /** What the merchant owns, reserves included. */
  readonly balance: bigint;
  /** The amount available for payout. */
  readonly available: bigint;
}

/** Sums are read as text: every database type for a sum could be too small. */
type ShopSums = Record<keyof ShopBalanceRow, string>;
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

// The bounds of a balance. A merchant's balance in one mode and currency stays between -(2^53-1)
// and 2^53-1, in each shop and over all of them, so that every reader of JSON keeps it exact.
// PostgreSQL itself refuses the booking that would pass a bound, under any concurrency (the trigger
// `bound` of `balance_delta`); the booking code then decides what happens to the fact.

const beyondBound = 'PSB01';

/**
 * Whether an error is PostgreSQL's refusal of a booking that would pass a bound. Nothing of the
 * booking's statement has happened then.
 */
export const isBeyondBound = (error: unknown): boolean => errorCode(error) === beyondBound;

/** The booking, or `refusal` when it would pass a bound. Its transaction must be over by then. */
export const withinBound = async <Booked>(
  booking: Promise<Booked>,
  refusal: Refusal,
): Promise<Booked | Refusal> => {
  try {
    return await booking;
  } catch (error) {
    if (isBeyondBound(error)) return refusal;
    throw error;
  }
};

// The folded rows alone: unfolded deltas are far too small to matter, and a read of them would wait
// for a backlog.
const owned: Statement = {
  name: 'balance.folded',
  text: `select coalesce(sum(amount), 0)::text as owned from balance where merchant_id = $1 and mode = $2 and currency = $3`,
};

/**
 * Whether a live merchant's balance has room for a payment, checked before a bank takes the buyer's
 * money: afterwards it cannot be refused.
 */
export const hasRoom = async (
  runner: Runner,
  order: { readonly merchantId: string; readonly currency: string; readonly amount: bigint },
): Promise<boolean> => {
  const values = [order.merchantId, 'live', order.currency];
  const [row] = await run<{ owned: string }>(runner, owned, values);
  return BigInt(row?.owned ?? 0) + order.amount <= largestAmount;
};

// Taking money from a merchant: take the merchant's lock, then read the available amount in a new
// statement, which sees everything committed before the lock was granted. With lock and check in
// one statement a balance was overdrawn in every trial.

const lock: Statement = {
  name: 'ledger.lock',
  text: 'select 1 from merchant where id = $1 for no key update',
};

/** Takes the merchant's debit lock until the transaction ends; false without such a merchant. */
export const lockMerchant = async (runner: Runner, merchantId: string): Promise<boolean> =>
  (await run(runner, lock, [merchantId])).length > 0;

/** Available for payout, over all shops. It stays true only under the merchant's lock. */
export const availableOf = async (
  runner: Runner,
  merchantId: string,
  mode: Mode,
  currency: string,
): Promise<bigint> => {
  const shops = await readBalances(runner, merchantId, mode, currency);
  return shops.reduce((sum, { available }) => sum + available, 0n);
};

const book: Statement = {
  name: 'ledger.book',
  text: `with booked as (${insertRows('posting', '$1')}), balanced as (${insertRows('balance_delta', '$2')}) select 1`,
};

/**
 * Books postings of their own, in the caller's transaction. Throws when the fact was booked before.
 */
export const bookPostings = async (
  runner: Runner,
  source: PostingSource,
  postings: readonly Posting[],
): Promise<void> => {
  await run(runner, book, [
    JSON.stringify(postingRows(source, postings)),
    JSON.stringify(deltaRows(source, postings)),
  ]);
};
