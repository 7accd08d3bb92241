/**
 * Sends calls: authorisation, signature, time limits, and retries. Every attempt of a call that
 * creates something has the same idempotency key, so that it takes effect once however often its
 * answer is lost.
 */
import { ApiError, ConnectionError, type FailedCall } from './errors.ts';
import { type Schemas, apiVersion, version } from './schemas.ts';
import { signCall } from './sign.ts';

/* Response bodies that fail when a signal is aborted: `fetch` alone does not ensure that. */

/**
 * The response with a body that fails once the signal is aborted. Node's `fetch` holds a signal
 * weakly: after a garbage collection the read would never end. `onEnd` is called when the body ends
 * in any way.
 */
const boundTo = (signal: AbortSignal, response: Response, onEnd: () => void): Response => {
  const { body, status, statusText, headers } = response;
  if (!body) {
    onEnd();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  body.pipeTo(writable, { signal }).then(onEnd, onEnd);
  return new Response(readable, { status, statusText, headers });
};

/** How a client reaches the service. */
export interface ClientOptions {
  /** `sk_test_...` or `sk_live_...`. */
  readonly apiKey: string;
  /** Where the service is: `https://host`, without a path. */
  readonly baseUrl: string;
  /** The shop's `thm_...` secret: with it every call is signed as a whole. */
  readonly signingSecret?: string | undefined;
  /** How long one attempt may take; 30,000 ms when left out. */
  readonly timeout_ms?: number | undefined;
  /** How often a call is tried again; 5 when left out. */
  readonly retries_max?: number | undefined;
  /** A longer `Retry-After` is not waited for but thrown; 60 s when left out. */
  readonly retryAfterMax_s?: number | undefined;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** What one call may have of its own. */
export interface CallOptions {
  /** Made by the call when left out. Keep your own to repeat a call after your program died. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeout_ms?: number | undefined;
  readonly retries_max?: number | undefined;
}

/** One call, before it is sent. */
export interface Call {
  readonly method: 'GET' | 'POST';
  /** With its parameters filled in. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the route takes an `Idempotency-Key`. */
  readonly takesKey?: boolean;
  readonly options?: CallOptions | undefined;
}

/** Sends a call until it is answered, and gives what `receive` makes of a good answer. */
export type Send = <Answer>(
  call: Call,
  receive: (response: Response) => Promise<Answer>,
) => Promise<Answer>;

const listOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join(',') : String(value);

/** The path with its query, as it stands in the request line. */
const targetOf = ({ path, query }: Call): string => {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, listOf(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
};

/** An attempt that brought no result, and whether another one may. */
interface FailedAttempt {
  readonly again: boolean;
  readonly retryAfter_s: number | null;
  readonly error: Error;
}

/** What a refusal says; null when something else than the service answered. */
const readRefusal = (text: string): Schemas['Error']['error'] | null => {
  try {
    // The description says that every refusal has this body.
    const body = JSON.parse(text) as Partial<Schemas['Error']> | null;
    return typeof body?.error?.code === 'string' ? body.error : null;
  } catch {
    return null;
  }
};

// When a call is sent again, and how long it waits before that.

/** The first wait, which doubles with each attempt up to the longest. */
const first_ms = 250;
const longest_ms = 8_000;

/**
 * Whether an answer asks to be tried again: too many calls (429), not able to answer just now
 * (503), or the same call is still being carried out. Nothing else is: a refusal stays one.
 */
const isTryAgain = (status: number, code: string): boolean =>
  status === 429 || status === 503 || code === 'idempotent_in_progress';

/**
 * How long to wait before attempt `attempt + 1`: what the service asked for, and else twice as long
 * as before, with a random part, so that many callers do not come back at once.
 */
export const waitBefore_ms = (
  attempt: number,
  retryAfter_s: number | null,
  random = Math.random(),
): number => {
  const backoff_ms = Math.min(longest_ms, first_ms * 2 ** (attempt - 1)) * (0.5 + random / 2);
  return Math.round(Math.max(backoff_ms, (retryAfter_s ?? 0) * 1_000));
};

/** The seconds of a `Retry-After`; null without one that is a whole number. */
const readRetryAfter = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;

/** Waits; rejects with the signal's reason when that is aborted meanwhile. */
export const wait = async (ms: number, signal?: AbortSignal): Promise<void> => {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
};

const refusedAttempt = async (response: Response, call: FailedCall): Promise<FailedAttempt> => {
  const { status, headers } = response;
  const refusal = readRefusal(await response.text());
  const retryAfter_s = readRetryAfter(headers.get('retry-after'));
  if (!refusal) {
    const message = `the answer ${status} is not the service's: something between answered`;
    const error = new ConnectionError(message, call);
    return { again: status >= 500 || status === 429, retryAfter_s, error };
  }
  const answer = { ...refusal, status, requestId: headers.get('x-request-id'), retryAfter_s };
  const error = new ApiError(answer, call);
  return { again: isTryAgain(status, refusal.code), retryAfter_s, error };
};

/** What `fetch` is given, apart from where. */
interface Attempt {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly call: FailedCall;
  readonly timeout_ms: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends once. The time limit ends when `receive` has what it wants: the body of a JSON answer, or
 * the head of one that is read while it comes. The caller's signal holds until the body is over.
 */
const attemptOnce = async <Answer>(
  fetch: typeof globalThis.fetch,
  attempt: Attempt,
  receive: (response: Response) => Promise<Answer>,
): Promise<{ readonly answer: Answer } | FailedAttempt> => {
  const { url, method, headers, body, call, timeout_ms, signal } = attempt;
  const ending = new AbortController();
  const abort = (): void => ending.abort(signal?.reason);
  const forget = (): void => signal?.removeEventListener('abort', abort);
  const timer = setTimeout(() => ending.abort(new Error('timeout')), timeout_ms);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    const sent = { method, headers, body, redirect: 'error', signal: ending.signal } as const;
    const response = boundTo(ending.signal, await fetch(url, sent), forget);
    if (!response.ok) return await refusedAttempt(response, call);
    return { answer: await receive(response) };
  } catch (error) {
    forget();
    if (signal?.aborted) throw signal.reason;
    const message = ending.signal.aborted
      ? `no answer within ${timeout_ms} ms`
      : `the connection to ${new URL(url).origin} was refused or lost`;
    return { again: true, retryAfter_s: null, error: new ConnectionError(message, call, error) };
  } finally {
    clearTimeout(timer);
  }
};

/** Whether a text may be a key: a header can carry it. */
export const isApiKey = (text: string): boolean => /^sk_(?:test|live)_[!-~]+$/.test(text);

/**
 * The address of a service; null for what is none. A path would be doubled where it is the API's
 * own, and is nowhere else.
 */
export const readBaseUrl = (text: string): URL | null => {
  if (!URL.canParse(text)) return null;
  const base = new URL(text);
  return /^https?:$/.test(base.protocol) && base.href === `${base.origin}/` ? base : null;
};

/** Whether the service takes a text as `Idempotency-Key`; a header loses spaces at its ends. */
export const isIdempotencyKey = (text: string): boolean =>
  /^[ -~]{1,64}$/.test(text) && text.trim() === text;

const checkOptions = ({ apiKey, baseUrl }: ClientOptions): URL => {
  if (!isApiKey(apiKey)) throw new TypeError('apiKey: expected sk_test_... or sk_live_...');
  const base = readBaseUrl(baseUrl);
  if (!base) throw new TypeError('baseUrl: expected http(s)://host, without a path or query');
  return base;
};

/** The key of a call that takes one. */
const keyOf = ({ takesKey, options }: Call): string | null => {
  if (!takesKey) return null;
  const key = options?.idempotencyKey ?? crypto.randomUUID();
  if (isIdempotencyKey(key)) return key;
  throw new TypeError('idempotencyKey: expected 1 to 64 printable ASCII characters');
};

/** Opens the way to the service. Throws a TypeError when the options cannot be meant. */
export const openTransport = (client: ClientOptions): Send => {
  const base = checkOptions(client);
  return async (call, receive) => {
    const { method, body: given, options = {} } = call;
    const key = keyOf(call);
    const body = given === undefined ? null : JSON.stringify(given);
    const target = targetOf(call);
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': `payment-service-sdk/${version} (api ${apiVersion})`,
      ...call.headers,
      authorization: `Bearer ${client.apiKey}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { 'idempotency-key': key }),
    };
    const signed = async (): Promise<Record<string, string>> => {
      const { signingSecret } = client;
      if (signingSecret === undefined) return headers;
      const signature = await signCall(signingSecret, {
        method,
        target,
        idempotencyKey: key,
        body,
      });
      return { ...headers, 'x-psp-signature': signature };
    };
    const retries_max = options.retries_max ?? client.retries_max ?? 5;
    for (let attempts = 1; ; attempts++) {
      const outcome = await attemptOnce(
        client.fetch ?? globalThis.fetch,
        {
          url: `${base.origin}${target}`,
          method,
          headers: await signed(),
          body,
          call: { attempts, idempotencyKey: key },
          timeout_ms: options.timeout_ms ?? client.timeout_ms ?? 30_000,
          signal: options.signal,
        },
        receive,
      );
      if ('answer' in outcome) return outcome.answer;
      const tooLong = (outcome.retryAfter_s ?? 0) > (client.retryAfterMax_s ?? 60);
      if (!outcome.again || attempts > retries_max || tooLong) throw outcome.error;
      await wait(waitBefore_ms(attempts, outcome.retryAfter_s), options.signal);
    }
  };
};
