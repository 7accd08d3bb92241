/**
 * Calls a bank about payouts, within a deadline. An error in a call is an unknown answer, never a
 * failure.
 */
import type { PayoutOrderAnswer, RecipientVerdict } from '../acquirers/payout-bank.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import { callDeadline_s } from './rules/payout.ts';

const unknown = { kind: 'unknown' } as const;

/**
 * Waits for a call until its deadline. The log names the error but not its text, which may contain
 * what was sent.
 */
const within = async <Answer extends PayoutOrderAnswer | RecipientVerdict>(
  deadline_ms: number,
  log: Logger,
  payoutId: string | null,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | typeof unknown> => {
  const calling = new AbortController();
  const { signal } = calling;
  const timer = setTimeout(() => calling.abort(), deadline_ms);
  const elapsed = new Promise<typeof unknown>((resolve) =>
    signal.addEventListener('abort', () => resolve(unknown), { once: true }),
  );
  const answered = call(signal).catch((error: unknown) => {
    log.warn(
      { payoutId, error: error instanceof Error ? error.name : 'not an error' },
      'a call to a bank about a payout failed',
    );
    return unknown;
  });
  return Promise.race([answered, elapsed]).finally(() => clearTimeout(timer));
};

/** An order, or a query about one. */
export const callForPayout = <Answer extends PayoutOrderAnswer>(
  log: Logger,
  payoutId: string,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | typeof unknown> => within(callDeadline_s * 1_000, log, payoutId, call);

/** How long a caller waits for the bank's answer about a recipient. */
const checkDeadline_ms = 5_000;

/** A query about a recipient, before the payout exists. */
export const callForRecipient = (
  log: Logger,
  call: (signal: AbortSignal) => Promise<RecipientVerdict>,
): Promise<RecipientVerdict> => within(checkDeadline_ms, log, null, call);
