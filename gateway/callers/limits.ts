/**
 * Limits of callers: how many of something each has at the same time, and how fast calls may come,
 * as this process counts or, in Redis, all of them.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import * as v from 'valibot';
import { connectRedis } from '../../subgraphs/platform/bus/connect-redis.ts';
import { readAs } from '../../subgraphs/platform/bus/process-messages.ts';
import { type Logger, metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { OperatorPrincipal, Principal } from '../../subgraphs/platform/access/principal.ts';

/**
 * Opens a limit of `limit` for each name. `take` takes one, and returns what releases it; null when
 * the name has as many as allowed.
 */
export const openNamedQuota = (limit: number) => {
  const taken = new Map<string, number>();
  return {
    take: (name: string): (() => void) | null => {
      const count = taken.get(name) ?? 0;
      if (count >= limit) return null;
      taken.set(name, count + 1);
      let released = false;
      return () => {
        if (released) return;
        released = true;
        const left = (taken.get(name) ?? 1) - 1;
        if (left > 0) taken.set(name, left);
        else taken.delete(name);
      };
    },
  };
};

/** Runs so many at a time for each name; further ones wait, first come, first served. */
export const openTurns = (atOnce: number) => {
  const turns = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const own = turns.get(name) ?? { running: 0, waiting: [] };
    turns.set(name, own);
    if (own.running < atOnce) own.running += 1;
    else await new Promise<void>((resolve) => own.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place is passed on directly, so that a newcomer cannot overtake one that waits.
      const next = own.waiting.shift();
      if (next) next();
      else if (--own.running === 0) turns.delete(name);
    }
  };
};

/**
 * Under which name a call is queued and rated: all keys of a merchant share one, each person has
 * their own.
 */
export const rateOwner = (principal: Principal): string =>
  principal.kind === 'key' ? `merchant ${principal.merchantId}` : callerName(principal);

/**
 * The name of a person among all callers: merchants have people of one name, who are not one
 * another.
 */
export const personName = ({
  merchantId,
  subject,
}: Pick<OperatorPrincipal, 'merchantId' | 'subject'>): string => `${merchantId ?? ''} ${subject}`;

export const callerName = (principal: Principal): string => {
  switch (principal.kind) {
    case 'key':
      return `key ${principal.keyId}`;
    case 'operator':
      return `operator ${personName(principal)}`;
    case 'buyer':
      return `buyer ${principal.merchantId} ${principal.paymentId}`;
    case 'edge':
    case 'service':
      return `${principal.kind} ${principal.name}`;
  }
};

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
