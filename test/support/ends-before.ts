import { setTimeout as delay } from 'node:timers/promises';

/**
 * Whether work ends before a timer that starts with it. The timer is of the same process, so a busy
 * machine holds up both: it is for what otherwise waits for longer by far, or for ever.
 */
export const endsBefore = async (timer_ms: number, work: Promise<unknown>): Promise<boolean> => {
  const over = new AbortController();
  const late = delay(timer_ms, false, { signal: over.signal }).catch(() => false);
  const ended = await Promise.race([work.then(() => true), late]);
  over.abort();
  return ended;
};
