/** The background jobs of the four subgraphs, for the worker. */
import { alertJobs } from './platform/alerts/jobs.ts';
import { channelJobs } from './merchants/alerts/send-alerts.ts';
import { watchJobs } from './merchants/alerts/watch.ts';
import { simulatorReport } from './acquirers/simulator/operations.ts';
import { clockJobs, keepClockJob } from './platform/clock/keep-clocks.ts';
import { booksJobs } from './ledger/books/check-books.ts';
import { totalsJobs } from './ledger/totals/keep-totals.ts';
import { retentionJobs } from './platform/retention/jobs.ts';
import { type Job, joinSweeps } from './platform/queue/run-job.ts';
import { keyIdOf } from './platform/access/keys.ts';
import { reconciliationJobs } from './merchants/reconciliation/jobs.ts';
import { resealJobs } from './merchants/reseal-secrets.ts';
import { webhookClockParticipant } from './merchants/webhooks/clock-participant.ts';
import { webhookJobs, type WakeLanes } from './merchants/webhooks/deliverer.ts';
import {
  askBanksJob,
  paymentJobs,
  paymentClockParticipant,
  sendRefundJob,
} from './payments/jobs.ts';
import { payoutJobs, payoutClockParticipant, sendPayoutsJob } from './payouts/send-payouts.ts';
import { openPayments } from './recurring/ask-payments.ts';
import { startConsuming } from './recurring/consume-payments.ts';
import { recurringJobs, recurringClockParticipant } from './recurring/jobs.ts';
import { paymentListeners } from './recurring/payment-listeners.ts';
import { paymentsOf, type SubgraphsDeps } from './open-subgraphs.ts';

/** The jobs that other processes may enqueue. */
export const wakeableJobs = [
  { name: askBanksJob, queue: 'schedules' },
  { name: sendRefundJob, queue: 'bank' },
  { name: sendPayoutsJob, queue: 'bank' },
  { name: keepClockJob, queue: 'schedules' },
] as const satisfies readonly Pick<Job, 'name' | 'queue'>[];

/** Consumes the events of payments that recurring billing requested, until it is stopped. */
export const consumeRecurringPayments = (deps: SubgraphsDeps) => {
  const { database, log, now } = deps;
  return startConsuming({
    pool: database.pool,
    log,
    now,
    payments: openPayments(paymentsOf(deps)),
    listeners: paymentListeners,
  });
};

/** All jobs of the worker; `stopping` ends long ones early. */
export const backgroundJobs = (
  deps: SubgraphsDeps,
  stopping: AbortSignal,
  wakeLanes: WakeLanes,
): readonly Job[] => {
  const { database, banks, clocks, now, log, queues } = deps;
  const walking = { pool: database.pool, now, log, stopping };
  const charging = { pool: database.pool, payments: openPayments(paymentsOf(deps)), log };
  const keeping = { database, banks, log };
  const { publicUrl, secrets } = deps;
  const page = { publicUrl, pageSecret: secrets.page };
  const paying = { database, banks, customers: deps.customers, ...page };
  return joinSweeps({ pool: database.pool, now, log, queues }, [
    ...booksJobs(walking),
    ...totalsJobs(walking),
    ...reconciliationJobs({ ...walking, database, registries: [simulatorReport(walking.pool)] }),
    ...alertJobs({ pool: database.pool, bus: deps.bus, now }),
    ...watchJobs({ database, now }),
    ...channelJobs({ database, now, publicUrl, channels: deps.alertChannels }),
    ...retentionJobs({ ...walking, eventsKept_days: deps.eventsKept_days }),
    ...paymentJobs({ ...paying, clocks, now, stopping }),
    ...clockJobs({
      ...walking,
      sessions: database.sessions,
      participants: [
        paymentClockParticipant(paying),
        payoutClockParticipant(keeping),
        recurringClockParticipant(charging),
        webhookClockParticipant({ database, now, wake: wakeLanes }),
      ],
      wake: (shops) => queues.addMany(keepClockJob, shops),
    }),
    ...resealJobs({
      ...walking,
      vaultKey: secrets.vault,
      formerIds: secrets.formerVault ? [keyIdOf(secrets.formerVault)] : [],
    }),
    ...recurringJobs({ ...charging, now, stopping }),
    ...payoutJobs({ database, banks, log, now, stopping }),
    ...webhookJobs({ pool: database.pool, now, wake: wakeLanes }),
  ]);
};
