/**
 * Notifications to the merchant: repeated until they are accepted, and on demand doubled, reordered
 * or lost.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Faults } from './faults.ts';

/** A notification that is held goes out after the next one, or after so long when there is none. */
const held_max_ms = 1_000;
const tries = [50, 200, 1_000, 3_000];

const headers = { 'content-type': 'application/json' };

/** Whether an answer to a notification accepts it. */
type IsAccepted = (status: number, text: string) => boolean;

const post = async (url: string, body: string, isAccepted: IsAccepted): Promise<void> => {
  for (const wait_ms of tries) {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(5_000),
    }).catch(() => null);
    if (answer && isAccepted(answer.status, await answer.text())) return;
    await delay(wait_ms);
  }
};

/** Sends one to an address; without an address nothing is sent. */
export type Notify = (url: string | null, notification: object) => void;

/** Opens the sender. */
export const openCallbacks = (faults: Faults, isAccepted: IsAccepted): Notify => {
  let held: { readonly url: string; readonly body: string } | null = null;
  const release = (): void => {
    if (held) void post(held.url, held.body, isAccepted);
    held = null;
  };
  return (url, notification) => {
    if (url === null) return;
    const body = JSON.stringify(notification);
    const fault = faults.ofCallback();
    if (fault === 'lost') return;
    if (fault === 'reordered' && !held) {
      const one = { url, body };
      held = one;
      setTimeout(() => held === one && release(), held_max_ms).unref();
      return;
    }
    const copies = fault === 'duplicate' ? 3 : 1;
    for (let copy = 0; copy < copies; copy++) void post(url, body, isAccepted);
    release();
  };
};
