/**
 * Limits how often merchants may call, and how often an address may fail to authenticate (before
 * the key). The counts are in Redis for all processes, else in the memory of the one.
 */
import type { IncomingMessage } from 'node:http';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import * as v from 'valibot';
import type { RefusalCode } from '../../subgraphs/rules/refusal.ts';
import { type Logger, metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import { networkOf, type AddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import { takeResult, token_us, type Buckets, type RateLimit, type TakeResult } from './limits.ts';
import { connectRedis } from '../../subgraphs/platform/bus/connect-redis.ts';
import { readAs } from '../../subgraphs/platform/bus/process-messages.ts';

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

/*
 * Token buckets of all processes, in Redis: one script call for each request, by Redis' own clock.
 * When Redis is unavailable or slow, no request waits for it: the answer is null at once, a metric
 * counts it, and an occasional call probes whether Redis is back.
 */

/** The pause after a failed call, before one more call probes Redis. */
const retryPause_ms = 250;
/** How long a start waits for the connection. Requests before that are not limited. */
const connectWait_ms = 2_000;
const reconnect_min_ms = 50;
const reconnect_max_ms = 1_000;
/** A connection that is silent for this long while an answer is due is replaced. */
const socketTimeout_ms = 2_000;
/** An outage is over after this long without a failure. */
const recovery_ms = 1_000;

/** The same arithmetic as in memory. The key lives until the bucket is full. */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local token = tonumber(ARGV[1])
local most = token * tonumber(ARGV[2])
local debt = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or now) - now, 0), most)
local price = token * tonumber(ARGV[3])
local granted = 0
if debt + price <= most then
  granted = 1
  debt = debt + price
end
redis.call('SET', KEYS[1], string.format('%.0f', now + debt), 'PX', math.ceil(debt / 1000))
return {granted, debt}`;
const scriptDigest = createHash('sha1').update(script).digest('hex');

const unavailable = new Counter({
  name: 'rate_limiter_unavailable_total',
  help: 'Requests that were not rate limited because the store of the rate limiter was unavailable or slow.',
  registers: [metrics],
});

interface RedisBucketsDeps {
  readonly url: string;
  /** How long a request waits for Redis. */
  readonly wait_ms: number;
  readonly log: Logger;
}

/**
 * Opens the buckets. Fulfils although Redis is unavailable: until it is there, nothing is limited.
 */
export const openBucketsInRedis = async ({
  url,
  wait_ms,
  log,
}: RedisBucketsDeps): Promise<Buckets> => {
  const redis = connectRedis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: connectWait_ms,
    socketTimeout: socketTimeout_ms,
    retryStrategy: (attempts: number) => Math.min(attempts * reconnect_min_ms, reconnect_max_ms),
  });
  const outage = watchStore(log);
  redis.on('error', outage.lost);
  await Promise.race([
    new Promise((resolve) => redis.once('ready', resolve)),
    sleep(connectWait_ms, null, { ref: false }),
  ]);

  const runScript = async (key: string, { token, burst, tokens }: Price): Promise<unknown> => {
    try {
      return await redis.evalsha(scriptDigest, 1, key, token, burst, tokens);
    } catch (error) {
      // Redis loses its scripts when it restarts.
      if (error instanceof Error && error.message.startsWith('NOSCRIPT'))
        return redis.eval(script, 1, key, token, burst, tokens);
      throw error;
    }
  };
  return {
    take: async (name, limit, tokens = 1) => {
      if (!outage.mayCall()) return passUnlimited();
      try {
        const [granted, debt_us] = readAs(
          scriptAnswer,
          await withTimeout(
            runScript(`rate:${name}`, { token: token_us(limit), burst: limit.burst, tokens }),
            wait_ms,
          ),
          'Redis',
        );
        outage.answered();
        return takeResult(granted === 1, debt_us, limit, tokens);
      } catch (error) {
        outage.lost(error);
        return passUnlimited();
      }
    },
    close: () => {
      outage.silence();
      redis.disconnect();
    },
  };
};

/** Whether the tokens were granted, and the debt in microseconds. */
const scriptAnswer = v.tuple([v.number(), v.number()]);

interface Price {
  /** What a token is worth, in microseconds. */
  readonly token: number;
  readonly burst: number;
  readonly tokens: number;
}

const passUnlimited = (): null => {
  unavailable.inc();
  return null;
};

/**
 * The answer, if it comes in time. An answer that arrived while this process was busy counts as in
 * time.
 */
const withTimeout = <Answer>(answer: Promise<Answer>, wait_ms: number): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`Redis did not answer within ${wait_ms} ms`));
    // Timers run before sockets are read; the immediate runs after that.
    const timer = setTimeout(() => setImmediate(late), wait_ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/**
 * Tracks whether the store may be called. One line is logged when it is lost and one when it is
 * back; while it is lost, one call after each pause may probe it.
 */
const watchStore = (log: Logger) => {
  let pausing = false;
  let retryAt_ms = 0;
  let lastFailureAt_ms = 0;
  let lostAt_ms: number | null = null;
  let silent = false;
  return {
    mayCall: (): boolean => {
      if (!pausing) return true;
      const now = performance.now();
      if (now < retryAt_ms) return false;
      retryAt_ms = now + retryPause_ms;
      return true;
    },
    answered: (): void => {
      pausing = false;
      if (lostAt_ms === null || performance.now() - lastFailureAt_ms < recovery_ms) return;
      log.info(
        { lost_ms: Math.round(lastFailureAt_ms - lostAt_ms) },
        'the rate limiter store is available again',
      );
      lostAt_ms = null;
    },
    lost: (error: unknown): void => {
      if (silent) return;
      pausing = true;
      lastFailureAt_ms = performance.now();
      retryAt_ms = lastFailureAt_ms + retryPause_ms;
      if (lostAt_ms !== null) return;
      lostAt_ms = lastFailureAt_ms;
      log.error(
        { err: error },
        'the rate limiter store is unavailable; requests are not limited until it returns',
      );
    },
    silence: (): void => void (silent = true),
  };
};

/** Failed authentications of one address. Successful ones cost nothing. */
export const failedAuthentication: RateLimit = { perSecond: 10, burst: 100 };
const failures: readonly string[] = [
  'unauthorized',
  'ip_not_allowed',
  'signature_required',
  'invalid_signature',
] satisfies readonly RefusalCode[];
/** Whether a refusal counts against the caller's address as a failed authentication. */
export const costsAddress = ({ code }: { readonly code: string }): boolean =>
  failures.includes(code);
/** How many addresses with recent failures, or that are blocked, are remembered. */
const failedAddresses_max = 10_000;

/** The owner of a bucket, a merchant or a person, and the bucket's size. */
export type RateLimited = ({ readonly merchantId: string } | { readonly person: string }) & {
  readonly rateLimit: RateLimit;
};

/** The limit of each person with a token of the issuer: that of a merchant by default. */
export const personRateLimit: RateLimit = { perSecond: 50, burst: 100 };

interface RateLimiterDeps {
  /** Null when the limits are those of this process alone. */
  readonly redisUrl: string | null;
  /** How long a request waits for Redis before it passes unlimited. */
  readonly wait_ms: number;
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

/** Opens the limiter. It starts although Redis is unavailable. */
export const openRateLimiter = async ({
  redisUrl: url,
  wait_ms,
  addressOf,
  log,
}: RateLimiterDeps): Promise<RateLimiter> =>
  limitBy(
    url === null ? openBucketsInMemory() : await openBucketsInRedis({ url, wait_ms, log }),
    addressOf,
  );

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
