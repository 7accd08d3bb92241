/**
 * What the payouts subgraph does in the background. The schedule finds everything by itself; the
 * wake-up only makes it prompt.
 */
import type { ClockParticipant } from '../kernel/clock/keep-clocks.ts';
import { done, type Job } from '../kernel/queue/run-job.ts';
import { payoutAsks, sendDuePayouts, type SendingParts } from './send-payouts.ts';

export interface PayoutJobs extends SendingParts {
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
}

/**
 * The job that gives new payouts to their banks: enqueued when there are new ones. It carries
 * nothing: the rows hold what is due.
 */
export const sendPayoutsJob = 'send-payouts';

/**
 * The jobs of the payouts subgraph. A run that is stopped half way loses nothing: the next one goes
 * on.
 */
export const payoutJobs = ({ now, stopping, ...parts }: PayoutJobs): readonly Job[] => [
  {
    name: sendPayoutsJob,
    queue: 'bank',
    every_ms: 1_000,
    due: payoutAsks.isDue,
    run: async () => {
      while (!stopping.aborted && (await sendDuePayouts(parts, now)) > 0);
      return done;
    },
  },
];

/** How payouts follow a shop's test clock. */
export const payoutClockParticipant = (parts: SendingParts): ClockParticipant => ({
  due: [payoutAsks.byClock],
  next: (shop, now) => payoutAsks.next(parts.database.pool, shop, now),
  work: (shop, now) => sendDuePayouts(parts, () => now, shop),
});
