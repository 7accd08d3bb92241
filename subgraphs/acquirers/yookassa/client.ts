/**
 * Calls to YooKassa's API over HTTP: one pool of kept connections, Basic authorisation, deadlines,
 * an idempotency key on every POST. A call that may have reached the bank and has no clear answer
 * is `unknown`. Requests and answers are not logged: they may hold a card.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../bank-accounts.ts';
import { is, number, object, parse, string } from 'valibot';
import { openBankAddress, parsed, unsentBecause, orNull, part } from '../bank-http.ts';
import type { Breaker } from '../breaker.ts';
import type { YooKassaConfig } from './config.ts';

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
  | { readonly kind: 'unreached' }
  | { readonly kind: 'unknown' };

export interface Client {
  call(call: ApiCall): Promise<ApiAnswer>;
  close(): Promise<void>;
}

const call_max_ms = 10_000;
const retry_max_ms = 2_000;
const retryUsual_ms = 300;

/** Statuses that mean that nothing was accepted; others may follow an effect. */
const rejecting: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410, 415, 422]);

interface Attempt {
  readonly answer: ApiAnswer;
  /** How long the bank asks to wait before the call is repeated. */
  readonly retryAfter_ms: number | null;
}

/** An answer that is not 200. */
const problem = part({
  code: orNull(string()),
  parameter: orNull(string()),
  retry_after: orNull(number()),
});

const read = (status: number, body: unknown): Attempt => {
  if (status === 200 && is(object({}), body))
    return { answer: { kind: 'answered', body }, retryAfter_ms: null };
  const { code, parameter, retry_after: wait } = parse(problem, body);
  if (rejecting.has(status)) {
    return {
      answer: {
        kind: 'rejected',
        status,
        code: code ?? String(status),
        parameter,
        isCertain: true,
      },
      retryAfter_ms: null,
    };
  }
  return {
    answer: { kind: 'unknown' },
    retryAfter_ms: wait !== null && wait >= 0 ? wait : retryUsual_ms,
  };
};

const broken = (error: unknown): Attempt => ({
  answer: { kind: unsentBecause(error) ? 'unreached' : 'unknown' },
  retryAfter_ms: retryUsual_ms,
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

/** Opens the client; makes no call until it is used. */
export const openClient = (
  { url, attempt_ms }: Pick<YooKassaConfig, 'url' | 'attempt_ms'>,
  breaker: Breaker,
): Client => {
  const { pool, base } = openBankAddress(url);

  const attempt = async (
    { account, path, query = {}, post, signal }: ApiCall,
    deadline: AbortSignal,
  ): Promise<Attempt> => {
    const authorization = `Basic ${Buffer.from(`${account.id}:${account.secret}`).toString('base64')}`;
    const signals = [deadline, AbortSignal.timeout(attempt_ms), ...(signal ? [signal] : [])];
    const response = await pool.request({
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
    return read(response.statusCode, parsed(await response.body.text()));
  };

  const once = async (call: ApiCall, deadline: AbortSignal): Promise<Attempt> => {
    if (!breaker.lets()) return { answer: { kind: 'unreached' }, retryAfter_ms: null };
    const ended = await attempt(call, deadline).catch(broken);
    breaker.note(ended.answer.kind === 'answered' || ended.answer.kind === 'rejected');
    return ended;
  };

  return {
    call: async (call) => {
      const deadline = AbortSignal.timeout(call_max_ms);
      const first = await once(call, deadline);
      const { retryAfter_ms } = first;
      if (retryAfter_ms === null || retryAfter_ms > retry_max_ms) return first.answer;
      // The same call under the same key: it cannot be done twice.
      await delay(retryAfter_ms);
      if (deadline.aborted || call.signal?.aborted) return first.answer;
      return together(first.answer, (await once(call, deadline)).answer);
    },
    close: () => pool.destroy(),
  };
};
