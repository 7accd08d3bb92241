/** When a call is sent again, and how long it waits before that. */

/** The first wait, which doubles with each attempt up to the longest. */
const first_ms = 250;
const longest_ms = 8_000;

/**
 * Whether an answer asks to be tried again: too many calls (429), not able to answer just now
 * (503), or the same call is still being carried out. Nothing else is: a refusal stays one.
 */
export const isTryAgain = (status: number, code: string): boolean =>
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
export const readRetryAfter = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;

/** Waits; rejects with the signal's reason when that is aborted meanwhile. */
export const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
