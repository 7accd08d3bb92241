/**
 * The account for a call. New orders go to the merchant's current account. Earlier orders may be at
 * another one, when the merchant's account was changed since: then each is queried, and an order is
 * not repeated at a second account while the first may have it.
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
 * The owner of an object: an account; none; none that accepts our query, while some reject us; or
 * an answer is missing.
 */
type Holder =
  | { readonly kind: 'held'; readonly account: Account }
  | { readonly kind: 'absent' | 'turned_away' | 'unknown' };

/**
 * Looks for the account that knows the object at `path`. A single account is not queried: it is the
 * only candidate.
 */
export const findHolder = async (
  { client, accounts: { all } }: Caller,
  path: string,
): Promise<Holder> => {
  const [first, ...others] = all;
  if (first && others.length === 0) return { kind: 'held', account: first };
  let isRefused = !first;
  for (const account of all) {
    const answer = await client.call({ account, path });
    if (answer.kind === 'answered') return { kind: 'held', account };
    if (answer.kind !== 'rejected' || !foreign.has(answer.status)) return { kind: 'unknown' };
    isRefused ||= answer.status !== 404;
  }
  return { kind: isRefused ? 'turned_away' : 'absent' };
};

/** The account that knows the object at `path`; null when none reports it. */
export const holderOf = async (caller: Caller, path: string): Promise<Account | null> => {
  const holder = await findHolder(caller, path);
  return holder.kind === 'held' ? holder.account : null;
};

/**
 * Queries one account after the other about an order whose answer was lost, until one has it.
 * `absent` gives the answer of an account that certainly does not; the order is absent only when
 * all of them report that.
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
