/** Sends an event to a local program, as the service sends a webhook. */
import { wait } from '../retry.ts';
import { signWebhook } from '../webhooks.ts';
import type { LoggedText } from './log-text.ts';
import { version } from '../version.ts';

/** The receiver's answer; null while there is none. */
export interface Forwarded {
  readonly status: number | null;
  readonly took_ms: number;
  readonly attempt: number;
}

/** The same deadline as the service's deliveries. */
const timeout_ms = 15_000;
/** How often an answer other than 2xx is retried. */
const refusals_max = 3;
const longest_ms = 5_000;

const post = async (
  url: string,
  secret: string,
  event: LoggedText,
  stopped: AbortSignal,
): Promise<number | null> => {
  const signature = await signWebhook(event.text, secret);
  const headers = {
    'content-type': 'application/json',
    'user-agent': `psp-listen/${version}`,
    'x-psp-event-id': event.id,
    'x-psp-signature': signature,
    'x-psp-timestamp': /^t=(\d+)/.exec(signature)?.[1] ?? '',
  };
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(timeout_ms), stopped]);
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: event.text,
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
};

const isTaken = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/**
 * Sends an event until it is accepted: forever without an answer, since the receiver may be
 * restarting, and three times when the answer is not 2xx. `report` receives each answer, and the
 * first attempt without one. False when it was stopped before.
 */
export const forward = async (
  url: string,
  secret: string,
  event: LoggedText,
  {
    stopped,
    report,
  }: { readonly stopped: AbortSignal; readonly report: (forwarded: Forwarded) => void },
): Promise<boolean> => {
  let refusals = 0;
  for (let attempt = 1; !stopped.aborted; attempt++) {
    const began_ms = performance.now();
    const status = await post(url, secret, event, stopped);
    if (stopped.aborted) return false;
    if (status !== null || attempt === 1)
      report({ status, took_ms: Math.round(performance.now() - began_ms), attempt });
    if (isTaken(status)) return true;
    if (status !== null && ++refusals >= refusals_max) return true;
    await wait(Math.min(longest_ms, 250 * 2 ** Math.min(attempt, 6)), stopped).catch(() => {});
  }
  return false;
};
