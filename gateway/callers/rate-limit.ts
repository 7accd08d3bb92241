/**
 * How often merchants may call (decision D-08), and how often an address may fail to authenticate
 * (D-09: before the key). In Redis for all processes, else in the memory of the one.
 */
import type { IncomingMessage } from 'node:http';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { openBucketsInMemory } from './buckets-in-memory.ts';
import { openBucketsInRedis } from './buckets-in-redis.ts';
import { networkOf, type AddressOf } from './caller-address.ts';
import { takenOf, token_us, type Buckets, type RateLimit, type Taken } from './token-bucket.ts';

/** Failed authentications of one address. Who succeeds costs nothing. */
export const failedAuthentication: RateLimit = { perSecond: 10, burst: 100 };
/** How many addresses that failed lately, or that may not try just now, are remembered. */
const failedAddresses_max = 10_000;

/** Whose bucket it is, a merchant's or a person's, and how large. */
export type RateLimited = ({ readonly merchantId: string } | { readonly person: string }) & {
  readonly rateLimit: RateLimit;
};

/**
 * Each person who comes with a token of the issuer: as a merchant has it who was given nothing
 * else.
 */
export const personRateLimit: RateLimit = { perSecond: 50, burst: 100 };

export interface RateLimiter {
  /**
   * Takes tokens of a merchant's or a person's, one when nothing else is said, all or none. A store
   * that cannot say grants them, as if none had been taken.
   */
  takeOf(limited: RateLimited, tokens?: number): Taken | Promise<Taken>;
  /**
   * Seconds until the request's address may authenticate again, at all or with this key, rounded
   * up; 0 when it may now. Asks nobody.
   */
  barred_s(request: IncomingMessage, keyId?: string): number;
  /**
   * What is left to the request's address, at all or with this key, as far as this process has
   * heard. Asks nobody.
   */
  leftTo(request: IncomingMessage, keyId?: string): Taken;
  /**
   * The request's address has failed to authenticate: without a good key, or with this one but from
   * elsewhere or with a wrong signature. Gives 0, or the seconds until it may try again when this
   * was one too many: of those that came at once, all were let in before the first had failed.
   */
  failed(request: IncomingMessage, keyId?: string): number;
  close(): void;
}

export interface RateLimiterParts {
  /** Null: the limits are those of this process alone. */
  readonly redisUrl: string | null;
  /** How long a request waits for Redis before it passes. */
  readonly wait_ms: number;
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

/** Opens the limiter. It starts although Redis is away. */
export const openRateLimiter = async ({
  redisUrl: url,
  wait_ms,
  addressOf,
  log,
}: RateLimiterParts): Promise<RateLimiter> =>
  limitBy(
    url === null ? openBucketsInMemory() : await openBucketsInRedis({ url, wait_ms, log }),
    addressOf,
  );

/** A limiter over these buckets. */
export const limitBy = (buckets: Buckets, addressOf: AddressOf): RateLimiter => {
  const barredUntil_ms = new Lru<string, number>(failedAddresses_max);
  const forgivenAt_ms = new Lru<string, number>(failedAddresses_max);
  const nameOf = (request: IncomingMessage, keyId = ''): string =>
    `address:${networkOf(addressOf(request))}:${keyId}`;
  const token_ms = token_us(failedAuthentication) / 1_000;
  const most_ms = token_ms * failedAuthentication.burst;
  const owed_ms = (name: string, now_ms: number): number =>
    Math.max((forgivenAt_ms.get(name) ?? now_ms) - now_ms, 0);
  const countInStore = async (name: string): Promise<void> => {
    const taken = await buckets.take(name, failedAuthentication);
    if (!taken) return;
    const now_ms = performance.now();
    forgivenAt_ms.set(name, now_ms + (failedAuthentication.burst - taken.remaining) * token_ms);
    if (taken.remaining === 0)
      barredUntil_ms.set(name, now_ms + Math.max(token_ms, taken.retryAfter_s * 1_000));
  };
  /**
   * Counts here at once, so that the answer to this very failure says what is left; what the store
   * says then is exact.
   */
  const countFailure = (name: string): number => {
    const now_ms = performance.now();
    const owed = owed_ms(name, now_ms) + token_ms;
    forgivenAt_ms.set(name, now_ms + Math.min(owed, most_ms));
    // The stores do not throw: what they cannot say is null.
    void countInStore(name);
    return Math.ceil(Math.max(owed - most_ms, 0) / 1_000);
  };
  const barredFor_s = (name: string): number => {
    const until_ms = barredUntil_ms.get(name);
    if (until_ms === undefined) return 0;
    const left_ms = until_ms - performance.now();
    if (left_ms > 0) return Math.ceil(left_ms / 1_000);
    barredUntil_ms.delete(name);
    return 0;
  };
  return {
    takeOf: ({ rateLimit, ...whose }, tokens = 1) => {
      const taken = buckets.take(
        'person' in whose ? `person:${whose.person}` : `merchant:${whose.merchantId}`,
        rateLimit,
        tokens,
      );
      return taken instanceof Promise
        ? taken.then((answer) => answer ?? takenOf(true, 0, rateLimit))
        : (taken ?? takenOf(true, 0, rateLimit));
    },
    barred_s: (request, keyId) =>
      barredUntil_ms.size === 0 ? 0 : barredFor_s(nameOf(request, keyId)),
    leftTo: (request, keyId) => {
      const name = nameOf(request, keyId);
      const left = takenOf(true, owed_ms(name, performance.now()) * 1_000, failedAuthentication);
      return barredFor_s(name) > 0 ? { ...left, remaining: 0 } : left;
    },
    failed: (request, keyId) => countFailure(nameOf(request, keyId)),
    close: () => buckets.close(),
  };
};

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers in their last form with three headers
 * (revision 06): whole numbers, and seconds.
 */
export const rateHeaders = (
  { burst }: RateLimit,
  { remaining, reset_s }: Taken,
): Readonly<Record<string, string>> => ({
  'ratelimit-limit': String(burst),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset_s),
});

/**
 * The same fields for what is answered before a merchant's limit is known: those of the address, or
 * of this key from it, which tell a stranger nothing of the merchant.
 */
export const addressHeaders = (
  limiter: Pick<RateLimiter, 'leftTo'>,
  request: IncomingMessage,
  keyId?: string,
): Readonly<Record<string, string>> =>
  rateHeaders(failedAuthentication, limiter.leftTo(request, keyId));

/** What a limited caller is told. */
export const rateMessage = (retryAfter_s: number): string =>
  `too many requests; try again in ${retryAfter_s} second${retryAfter_s === 1 ? '' : 's'}`;
/** What an address is told that failed to authenticate too often. */
export const barredMessage = (retryAfter_s: number): string =>
  `too many calls without a valid key from this address; try again in ${retryAfter_s} second${retryAfter_s === 1 ? '' : 's'}`;
