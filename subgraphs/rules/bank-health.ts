/** How calls to banks are counted over time. */

/** Calls are counted by so many minutes. */
export const healthBucket_min = 5;

/** Of each process's calls in these minutes, the durations of the last answers are kept. */
export const durationsKept = 100;

/**
 * What a breaker does: it lets calls through, withholds them, or lets the next one through as a
 * trial.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';
