/**
 * Calls to T-Bank's API over HTTP: one pool of kept connections, a signature in every message,
 * deadlines. It has no idempotency keys: a call is repeated only where it does nothing twice.
 * Whatever may have reached the bank and has no clear answer is `unknown`. Nothing that is sent or
 * received is logged.
 */
import { boolean, fallback, number, object, safeParse, string, union } from 'valibot';
import { openBankAddress, parsed, unsentBecause } from '../bank-http.ts';
import type { Breaker } from '../breaker.ts';
import type { TBankConfig } from './config.ts';
import { tokenOf } from './token.ts';

type Params = Readonly<Record<string, string | number | object>>;

export interface ApiCall {
  /** The service beside the payments' own. */
  readonly service?: 'cashbox';
  /** The method, as `Init`. */
  readonly method: string;
  readonly params: Params;
  /** It may be repeated: it asks, or what it does twice does no harm. */
  readonly repeatable: boolean;
}

export type ApiAnswer =
  | { readonly kind: 'answered'; readonly body: unknown }
  /** It did not do what was asked, for the reason `code`. */
  | { readonly kind: 'rejected'; readonly code: string; readonly body: unknown }
  /** It surely never left us, or our own account was turned away. */
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

/** What every answer has; `ErrorCode` is why it did not do what was asked. */
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

/** Opens the client; nothing is called until it is asked to. */
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
