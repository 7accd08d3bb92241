/**
 * Taking money from a merchant: take the merchant's lock, then read the available amount in a new
 * statement, which sees everything committed before the lock was granted. With lock and check in
 * one statement a balance was overdrawn in every trial.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import type { Posting } from '../rules/postings.ts';
import { readBalances } from './balance.ts';
import {
  deltaRows,
  insertDeltas,
  insertPostings,
  postingRows,
  type PostingSource,
} from './post.ts';

const lock: Statement = {
  name: 'ledger.lock',
  text: 'select 1 from merchant where id = $1 for no key update',
};

/**
 * Takes the merchant's debit lock and holds it until the transaction ends. False when there is no
 * such merchant.
 */
export const lockMerchant = async (runner: Runner, merchantId: string): Promise<boolean> =>
  (await run(runner, lock, [merchantId])).length > 0;

/**
 * The amount available for payout to a merchant, over all its shops. It stays true only under the
 * merchant's lock.
 */
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
  text: `with booked as (${insertPostings('$1', 'select 1')}), balanced as (${insertDeltas('$2', 'select 1')}) select 1`,
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
