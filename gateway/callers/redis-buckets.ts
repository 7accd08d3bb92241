/**
 * Token buckets of all processes, in Redis: one script call for each request, by Redis' own clock.
 * When Redis is unavailable or slow, no request waits for it: the answer is null at once, a metric
 * counts it, and an occasional call probes whether Redis is back.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter } from 'prom-client';
import * as v from 'valibot';
import { connectRedis } from '../../subgraphs/platform/bus/connect-redis.ts';
import { readAs } from '../../subgraphs/platform/bus/process-messages.ts';
import { watchOutage } from '../../subgraphs/platform/tracing/outage.ts';
import { type Logger, metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { AddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import {
  type Buckets,
  limitBy,
  openBucketsInMemory,
  type RateLimiter,
  takeResult,
  token_us,
} from './admit-caller.ts';

/** The pause after a failed call, before one more call probes Redis. */
const retryPause_ms = 250;
/** How long a start waits for the connection. Requests before that are not limited. */
const connectWait_ms = 2_000;
const reconnect_min_ms = 50;
const reconnect_max_ms = 1_000;
/** A connection that is silent for this long while an answer is due is replaced. */
const socketTimeout_ms = 2_000;

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

/** Tracks whether the store may be called: while it is lost, one call after each pause may probe it. */
const watchStore = (log: Logger) => {
  const outage = watchOutage('store of the rate limiter, without which nothing is limited,', log);
  let retryAt_ms: number | null = null;
  return {
    mayCall: (): boolean => {
      if (retryAt_ms === null) return true;
      const now = performance.now();
      if (now < retryAt_ms) return false;
      retryAt_ms = now + retryPause_ms;
      return true;
    },
    answered: (): void => {
      retryAt_ms = null;
      outage.ended();
    },
    lost: (error: unknown): void => {
      retryAt_ms = performance.now() + retryPause_ms;
      outage.began(error);
    },
    silence: outage.silence,
  };
};

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
