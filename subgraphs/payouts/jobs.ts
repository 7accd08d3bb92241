/**
 * Background jobs of the payouts subgraph. The schedule finds all due work; wake-ups only make it
 * prompt.
 */
import { earliest, type ClockParticipant } from '../platform/clock/keep-clocks.ts';
import { expireDrafts } from '../platform/drafts/store-drafts.ts';
import { done, type Job } from '../platform/queue/run-job.ts';
import { payoutDrafts } from './drafts/store-draft.ts';
import { payoutAsks, sendDuePayouts, type SendingDeps } from './send-payouts.ts';

interface PayoutJobs extends SendingDeps {
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
}

/** The job that sends new payouts to their banks. It carries no data: the rows hold what is due. */
export const sendPayoutsJob = 'send-payouts';

/** The jobs of the payouts subgraph. An interrupted run loses nothing: the next one continues. */
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
    due: [payoutDrafts.lives.isDue],
    run: async () => {
      await expireDrafts(payoutDrafts, parts.database, now);
      return done;
    },
  },
];

/** How payouts and their drafts follow a shop's test clock. */
export const payoutClockParticipant = (deps: SendingDeps): ClockParticipant => ({
  due: [payoutAsks.byClock, payoutDrafts.lives.byClock],
  next: async (shop, now) => {
    const { pool } = deps.database;
    return earliest(
      await Promise.all([payoutAsks, payoutDrafts.lives].map((due) => due.next(pool, shop, now))),
    );
  },
  work: async (shop, now) => {
    const expired = await expireDrafts(payoutDrafts, deps.database, () => now, shop);
    return expired + (await sendDuePayouts(deps, () => now, shop));
  },
});
