/** What the four subgraphs do in the background, put together for the worker. */
import { alertJobs } from './kernel/alerts/jobs.ts';
import { simulatorReport } from './kernel/banks/simulator/settlement-report.ts';
import { clockJobs, keepClockJob } from './kernel/clock/keep-clocks.ts';
import { booksJobs } from './kernel/ledger/books/check-books.ts';
import { totalsJobs } from './kernel/ledger/totals/keep-totals.ts';
import { retentionJobs } from './kernel/retention/jobs.ts';
import type { Job } from './kernel/queue/run-job.ts';
import { gatherSweeps } from './kernel/queue/sweeps.ts';
import { keyIdOf } from './kernel/service/access/vault.ts';
import { reconciliationJobs } from './merchants/reconciliation/jobs.ts';
import { resealJobs } from './merchants/reseal-secrets.ts';
import { webhookClockParticipant } from './merchants/webhooks/clock-participant.ts';
import { deliverJob, webhookJobs } from './merchants/webhooks/jobs.ts';
import { openLanes, type Lanes } from './merchants/webhooks/lanes.ts';
import { askBanksJob, paymentJobs, paymentClockParticipant } from './payments/jobs.ts';
import { receiptJobs, receiptClockParticipant } from './payments/receipts/jobs.ts';
import { refundJobs, refundClockParticipant, sendRefundJob } from './payments/refunds/jobs.ts';
import { payoutJobs, payoutClockParticipant, sendPayoutsJob } from './payouts/jobs.ts';
import { openPayments } from './recurring/ask-payments.ts';
import { startConsuming, type RunningConsumer } from './recurring/consume-payments.ts';
import { tokenJobs } from './recurring/jobs.ts';
import { paymentListeners } from './recurring/payment-listeners.ts';
import { subscriptionJobs, subscriptionClockParticipant } from './recurring/subscriptions/jobs.ts';
import { paymentsOf, type SubgraphsParts } from './open-subgraphs.ts';

/** What other processes may ask the workers for. */
export const wakeableJobs = [
  { name: askBanksJob, queue: 'schedules' },
  { name: sendRefundJob, queue: 'bank' },
  { name: sendPayoutsJob, queue: 'bank' },
  { name: deliverJob, queue: 'webhooks' },
  { name: keepClockJob, queue: 'schedules' },
] as const satisfies readonly Pick<Job, 'name' | 'queue'>[];

/** Consumes the events of the payments that recurring billing asked for, until it is stopped. */
export const consumeRecurringPayments = (parts: SubgraphsParts): RunningConsumer => {
  const { database, log, now } = parts;
  return startConsuming({
    pool: database.pool,
    log,
    now,
    payments: openPayments(paymentsOf(parts)),
    listeners: paymentListeners,
  });
};

/** How the worker ends: `stopping` ends long jobs early. */
export interface WorkerEnd {
  readonly stopping: AbortSignal;
  /** Webhooks that are under way although no job runs for them. */
  readonly attempts: Set<Promise<void>>;
}

const receiversOf = ({ database, secrets, privateTargets, log }: SubgraphsParts) => ({
  pool: database.pool,
  vaultKey: secrets.vault,
  privateTargets,
  log,
});

/** The webhooks' lanes of this process. */
export const webhookLanes = (parts: SubgraphsParts, end: WorkerEnd): Lanes =>
  openLanes({ ...receiversOf(parts), ...end, now: parts.now });

/** Everything that the worker does. */
export const backgroundJobs = (
  parts: SubgraphsParts,
  { stopping, attempts }: WorkerEnd,
  lanes: Lanes,
): readonly Job[] => {
  const { database, banks, clocks, now, log, queues } = parts;
  const walking = { pool: database.pool, now, log, stopping };
  const charging = { pool: database.pool, payments: openPayments(paymentsOf(parts)), log };
  // A sweep finds the same lanes each time: those that have a job already need no other.
  const sweepLanes = (due: readonly string[]): Promise<void> =>
    queues.addMany(
      deliverJob,
      due.map((lane) => ({ lane })),
    );
  const keeping = { database, banks, log };
  const asking = { database, banks, customers: parts.customers };
  const { publicUrl, secrets } = parts;
  const page = { publicUrl, pageSecret: secrets.page };
  return gatherSweeps({ pool: database.pool, now, log, queues }, [
    ...booksJobs(walking),
    ...totalsJobs(walking),
    ...reconciliationJobs({ ...walking, database, registries: [simulatorReport(walking.pool)] }),
    ...alertJobs({ pool: database.pool, bus: parts.bus, now }),
    ...retentionJobs({ ...walking, eventsKept_days: parts.eventsKept_days }),
    ...paymentJobs({ database, banks, now, stopping, ...page }),
    ...refundJobs({ database, banks, clocks, now }),
    ...receiptJobs({ ...asking, now }),
    ...clockJobs({
      ...walking,
      sessions: database.sessions,
      participants: [
        paymentClockParticipant({ database, banks, ...page }),
        refundClockParticipant(keeping),
        receiptClockParticipant(asking),
        payoutClockParticipant(keeping),
        subscriptionClockParticipant(charging),
        webhookClockParticipant({ ...receiversOf(parts), now, attempts }),
      ],
      wake: (shops) => queues.addMany(keepClockJob, shops),
    }),
    ...resealJobs({
      ...walking,
      vaultKey: secrets.vault,
      formerIds: secrets.formerVault ? [keyIdOf(secrets.formerVault)] : [],
    }),
    ...tokenJobs({ ...charging, now }),
    ...subscriptionJobs({ ...charging, now, stopping }),
    ...payoutJobs({ database, banks, log, now, stopping }),
    ...webhookJobs({ lanes, pool: database.pool, now, wake: sweepLanes }),
  ]);
};
