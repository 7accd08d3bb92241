/**
 * Calls to T-Bank's API over HTTP: one pool of kept connections, a signature in every message,
 * deadlines. It has no idempotency keys: a call is repeated only where a second effect is
 * impossible. A call that may have reached the bank and has no clear answer is `unknown`. Requests
 * and answers are not logged.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { integer, oneOf, text, url, type Reader } from '../../platform/config/read-variables.ts';
import { openBankApi } from '../bank-http.ts';

type Params = Readonly<Record<string, string | number | object>>;

export type ApiAnswer =
  | { readonly kind: 'answered'; readonly body: unknown }
  /** It did not execute the request, for the reason `code`. */
  | { readonly kind: 'rejected'; readonly code: string; readonly body: unknown }
  /** It certainly never left us, or our own account was rejected. */
  | { readonly kind: 'unaccepted'; readonly code: string }
  | { readonly kind: 'unknown' };

const headers = { 'content-type': 'application/json' };

/** Codes about our own terminal: it is unknown or blocked, or the token is wrong. */
const aboutUs: ReadonlySet<string> = new Set(['202', '204', '205', '501']);

/** The fields of every answer; `ErrorCode` is the reason why it did not execute the request. */
const outcome = v.object({
  Success: v.boolean(),
  ErrorCode: v.fallback(v.union([v.string(), v.number()]), 'unknown'),
});

const read = (status: number, body: unknown): ApiAnswer => {
  if (status === 401 || status === 403) return { kind: 'unaccepted', code: String(status) };
  // A list is the answer of GetCardList.
  if (status === 200 && Array.isArray(body)) return { kind: 'answered', body };
  const { success, output } = v.safeParse(outcome, body);
  if (status !== 200 || !success) return { kind: 'unknown' };
  if (output.Success) return { kind: 'answered', body };
  const code = String(output.ErrorCode);
  return aboutUs.has(code) ? { kind: 'unaccepted', code } : { kind: 'rejected', code, body };
};

const missed = (unsentBecause: string | null): ApiAnswer =>
  unsentBecause === null ? { kind: 'unknown' } : { kind: 'unaccepted', code: unsentBecause };

// How T-Bank is reached, and as which terminal: the variables TBANK_*.

/** What registers the terminal's receipts. */
export interface CashRegister {
  /** Its format of fiscal documents. */
  readonly ffd: '1.05' | '1.2';
  /** The tax system of receipts that name none: 1 to 6, as in theirs; null: those are refused. */
  readonly taxSystem: number | null;
}

/** Mistakes are added to the reading's. Null: this installation has no terminal. */
export const readTBank = (reader: Reader) => {
  const { terminal, password, ffd, taxSystem, ...reached } = reader.read({
    url: ['TBANK_URL', url('https:', 'http:'), 'https://securepay.tinkoff.ru/v2'],
    /** The platform's terminal, which serves all merchants that are routed here. */
    terminal: ['TBANK_TERMINAL_KEY', text],
    password: ['TBANK_PASSWORD', text],
    /** How long one attempt of a call may take; a call has at most two. */
    attempt_ms: ['TBANK_TIMEOUT_MS', integer(100, 4_500), '4000'],
    /** How many days a hold lasts, the day of its authorisation among them. */
    hold_d: ['TBANK_HOLD_DAYS', integer(1, 30), '7'],
    /** The format of the terminal's cash register; null: it has none. */
    ffd: ['TBANK_FFD', oneOf('1.05', '1.2')],
    taxSystem: ['TBANK_TAX_SYSTEM', integer(1, 6)],
  });
  if ((terminal === null) !== (password === null))
    reader.mistakes.push('TBANK_TERMINAL_KEY and TBANK_PASSWORD are required together');
  if (terminal === null || password === null) return null;
  const register: CashRegister | null = ffd === null ? null : { ffd, taxSystem };
  return { terminal, password, register, ...reached };
};
export type TBankConfig = NonNullable<ReturnType<typeof readTBank>>;

// T-Bank's signature: SHA-256 over the values of a message's own fields and the terminal's
// password, in the order of their names. Objects and lists in a message are not signed.

type Fields = Readonly<Record<string, unknown>>;

/** The `Token` of a message with these fields: 64 hexadecimal digits. */
export const tokenOf = (message: Fields, password: string): string => {
  const own = Object.entries<unknown>({ ...message, Password: password }).flatMap(
    ([name, value]): [string, string][] => {
      const isSigned =
        name !== 'Token' &&
        (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean');
      return isSigned ? [[name, String(value)]] : [];
    },
  );
  const inOrder = own.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(inOrder.map(([, value]) => value).join(''))
    .digest('hex');
};

/** Whether a message carries the token that its fields and our password make. */
export const hasToken = (message: Fields, password: string): boolean => {
  const { Token: token } = message;
  if (typeof token !== 'string' || !/^[0-9a-fA-F]{64}$/.test(token)) return false;
  return timingSafeEqual(Buffer.from(token, 'hex'), Buffer.from(tokenOf(message, password), 'hex'));
};

/** The connector's name: in routes and before the bank's own codes. */
export const connector = 'tbank';

/** Opens the client; makes no call until it is used. */
export const openClient = ({ url: address, terminal, password, attempt_ms }: TBankConfig) => {
  const { base, close, ...api } = openBankApi(connector, address, { read, missed });
  const cashbox = base.replace(/\/v2$/, '/cashbox');

  const attempt = (path: string, params: Params | null): Promise<ApiAnswer> => {
    const signal = AbortSignal.timeout(attempt_ms);
    if (!params) return api.attempt({ path, signal, method: 'GET' });
    const message = { ...params, TerminalKey: terminal };
    const body = JSON.stringify({ ...message, Token: tokenOf(message, password) });
    return api.attempt({ path, signal, method: 'POST', headers, body });
  };

  const twice = async (path: string, params: Params | null): Promise<ApiAnswer> => {
    const first = await attempt(path, params);
    if (first.kind !== 'unknown') return first;
    const second = await attempt(path, params);
    return second.kind === 'unaccepted' ? first : second;
  };

  return {
    /** Calls a method, as `CheckOrder`, which is a query, or whose repetition is harmless. */
    call: (method: string, params: Params) => twice(`${base}/${method}`, params),
    /** Calls a method that must not be repeated. */
    callOnce: (method: string, params: Params) => attempt(`${base}/${method}`, params),
    /** The same of the service of receipts. */
    callCashbox: (method: string, params: Params) => attempt(`${cashbox}/${method}`, params),
    /** Reads what needs no signature, at a path after the base address. */
    read: (path: string) => twice(`${base}${path}`, null),
    close,
  };
};
export type Client = ReturnType<typeof openClient>;
