/**
 * Token buckets: decision D-08. A bucket holds `burst` tokens and gains `perSecond` of them each
 * second; a request takes one or, for what costs more, several. All that is kept of a bucket is the
 * moment at which it will be full again; what it lacks until then is its debt, in microseconds. A
 * token's worth is rounded to the microsecond.
 */

/**
 * How fast requests may come: `burst` at once, `perSecond` in the long run. Both are positive
 * integers.
 */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** What became of a request for a token. */
export interface Taken {
  readonly granted: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again, rounded up. */
  readonly reset_s: number;
  /**
   * Seconds until there are as many tokens as were asked for, rounded up and at least 1; 0 when
   * they were granted.
   */
  readonly retryAfter_s: number;
}

/** Buckets by name, wherever they are kept. */
export interface Buckets {
  /**
   * Takes tokens out of the bucket, one when nothing else is said, all or none. Null when the store
   * cannot say.
   */
  take(name: string, limit: RateLimit, tokens?: number): Taken | null | Promise<Taken | null>;
  close(): void;
}

/** What one token is worth, in microseconds. */
export const token_us = ({ perSecond }: RateLimit): number => Math.round(1_000_000 / perSecond);

/** What a bucket with this debt, after the attempt to take `tokens`, tells its caller. */
export const takenOf = (granted: boolean, debt_us: number, limit: RateLimit, tokens = 1): Taken => {
  const token = token_us(limit);
  const left_us = token * limit.burst - debt_us;
  return {
    granted,
    remaining: Math.max(0, Math.floor(left_us / token)),
    reset_s: Math.ceil(debt_us / 1_000_000),
    retryAfter_s: granted ? 0 : Math.max(1, Math.ceil((token * tokens - left_us) / 1_000_000)),
  };
};
