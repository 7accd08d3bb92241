/**
 * What the payouts subgraph does in the background. The schedule finds everything by itself; the
 * wake-up only makes it prompt.
 */
import { earliest, type ClockParticipant } from '../kernel/clock/keep-clocks.ts';
import { done, type Job } from '../kernel/queue/run-job.ts';
import { expireDrafts } from './drafts/expire-drafts.ts';
import { draftLives } from './drafts/store-draft.ts';
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
    due: [payoutAsks.isDue],
    run: async () => {
      while (!stopping.aborted && (await sendDuePayouts(parts, now)) > 0);
      return done;
    },
  },
  {
    name: 'expire-payout-drafts',
    queue: 'schedules',
    due: [draftLives.isDue],
    run: async () => {
      await expireDrafts(parts.database, now);
      return done;
    },
  },
];

/** How payouts and their drafts follow a shop's test clock. */
export const payoutClockParticipant = (parts: SendingParts): ClockParticipant => ({
  due: [payoutAsks.byClock, draftLives.byClock],
  next: async (shop, now) => {
    const { pool } = parts.database;
    return earliest(
      await Promise.all([payoutAsks, draftLives].map((due) => due.next(pool, shop, now))),
    );
  },
  work: async (shop, now) => {
    const expired = await expireDrafts(parts.database, () => now, shop);
    return expired + (await sendDuePayouts(parts, () => now, shop));
  },
});
