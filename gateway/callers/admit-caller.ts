/**
 * Admits a caller: of REST, and of the graph over HTTP or a socket. The address's limit is checked before the
 * key, and failed authentications count against the address.
 */
import type { IncomingMessage } from 'node:http';
import { isRefusal, type Refusal, type RefusalCode } from '../../subgraphs/rules/refusal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { authorizationOf, type Authenticator } from './authenticate.ts';
import { type Authenticated, type WatchedConnection, emptyBody, signaturesOf } from './caller.ts';
import { LRUCache } from 'lru-cache';
import { networkOf, type AddressOf } from '../../subgraphs/platform/access/caller-address.ts';

export interface AdmissionDeps {
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'isKnown' | 'checkRequest'>;
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

/**
 * Why a caller was not admitted: a refusal, the seconds that its address is blocked for (at all, or
 * with this key), or null when the key could not be looked up.
 */
export type NotAdmitted = Refusal | { readonly blocked_s: number; readonly keyId?: string } | null;

interface AdmissionRequest extends WatchedConnection {
  /** The raw bytes that the signature covers. */
  readonly body: Uint8Array;
}

/** A request with the credentials in its headers. Its signature covers the body. */
export const shownBy = (request: IncomingMessage, body = emptyBody): AdmissionRequest => ({
  request,
  authorization: authorizationOf(request),
  signatures: signaturesOf(request),
  body,
  arrivedAt_ms: Date.now(),
});

/**
 * The caller of these credentials, or the refusal, as far as it can be decided before the body
 * arrives. Null if the key could not be looked up, which is logged.
 */
export const recogniseCaller = async (
  { request, authorization }: Pick<AdmissionRequest, 'request' | 'authorization'>,
  { authenticator, limiter, log }: AdmissionDeps,
  requestId?: string,
): Promise<Authenticated | NotAdmitted> => {
  const blocked_s = limiter.blocked_s(request);
  if (blocked_s > 0 && !authenticator.isKnown(authorization, request)) return { blocked_s };
  try {
    const caller = await authenticator.ofHeader(authorization, request);
    if (isRefusal(caller)) {
      const nowBlocked_s = costsAddress(caller) ? limiter.countFailure(request) : 0;
      return nowBlocked_s > 0 ? { blocked_s: nowBlocked_s } : caller;
    }
    const keyId = caller.holder?.keyId;
    const keyBlocked_s = keyId === undefined ? 0 : limiter.blocked_s(request, keyId);
    return keyId !== undefined && keyBlocked_s > 0 ? { blocked_s: keyBlocked_s, keyId } : caller;
  } catch (thrown) {
    log.error({ err: thrown, requestId }, 'could not look up a key');
    return null;
  }
};

/** Checks the signature over the body of a recognised caller. */
export const checkCaller = (
  caller: Authenticated,
  admission: AdmissionRequest,
  { authenticator, limiter, log }: AdmissionDeps,
  requestId?: string,
): Authenticated | NotAdmitted => {
  const { holder } = caller;
  if (!holder) return caller;
  try {
    const refusal = authenticator.checkRequest(holder, admission);
    if (refusal === null) return caller;
    const nowBlocked_s = costsAddress(refusal)
      ? limiter.countFailure(admission.request, holder.keyId)
      : 0;
    return nowBlocked_s > 0 ? { blocked_s: nowBlocked_s } : refusal;
  } catch (thrown) {
    log.error({ err: thrown, requestId }, 'could not check a signature');
    return null;
  }
};

export const isAdmitted = (caller: Authenticated | NotAdmitted): caller is Authenticated =>
  caller !== null && 'principal' in caller;

/** Recognises and checks the caller of a request whose body is there. */
export const admitCaller = async (
  admission: AdmissionRequest,
  deps: AdmissionDeps,
  requestId?: string,
): Promise<Authenticated | NotAdmitted> => {
  const caller = await recogniseCaller(admission, deps, requestId);
  return isAdmitted(caller) ? checkCaller(caller, admission, deps, requestId) : caller;
};

/** The result of taking tokens, and the limit of the bucket that they came from. */
interface TokensTaken {
  readonly limit: RateLimit;
  readonly taken: TakeResult;
}

/**
 * Takes the first token of a call, which pays for reading it. Null for the operator's own token,
 * which is not limited.
 */
export const takeToken = async (
  { holder, person }: Authenticated,
  limiter: RateLimiter,
): Promise<TokensTaken | null> => {
  const limited = holder ?? personOf(person);
  return limited && take(limiter, limited, 1);
};

/**
 * Takes what an operation costs beyond the call's first token. Null when it costs no more, or when
 * the caller is not limited. An operation that costs more than a full bucket costs a full one.
 */
export const takeCost = async (
  { holder, person }: Authenticated,
  tokens: number,
  limiter: RateLimiter,
): Promise<TokensTaken | null> => {
  const limited = holder ?? personOf(person);
  const further = Math.min(tokens, limited?.rateLimit.burst ?? 1) - 1;
  if (!limited || further <= 0) return null;
  const { limit, taken } = await take(limiter, limited, further);
  // A retry takes its first token again.
  return {
    limit,
    taken: taken.granted
      ? taken
      : { ...taken, retryAfter_s: taken.retryAfter_s + Math.ceil(1 / limit.perSecond) },
  };
};

const personOf = (person: string | undefined): RateLimited | null =>
  person === undefined ? null : { person, rateLimit: personRateLimit };

const take = async (
  limiter: RateLimiter,
  limited: RateLimited,
  tokens: number,
): Promise<TokensTaken> => ({
  limit: limited.rateLimit,
  taken: await limiter.take(limited, tokens),
});

// Token buckets. A bucket holds `burst` tokens and gains `perSecond` of them each second; a request
// takes one or, when it costs more, several. All that is stored of a bucket is the time at which it
// will be full again; the microseconds until then are its debt. The value of a token is rounded to
// the microsecond.

/**
 * How fast requests may come: `burst` at once, `perSecond` in the long run. Both are positive
 * integers.
 */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TakeResult {
  readonly granted: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again, rounded up. */
  readonly reset_s: number;
  /**
   * Seconds until there are as many tokens as were requested, rounded up and at least 1; 0 when
   * they were granted.
   */
  readonly retryAfter_s: number;
}

export interface Buckets {
  /**
   * Takes tokens out of the bucket, one by default, all or none. Null when the store is
   * unavailable.
   */
  take(
    name: string,
    limit: RateLimit,
    tokens?: number,
  ): TakeResult | null | Promise<TakeResult | null>;
  close(): void;
}

/** The value of one token in microseconds. */
export const token_us = ({ perSecond }: RateLimit): number => Math.round(1_000_000 / perSecond);

/** The result of an attempt to take `tokens` from a bucket that has this debt afterwards. */
export const takeResult = (
  granted: boolean,
  debt_us: number,
  limit: RateLimit,
  tokens = 1,
): TakeResult => {
  const token = token_us(limit);
  const left_us = token * limit.burst - debt_us;
  return {
    granted,
    remaining: Math.max(0, Math.floor(left_us / token)),
    reset_s: Math.ceil(debt_us / 1_000_000),
    retryAfter_s: granted ? 0 : Math.max(1, Math.ceil((token * tokens - left_us) / 1_000_000)),
  };
};

/* Token buckets of one process, for an installation without Redis. */

/** The least recently used buckets are dropped, which refills them. */
const buckets_max = 100_000;

/** Opens the buckets. `now_us` is a monotonic clock in microseconds. */
export const openBucketsInMemory = (now_us: () => number = () => performance.now() * 1_000) => {
  // Bounded by size: `max` would take the room of all of them at once.
  const fullAt = new LRUCache<string, number>({ maxSize: buckets_max, sizeCalculation: () => 1 });
  return {
    take: (name: string, limit: RateLimit, tokens = 1): TakeResult => {
      const now = now_us();
      const token = token_us(limit);
      const capacity = token * limit.burst;
      // A bucket is never more than empty, even after its limit has changed.
      const debt = Math.min(Math.max((fullAt.get(name) ?? now) - now, 0), capacity);
      const price = token * tokens;
      const granted = debt + price <= capacity;
      const owed = granted ? debt + price : debt;
      fullAt.set(name, now + owed);
      return takeResult(granted, owed, limit, tokens);
    },
    close: () => {},
  };
};

// How often merchants may call, and how often an address may fail to authenticate (before the key).
// The counts are in Redis for all processes, else in the memory of the one.

/** Failed authentications of one address. Successful ones cost nothing. */
export const failedAuthentication: RateLimit = { perSecond: 10, burst: 100 };
const failures: readonly string[] = [
  'unauthorized',
  'ip_not_allowed',
  'signature_required',
  'invalid_signature',
] satisfies readonly RefusalCode[];
/** Whether a refusal counts against the caller's address as a failed authentication. */
const costsAddress = ({ code }: { readonly code: string }): boolean => failures.includes(code);
/** How many addresses with recent failures, or that are blocked, are remembered. */
const failedAddresses_max = 10_000;

/** The owner of a bucket, a merchant or a person, and the bucket's size. */
type RateLimited = ({ readonly merchantId: string } | { readonly person: string }) & {
  readonly rateLimit: RateLimit;
};

/** The limit of each person with a token of the issuer: that of a merchant by default. */
export const personRateLimit: RateLimit = { perSecond: 50, burst: 100 };

/**
 * Whether another site's page caused this request in a browser, without credentials and without the
 * marks of our own pages. It then does not count as guessing. Forging the header gains nothing,
 * since no key is looked up.
 */
const isOfForeignPage = ({ headers }: IncomingMessage): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  headers.authorization === undefined &&
  headers['x-console'] === undefined &&
  headers.upgrade === undefined;

export const limitBy = (buckets: Buckets, addressOf: AddressOf) => {
  const blockedUntil_ms = new LRUCache<string, number>({ max: failedAddresses_max });
  const clearedAt_ms = new LRUCache<string, number>({ max: failedAddresses_max });
  const nameOf = (request: IncomingMessage, keyId = ''): string =>
    `address:${networkOf(addressOf(request))}:${keyId}`;
  const token_ms = token_us(failedAuthentication) / 1_000;
  const debt_max_ms = token_ms * failedAuthentication.burst;
  const owed_ms = (name: string, now_ms: number): number =>
    Math.max((clearedAt_ms.get(name) ?? now_ms) - now_ms, 0);
  const countInStore = async (name: string): Promise<void> => {
    const taken = await buckets.take(name, failedAuthentication);
    if (!taken) return;
    const now_ms = performance.now();
    clearedAt_ms.set(name, now_ms + (failedAuthentication.burst - taken.remaining) * token_ms);
    if (taken.remaining === 0)
      blockedUntil_ms.set(name, now_ms + Math.max(token_ms, taken.retryAfter_s * 1_000));
  };
  /**
   * Counts in this process at once, so that the answer to this very failure shows what is left; the
   * store's count replaces it later.
   */
  const countUnder = (name: string): number => {
    const now_ms = performance.now();
    const owed = owed_ms(name, now_ms) + token_ms;
    clearedAt_ms.set(name, now_ms + Math.min(owed, debt_max_ms));
    // The stores do not reject: an unavailable one answers null.
    void countInStore(name);
    return Math.ceil(Math.max(owed - debt_max_ms, 0) / 1_000);
  };
  const blockedFor_s = (name: string): number => {
    const until_ms = blockedUntil_ms.get(name);
    if (until_ms === undefined) return 0;
    const left_ms = until_ms - performance.now();
    if (left_ms > 0) return Math.ceil(left_ms / 1_000);
    blockedUntil_ms.delete(name);
    return 0;
  };
  return {
    /**
     * Takes tokens of a merchant or a person, one by default, all or none. They are granted if the
     * store is unavailable.
     */
    take: ({ rateLimit, ...whose }: RateLimited, tokens = 1): TakeResult | Promise<TakeResult> => {
      const owner = 'person' in whose ? `person:${whose.person}` : `merchant:${whose.merchantId}`;
      const taken = buckets.take(owner, rateLimit, tokens);
      return taken instanceof Promise
        ? taken.then((answer) => answer ?? takeResult(true, 0, rateLimit))
        : (taken ?? takeResult(true, 0, rateLimit));
    },
    /**
     * Seconds until the request's address may authenticate again, at all or with this key, rounded
     * up; 0 when it may now. Makes no call.
     */
    blocked_s: (request: IncomingMessage, keyId?: string): number =>
      blockedUntil_ms.size === 0 ? 0 : blockedFor_s(nameOf(request, keyId)),
    /** What the request's address has left, at all or with this key, as far as is known here. */
    remainingFor: (request: IncomingMessage, keyId?: string): TakeResult => {
      const name = nameOf(request, keyId);
      const left = takeResult(true, owed_ms(name, performance.now()) * 1_000, failedAuthentication);
      return blockedFor_s(name) > 0 ? { ...left, remaining: 0 } : left;
    },
    /**
     * Counts a failed authentication of the request's address: without a good key, or with this one
     * but from elsewhere or with a wrong signature. Gives the seconds until it may try again when
     * this failure was one too many, else 0; a foreign page's call is none. Of several that came at
     * once, all were admitted before the first had failed.
     */
    countFailure: (request: IncomingMessage, keyId?: string): number =>
      isOfForeignPage(request) ? 0 : countUnder(nameOf(request, keyId)),
    close: (): void => buckets.close(),
  };
};
export type RateLimiter = ReturnType<typeof limitBy>;

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers in their last form with three headers
 * (revision 06): whole numbers, and seconds.
 */
export const rateHeaders = (
  { burst }: RateLimit,
  { remaining, reset_s }: TakeResult,
): Readonly<Record<string, string>> => ({
  'ratelimit-limit': String(burst),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset_s),
});

/**
 * The same headers for answers from before a merchant's limit is known: those of the address, or of
 * this key from it. They reveal nothing of the merchant to strangers.
 */
export const addressHeaders = (
  limiter: Pick<RateLimiter, 'remainingFor'>,
  request: IncomingMessage,
  keyId?: string,
): Readonly<Record<string, string>> =>
  rateHeaders(failedAuthentication, limiter.remainingFor(request, keyId));

export const rateMessage = (retryAfter_s: number): string =>
  `too many requests; try again in ${retryAfter_s} second${retryAfter_s === 1 ? '' : 's'}`;
export const blockedMessage = (retryAfter_s: number): string =>
  `too many calls without a valid key from this address; try again in ${retryAfter_s} second${retryAfter_s === 1 ? '' : 's'}`;
