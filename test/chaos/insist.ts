/** The calls of a chaos run's merchant and buyers, made until they are answered. */
import { AssertionError } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../support/merchant.ts';

/** How long the client waits for an answer. */
export const patience_ms = 20_000;
const inTime = <Answered>(call: Promise<Answered>): Promise<Answered | null> =>
  Promise.race([call, delay(patience_ms, null, { ref: false })]);

/** Asks again until there is an answer that is not about the service's own state. */
export const insist = async (call: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await inTime(call()).catch((error: unknown) => {
      // An answer came, and is not what the description says.
      if (error instanceof AssertionError) throw error;
      return null;
    });
    const isBusy =
      answer &&
      (answer.status >= 500 ||
        answer.status === 429 ||
        answer.body?.error?.code === 'idempotent_in_progress');
    // A payout that could not be routed is answered with 502: it is done.
    if (answer && (!isBusy || answer.body?.error?.code === 'router_error')) return answer;
    await delay(100);
  }
};

/** What a buyer's browser sends; again until the page answers. */
export const goOn = async (paymentUrl: string, card: object | null): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${paymentUrl}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(paymentUrl).origin },
      body: JSON.stringify(card ? { card } : {}),
      signal: AbortSignal.timeout(patience_ms),
    }).catch(() => null);
    await answer?.arrayBuffer().catch(() => null);
    // 409: an earlier request, whose answer was lost, has opened the session.
    if (answer && (answer.ok || answer.status === 409)) return;
    await delay(100);
  }
};
