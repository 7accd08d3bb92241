/**
 * Calls to T-Bank's API over HTTP: one pool of kept connections, a signature in every message,
 * deadlines. It has no idempotency keys: a call is repeated only where a second effect is
 * impossible. A call that may have reached the bank and has no clear answer is `unknown`. Requests
 * and answers are not logged.
 */
import { boolean, fallback, number, object, safeParse, string, union } from 'valibot';
import { openBankAddress, parsed, unsentBecause } from '../bank-http.ts';
import type { Breaker } from '../breaker.ts';
import type { TBankConfig } from './config.ts';
import { tokenOf } from './token.ts';

type Params = Readonly<Record<string, string | number | object>>;

export interface ApiCall {
  /** A separate service from that of payments. */
  readonly service?: 'cashbox';
  /** The method, as `Init`. */
  readonly method: string;
  readonly params: Params;
  /** It may be repeated: it is a query, or repeating it is harmless. */
  readonly repeatable: boolean;
}

export type ApiAnswer =
  | { readonly kind: 'answered'; readonly body: unknown }
  /** It did not execute the request, for the reason `code`. */
  | { readonly kind: 'rejected'; readonly code: string; readonly body: unknown }
  /** It certainly never left us, or our own account was rejected. */
  | { readonly kind: 'unaccepted'; readonly code: string }
  | { readonly kind: 'unknown' };

export interface Client {
  call(call: ApiCall): Promise<ApiAnswer>;
  /** Reads what needs no signature, at a path after the base address. */
  read(path: string): Promise<ApiAnswer>;
  close(): Promise<void>;
}

const headers = { 'content-type': 'application/json' };

/** Codes about our own terminal: it is unknown or blocked, or the token is wrong. */
const aboutUs: ReadonlySet<string> = new Set(['202', '204', '205', '501']);

/** The fields of every answer; `ErrorCode` is the reason why it did not execute the request. */
const outcome = object({
  Success: boolean(),
  ErrorCode: fallback(union([string(), number()]), 'unknown'),
});

const read = (status: number, body: unknown): ApiAnswer => {
  if (status === 401 || status === 403) return { kind: 'unaccepted', code: String(status) };
  // A list is the answer of GetCardList.
  if (status === 200 && Array.isArray(body)) return { kind: 'answered', body };
  const { success, output } = safeParse(outcome, body);
  if (status !== 200 || !success) return { kind: 'unknown' };
  if (output.Success) return { kind: 'answered', body };
  const code = String(output.ErrorCode);
  return aboutUs.has(code) ? { kind: 'unaccepted', code } : { kind: 'rejected', code, body };
};

/** Opens the client; makes no call until it is used. */
export const openClient = (
  { url, terminal, password, attempt_ms }: TBankConfig,
  breaker: Breaker,
): Client => {
  const { pool, base } = openBankAddress(url);
  const cashbox = base.replace(/\/v2$/, '/cashbox');

  const attempt = async (path: string, params: Params | null): Promise<ApiAnswer> => {
    if (!breaker.lets()) return { kind: 'unaccepted', code: 'breaker_open' };
    const message = params && { ...params, TerminalKey: terminal };
    const request = {
      path,
      signal: AbortSignal.timeout(attempt_ms),
      ...(message
        ? {
            method: 'POST',
            headers,
            body: JSON.stringify({ ...message, Token: tokenOf(message, password) }),
          }
        : { method: 'GET' }),
    };
    try {
      const response = await pool.request(request);
      const answer = read(response.statusCode, parsed(await response.body.text()));
      breaker.note(answer.kind !== 'unknown');
      return answer;
    } catch (error) {
      breaker.note(false);
      const unsent = unsentBecause(error);
      return unsent ? { kind: 'unaccepted', code: unsent } : { kind: 'unknown' };
    }
  };

  const twice = async (path: string, params: Params | null): Promise<ApiAnswer> => {
    const first = await attempt(path, params);
    if (first.kind !== 'unknown') return first;
    const second = await attempt(path, params);
    return second.kind === 'unaccepted' ? first : second;
  };

  return {
    call: ({ service, method, params, repeatable }) =>
      (repeatable ? twice : attempt)(`${service ? cashbox : base}/${method}`, params),
    read: (path) => twice(`${base}${path}`, null),
    close: () => pool.destroy(),
  };
};
