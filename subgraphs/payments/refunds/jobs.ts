/**
 * What refunds need in the background: the sweep finds every one that is due, the wake-up only
 * makes it prompt.
 */
import type { ClockParticipant } from '../../kernel/clock/keep-clocks.ts';
import { done, type Job } from '../../kernel/queue/run-job.ts';
import type { PaymentJobs } from '../jobs.ts';
import type { PageParts } from '../checkout/page-address.ts';
import { refundAsks, sendDueRefunds, sendRefund, type RefundKey } from './send-refund.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const parseKey = (payload: unknown): RefundKey => {
  if (
    typeof payload === 'object' &&
    payload !== null &&
    'merchantId' in payload &&
    'refundId' in payload
  ) {
    const { merchantId, refundId } = payload;
    if (
      typeof merchantId === 'string' &&
      typeof refundId === 'string' &&
      uuid.test(merchantId) &&
      uuid.test(refundId)
    )
      return { merchantId, refundId };
  }
  throw new TypeError('expected a merchantId and a refundId');
};

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
}: Omit<PaymentJobs, 'stopping' | keyof PageParts>): readonly Job[] => [
  {
    name: sendRefundJob,
    queue: 'bank',
    parse: parseKey,
    run: async (payload) => {
      const key = parseKey(payload);
      await sendRefund(
        database,
        banks,
        key,
        await clocks.timeOf({ kind: 'refund', merchantId: key.merchantId, id: key.refundId }),
      );
      return done;
    },
  },
  {
    name: 'sweep-refunds',
    queue: 'schedules',
    every_ms: 1_000,
    parse: () => null,
    run: async () => {
      await sendDueRefunds(database, banks, now);
      return done;
    },
  },
];

/** How refunds follow a shop's test clock. */
export const refundClockParticipant = ({
  database,
  banks,
}: Pick<PaymentJobs, 'database' | 'banks'>): ClockParticipant => ({
  next: (shop, now) => refundAsks.next(database.pool, shop, now),
  work: (shop, now) => sendDueRefunds(database, banks, () => now, shop),
});
