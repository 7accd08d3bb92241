/**
 * Which account a call is made with. New orders go to the merchant's current account. What was
 * ordered before may be with another one, when the merchant's account was changed since: then each
 * is asked, and an order is not repeated at a second account while the first may have it.
 */
import type { Account, Accounts } from '../bank-accounts.ts';
import type { Client } from './client.ts';

/** An account here, and the client to call with it. */
export interface Caller {
  readonly client: Client;
  readonly accounts: Accounts;
}

/** Statuses that mean that an object is not its own. */
const foreign: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Who has an object: an account; nobody; nobody that lets us ask, while some turn us away; or an
 * answer is missing.
 */
type Holder =
  | { readonly kind: 'held'; readonly account: Account }
  | { readonly kind: 'absent' | 'turned_away' | 'unknown' };

/**
 * Looks for the account that knows the object at `path`. A single account is not asked: it is the
 * only one that can.
 */
export const findHolder = async (
  { client, accounts: { all } }: Caller,
  path: string,
): Promise<Holder> => {
  const [first, ...others] = all;
  if (first && others.length === 0) return { kind: 'held', account: first };
  let isTurnedAway = !first;
  for (const account of all) {
    const answer = await client.call({ account, path });
    if (answer.kind === 'answered') return { kind: 'held', account };
    if (answer.kind !== 'rejected' || !foreign.has(answer.status)) return { kind: 'unknown' };
    isTurnedAway ||= answer.status !== 404;
  }
  return { kind: isTurnedAway ? 'turned_away' : 'absent' };
};

/** The account that knows the object at `path`; null when none says so. */
export const holderOf = async (caller: Caller, path: string): Promise<Account | null> => {
  const holder = await findHolder(caller, path);
  return holder.kind === 'held' ? holder.account : null;
};

/**
 * Asks one account after the other about an order whose answer was lost, until one has it. `absent`
 * gives the answer of an account that surely does not; the order is absent only when all of them
 * say so.
 */
export const askEach = async <Answer extends { readonly kind: string }>(
  accounts: readonly Account[],
  absent: Answer['kind'],
  ask: (account: Account) => Promise<Answer>,
): Promise<Answer | { readonly kind: 'unknown' }> => {
  let last: Answer | null = null;
  for (const account of accounts) {
    const answer = await ask(account);
    if (answer.kind !== absent && answer.kind !== 'unknown') return answer;
    if (last?.kind !== 'unknown') last = answer;
  }
  return last ?? { kind: 'unknown' };
};
