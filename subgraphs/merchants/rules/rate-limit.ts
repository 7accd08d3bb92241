/** A merchant's rate limit: 50 requests a second with bursts of 100 by default. */
import { rateBurst_max, ratePerSecond_max } from '../../../schema/limits.ts';

/** `burst` requests at once, `perSecond` in the long run. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export const defaultRateLimit: RateLimit = { perSecond: 50, burst: 100 };

/** A merchant's stored limits: both, or neither for the default. */
export interface StoredRateLimit {
  readonly ratePerSecond: number | null;
  readonly rateBurst: number | null;
}

/** The limit that holds for a merchant. */
export const rateLimitOf = ({ ratePerSecond, rateBurst }: StoredRateLimit): RateLimit =>
  ratePerSecond === null || rateBurst === null
    ? defaultRateLimit
    : { perSecond: ratePerSecond, burst: rateBurst };

const isWithin = (value: number, max: number): boolean => value >= 1 && value <= max;

/** What is wrong with an operator's limits; null when nothing is. */
export const rateLimitMistake = ({ ratePerSecond, rateBurst }: StoredRateLimit): string | null => {
  if (ratePerSecond === null && rateBurst === null) return null;
  if (ratePerSecond === null || rateBurst === null)
    return 'perSecond and burst: expected both, or neither for the default';
  if (!isWithin(ratePerSecond, ratePerSecond_max))
    return `perSecond: expected an integer from 1 to ${ratePerSecond_max}, got ${ratePerSecond}`;
  return isWithin(rateBurst, rateBurst_max)
    ? null
    : `burst: expected an integer from 1 to ${rateBurst_max}, got ${rateBurst}`;
};
