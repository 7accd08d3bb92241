/** Notifications to the merchant: unsigned, repeated until they are answered 200, and on demand doubled, reordered or lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Faults } from './faults.ts';

/** A notification that is held goes out after the next one, or after so long when there is none. */
const heldMost_ms = 1_000;
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
  const release = (url: string): void => {
    if (held !== null) void post(url, held);
    held = null;
  };
  return (event, view) => {
    const url = urlOf();
    if (url === null) return;
    const body = JSON.stringify({ type: 'notification', event, object: view });
    const fault = faults.ofCallback();
    if (fault === 'lost') return;
    if (fault === 'reordered' && held === null) {
      held = body;
      setTimeout(() => held === body && release(url), heldMost_ms).unref();
      return;
    }
    const copies = fault === 'duplicate' ? 3 : 1;
    for (let copy = 0; copy < copies; copy++) void post(url, body);
    release(url);
  };
};
