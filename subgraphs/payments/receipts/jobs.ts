/** What receipts need in the background: the sweep finds every one that is due. */
import type { ClockParticipant } from '../../platform/clock/keep-clocks.ts';
import { done, type Job } from '../../platform/queue/run-job.ts';
import { askReceipts, type AskingDeps } from './ask-receipts.ts';
import { receiptAsks } from './store-receipts.ts';

/** The jobs of receipts. */
export const receiptJobs = ({
  now,
  ...parts
}: AskingDeps & { readonly now: () => Temporal.Instant }): readonly Job[] => [
  {
    name: 'ask-receipts',
    queue: 'schedules',
    due: [receiptAsks.isDue],
    run: async () => {
      await askReceipts(parts, now);
      return done;
    },
  },
];

/** How receipts follow a shop's test clock. */
export const receiptClockParticipant = (deps: AskingDeps): ClockParticipant => ({
  due: [receiptAsks.byClock],
  next: (shop, now) => receiptAsks.next(deps.database.pool, shop, now),
  work: (shop, now) => askReceipts(deps, () => now, shop),
});
