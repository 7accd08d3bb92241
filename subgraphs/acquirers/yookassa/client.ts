/**
 * Calls to YooKassa's API over HTTP: one pool of kept connections, Basic authorisation, deadlines,
 * an idempotency key on every POST. A call that may have reached the bank and has no clear answer
 * is `unknown`. Requests and answers are not logged: they may hold a card.
 */
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { integer, networks, text, url, type Reader } from '../../platform/config/read-variables.ts';
import type { Account, Accounts } from '../bank-accounts.ts';
import { openBankApi, orNull, part } from '../bank-http.ts';

export interface ApiCall {
  readonly account: Account;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Present: a POST, with its idempotency key of 1 to 64 characters. Equal calls under one key are
   * one operation for 24 hours.
   */
  readonly post?: { readonly key: string; readonly body: object };
  readonly signal?: AbortSignal;
}

interface Missed<Kind> {
  readonly kind: Kind;
  /** How long to wait before the call is repeated; null: it is not. */
  readonly retryAfter_ms: number | null;
}

export type ApiAnswer =
  | { readonly kind: 'answered'; readonly body: unknown }
  /**
   * It was certainly not accepted. `isCertain`: nor was any earlier attempt of this call, whatever
   * the bank answers to this one.
   */
  | {
      readonly kind: 'rejected';
      readonly status: number;
      readonly code: string;
      readonly parameter: string | null;
      readonly isCertain: boolean;
    }
  /** It certainly never left us: no attempt got a connection, or the breaker is open. */
  | Missed<'unreached'>
  | Missed<'unknown'>;

const call_max_ms = 10_000;
const retry_max_ms = 2_000;
const retryUsual_ms = 300;

/** Statuses that mean that nothing was accepted; others may follow an effect. */
const rejecting: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410, 415, 422]);

/** An answer that is not 200. */
const problem = part({
  code: orNull(v.string()),
  parameter: orNull(v.string()),
  retry_after: orNull(v.number()),
});

const read = (status: number, body: unknown): ApiAnswer => {
  if (status === 200 && v.is(v.object({}), body)) return { kind: 'answered', body };
  const { code, parameter, retry_after: wait } = v.parse(problem, body);
  return rejecting.has(status)
    ? { kind: 'rejected', status, code: code ?? String(status), parameter, isCertain: true }
    : { kind: 'unknown', retryAfter_ms: wait !== null && wait >= 0 ? wait : retryUsual_ms };
};

const missed = (unsentBecause: string | null): ApiAnswer => ({
  kind: unsentBecause === null ? 'unknown' : 'unreached',
  retryAfter_ms: unsentBecause === 'breaker_open' ? null : retryUsual_ms,
});

/**
 * The result of a repeated call: the answer to the second attempt proves nothing about the first,
 * when that may have arrived.
 */
const together = (first: ApiAnswer, second: ApiAnswer): ApiAnswer => {
  if (first.kind !== 'unknown') return second;
  switch (second.kind) {
    case 'unreached':
      return first;
    case 'rejected':
      return { ...second, isCertain: false };
    case 'answered':
    case 'unknown':
      return second;
  }
};

// How YooKassa is reached: the variables YOOKASSA_*.

/** The networks that YooKassa publishes as its own. */
const published =
  '185.71.76.0/27 185.71.77.0/27 77.75.153.0/25 77.75.154.128/25 77.75.156.11 77.75.156.35 2a02:5180::/32';

/** An account of the platform; null: merchants need one of their own. */
const readAccount = (reader: Reader, idName: string, secretName: string): Account | null => {
  const { id, secret } = reader.read({ id: [idName, text], secret: [secretName, text] });
  if (id === null && secret === null) return null;
  if (id === null || secret === null)
    reader.mistakes.push(`${idName} and ${secretName} are required together`);
  return { id: id ?? '', secret: secret ?? '' };
};

/** Reads the variables; mistakes are added to the reading's. */
export const readYooKassa = (reader: Reader) => ({
  ...reader.read({
    url: ['YOOKASSA_URL', url('https:', 'http:'), 'https://api.yookassa.ru/v3'],
    /** How long one attempt of a call may take; a call has at most two. */
    attempt_ms: ['YOOKASSA_TIMEOUT_MS', integer(100, 9_000), '8000'],
    /** Whence its notifications are taken. */
    networks: ['YOOKASSA_CALLBACK_NETWORKS', networks, published],
  }),
  shop: readAccount(reader, 'YOOKASSA_SHOP_ID', 'YOOKASSA_SECRET_KEY'),
  payouts: readAccount(reader, 'YOOKASSA_GATEWAY_ID', 'YOOKASSA_GATEWAY_SECRET_KEY'),
});
export type YooKassaConfig = ReturnType<typeof readYooKassa>;

/** The connector's name: in routes, in accounts and before the bank's own codes. */
export const connector = 'yookassa';

/** Opens the client; makes no call until it is used. */
export const openClient = ({
  url: address,
  attempt_ms,
}: Pick<YooKassaConfig, 'url' | 'attempt_ms'>) => {
  const { base, attempt, close } = openBankApi(connector, address, { read, missed });

  const once = (
    { account, path, query = {}, post, signal }: ApiCall,
    deadline: AbortSignal,
  ): Promise<ApiAnswer> => {
    const authorization = `Basic ${Buffer.from(`${account.id}:${account.secret}`).toString('base64')}`;
    const signals = [deadline, AbortSignal.timeout(attempt_ms), ...(signal ? [signal] : [])];
    return attempt({
      method: post ? 'POST' : 'GET',
      path: `${base}${path}`,
      query,
      headers: {
        authorization,
        ...(post ? { 'content-type': 'application/json', 'idempotence-key': post.key } : {}),
      },
      ...(post ? { body: JSON.stringify(post.body) } : {}),
      signal: AbortSignal.any(signals),
    });
  };

  return {
    call: async (call: ApiCall): Promise<ApiAnswer> => {
      const deadline = AbortSignal.timeout(call_max_ms);
      const first = await once(call, deadline);
      const retryAfter_ms = 'retryAfter_ms' in first ? first.retryAfter_ms : null;
      if (retryAfter_ms === null || retryAfter_ms > retry_max_ms) return first;
      // The same call under the same key: it cannot be done twice.
      await delay(retryAfter_ms);
      if (deadline.aborted || call.signal?.aborted) return first;
      return together(first, await once(call, deadline));
    },
    close,
  };
};
export type Client = ReturnType<typeof openClient>;

// The account for a call. New orders go to the merchant's current account. Earlier orders may be at
// another one, when the merchant's account was changed since: then each is queried, and an order is
// not repeated at a second account while the first may have it.

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

/** Finds the account that knows the object at `path`. A single one need not be queried. */
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
