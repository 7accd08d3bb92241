/** Notifications to the merchant: unsigned, repeated until they are answered 200, and on demand doubled, reordered or lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Faults } from './faults.ts';

const tries = [50, 200, 1_000, 3_000];

const post = async (url: string, body: string): Promise<boolean> => {
  for (const wait_ms of tries) {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(5_000) }).catch(
      () => null,
    );
    await answer?.arrayBuffer();
    if (answer?.ok) return true;
    await delay(wait_ms);
  }
  return false;
};

/** Opens the sender. Without an address nothing is told. */
export const openCallbacks = (urlOf: () => string | null, faults: Faults): ((event: string, view: object) => void) => {
  let held: string | null = null;
  return (event, view) => {
    const url = urlOf();
    if (url === null) return;
    const body = JSON.stringify({ type: 'notification', event, object: view });
    const fault = faults.ofCallback();
    if (fault === 'lost') return;
    // A notification that is held goes out after the next one.
    if (fault === 'reordered' && held === null) {
      held = body;
      return;
    }
    const bodies = [body, ...(held === null ? [] : [held]), ...(fault === 'duplicate' ? [body, body] : [])];
    held = null;
    for (const each of bodies) void post(url, each);
  };
};
