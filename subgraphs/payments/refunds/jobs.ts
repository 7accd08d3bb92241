/**
 * What refunds need in the background: the sweep finds every one that is due, the wake-up only
 * makes it prompt.
 */
import { object, pipe, string, uuid } from 'valibot';
import { earliest, type ClockParticipant } from '../../platform/clock/keep-clocks.ts';
import { expireDrafts } from '../../platform/drafts/store-drafts.ts';
import { done, type Job, jobWithPayload } from '../../platform/queue/run-job.ts';
import type { PaymentJobs } from '../jobs.ts';
import type { PageDeps } from '../../platform/graph/page-address.ts';
import { refundDrafts } from '../refund-drafts/store-draft.ts';
import { refundAsks, sendDueRefunds, sendRefund } from './send-refund.ts';

const refundKey = object({
  merchantId: pipe(string(), uuid()),
  refundId: pipe(string(), uuid()),
});

/**
 * The job that orders one refund at the bank, or asks about it: enqueued when an answer is expected
 * at a known time.
 */
export const sendRefundJob = 'send-refund';

/** The jobs of refunds. */
export const refundJobs = ({
  database,
  banks,
  clocks,
  now,
}: Omit<PaymentJobs, 'stopping' | keyof PageDeps>): readonly Job[] => [
  jobWithPayload({
    name: sendRefundJob,
    queue: 'bank',
    payload: refundKey,
    run: async (key) => {
      await sendRefund(
        database,
        banks,
        key,
        await clocks.timeOf({ kind: 'refund', merchantId: key.merchantId, id: key.refundId }),
      );
      return done;
    },
  }),
  {
    name: 'sweep-refunds',
    queue: 'schedules',
    due: [refundAsks.isDue],
    run: async () => {
      await sendDueRefunds(database, banks, now);
      return done;
    },
  },
  {
    name: 'expire-refund-drafts',
    queue: 'schedules',
    due: [refundDrafts.lives.isDue],
    run: async () => {
      await expireDrafts(refundDrafts, database, now);
      return done;
    },
  },
];

/** How refunds and their drafts follow a shop's test clock. */
export const refundClockParticipant = ({
  database,
  banks,
}: Pick<PaymentJobs, 'database' | 'banks'>): ClockParticipant => ({
  due: [refundAsks.byClock, refundDrafts.lives.byClock],
  next: async (shop, now) =>
    earliest(
      await Promise.all(
        [refundAsks, refundDrafts.lives].map((due) => due.next(database.pool, shop, now)),
      ),
    ),
  work: async (shop, now) => {
    const expired = await expireDrafts(refundDrafts, database, () => now, shop);
    return expired + (await sendDueRefunds(database, banks, () => now, shop));
  },
});
