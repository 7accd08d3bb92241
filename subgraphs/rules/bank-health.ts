/** How calls to banks are counted over time. */

/** Calls are counted by so many minutes. */
export const healthBucket_min = 5;

/**
 * The bounds within which durations of answered calls are counted, in milliseconds: a duration is
 * known as precisely as they lie apart.
 */
export const healthBounds_ms = [
  25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000,
] as const;

/** The column that counts the answers within a bound. */
export const withinColumn = (bound_ms: number): string => `within_${bound_ms}_ms`;

/**
 * What a breaker does: it lets calls through, withholds them, or lets the next one through as a
 * trial.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';
