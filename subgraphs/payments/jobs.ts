/**
 * What the payments subgraph does in the background. The sweeps find everything by themselves; the
 * wake-ups only make it prompt.
 */
import * as v from 'valibot';
import type { Banks } from '../acquirers/route.ts';
import {
  markReceived,
  simulatorCallbacks,
  type PlannedCallback,
} from '../acquirers/simulator/callbacks.ts';
import { foldBacklog, isFoldDue } from '../ledger/fold.ts';
import { eachAlone } from '../platform/alerts/dead-letters.ts';
import type { Timeline } from '../platform/clock/due.ts';
import { followRows, type ClockParticipant } from '../platform/clock/keep-clocks.ts';
import type { TestClocks } from '../platform/clock/test-clocks.ts';
import type { Database } from '../platform/database/orm.ts';
import { expireDrafts } from '../platform/drafts/drafts.ts';
import type { Queues } from '../platform/queue/queues.ts';
import { done, type Job, jobWithPayload, sweep } from '../platform/queue/run-job.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import { applyBankAnswer } from './bank-answers/apply-bank-answer.ts';
import { paymentAsks } from './bank-answers/ask-bank.ts';
import { askDue, type OrderingDeps } from './bank-answers/order-again.ts';
import { expireLinks, linkLives } from './links/store-link.ts';
import { askReceipts, type AskingDeps } from './receipts/ask-receipts.ts';
import { receiptAsks } from './receipts/store-receipts.ts';
import { refundDrafts } from './refund-drafts/create-draft.ts';
import { refundAsks, sendDueRefunds, sendRefund } from './refunds/send-refund.ts';
import { endHolds, holdEnds } from './cancel-payment.ts';
import { expirePayments, linkEnds, sessionEnds } from './expire-payments.ts';
import type { PaymentsDeps } from './parts.ts';

type KeepingDeps = OrderingDeps & AskingDeps;

interface PaymentJobs extends KeepingDeps {
  readonly clocks: TestClocks;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
}

/** The job that queries banks; added when an answer is expected at a known time. */
export const askBanksJob = 'sweep-bank-answers';

// Receives the callbacks of the simulated bank, and applies each like every other answer of a bank.

const sweep_max = 500;
const paymentsAtOnce = 16;

/**
 * Those of one payment, in their order. One that was applied and not marked as received is applied
 * again: every answer may come twice.
 */
const receiveOne = async (
  database: Database,
  banks: Banks,
  callbacks: readonly PlannedCallback[],
  now: Temporal.Instant,
): Promise<void> => {
  const { simulator } = banks;
  for (const callback of callbacks) {
    const key = { merchantId: callback.merchantId, paymentId: callback.operationId };
    await applyBankAnswer(
      database,
      key,
      simulator.connector,
      await simulator.answerOf(callback),
      now,
    );
    await markReceived(database.pool, callback);
  }
};

/** Receives all callbacks that have arrived on a timeline; gives how many. */
export const receiveCallbacks = async (
  database: Database,
  banks: Banks,
  now: Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const due = await simulatorCallbacks.due(database.pool, timeline, now, sweep_max);
  const byPayment = Map.groupBy(
    due,
    ({ merchantId, operationId }) => `${merchantId}/${operationId}`,
  );
  const { task } = simulatorCallbacks;
  const subjectOf = ([first]: readonly PlannedCallback[]) => ({
    merchantId: first?.merchantId ?? '',
    subjectId: first?.operationId ?? '',
  });
  await eachAlone(
    database.pool,
    { task, limit: paymentsAtOnce, subjectOf },
    [...byPayment.values()],
    (callbacks) => receiveOne(database, banks, callbacks, now),
  );
  return due.length;
};

const refundKey = v.object({
  merchantId: v.pipe(v.string(), v.uuid()),
  refundId: v.pipe(v.string(), v.uuid()),
});

/** Orders a refund at the bank, or asks about it, when an answer is expected at a known time. */
export const sendRefundJob = 'send-refund';

export const paymentJobs = ({ clocks, now, stopping, ...parts }: PaymentJobs): readonly Job[] => {
  const { database, banks } = parts;
  return [
    sweep(askBanksJob, [paymentAsks.isDue], () => askDue(parts, now)),
    sweep('receive-simulator-callbacks', [simulatorCallbacks.isDue], () =>
      receiveCallbacks(database, banks, now()),
    ),
    sweep('expire-payments', [linkEnds.isDue, sessionEnds.isDue], () =>
      expirePayments(database, banks, now),
    ),
    sweep('end-holds', [holdEnds.isDue], () => endHolds(database, banks, now)),
    sweep('expire-links', [linkLives.isDue], () => expireLinks(database, now)),
    sweep('fold-balances', [isFoldDue], () => foldBacklog(database.pool, stopping)),
    jobWithPayload({
      name: sendRefundJob,
      queue: 'bank',
      payload: refundKey,
      run: async (key) => {
        const { merchantId, refundId: id } = key;
        const at = await clocks.timeOf({ kind: 'refund', merchantId, id });
        await sendRefund(database, banks, key, at);
        return done;
      },
    }),
    sweep('sweep-refunds', [refundAsks.isDue], () => sendDueRefunds(database, banks, now)),
    sweep('expire-refund-drafts', [refundDrafts.lives.isDue], () =>
      expireDrafts(refundDrafts, database, now),
    ),
    sweep('ask-receipts', [receiptAsks.isDue], () => askReceipts(parts, now)),
  ];
};

/** How payments, refunds, their drafts and receipts follow a shop's test clock. */
export const paymentClockParticipant = (parts: KeepingDeps): ClockParticipant => {
  const { database, banks } = parts;
  return {
    ...followRows(database.pool, [
      simulatorCallbacks,
      paymentAsks,
      linkEnds,
      sessionEnds,
      holdEnds,
      linkLives,
      refundAsks,
      refundDrafts.lives,
      receiptAsks,
    ]),
    work: async (shop, at) => {
      const now = () => at;
      return (
        (await receiveCallbacks(database, banks, at, shop)) +
        (await askDue(parts, now, shop)) +
        (await expirePayments(database, banks, now, shop)) +
        (await endHolds(database, banks, now, shop)) +
        (await expireLinks(database, now, shop)) +
        (await expireDrafts(refundDrafts, database, now, shop)) +
        (await sendDueRefunds(database, banks, now, shop)) +
        (await askReceipts(parts, now, shop))
      );
    },
  };
};

// Bank queries at a known moment are not queued; the caller runs the sweep then. If this process
// dies, the sweep finds them within a second.

/** The questions of so long are asked together. */
const together_ms = 100;
/** No buyer waits at the page for an answer later than this: the sweep is soon enough. */
const prompt_max_ms = 60_000;

interface QuestionDeps {
  readonly queues: Pick<Queues, 'add' | 'addMany'>;
  readonly log: Logger;
}

/** The plans of one process. */
export const openQuestions = ({
  queues,
  log,
}: QuestionDeps): Pick<PaymentsDeps, 'askLater' | 'askNoMore' | 'sendRefundLater'> => {
  const warn = (error: unknown): void =>
    log.warn({ error }, 'could not enqueue a bank query; the sweep will run it');
  /** The payments of each moment at which something is asked, and the moment of each of them. */
  const planned = new Map<number, Set<string>>();
  const moments = new Map<string, number>();
  const ask = (at: number): void => {
    const asked = planned.get(at) ?? new Set();
    planned.delete(at);
    for (const paymentId of asked) moments.delete(paymentId);
    if (asked.size > 0) queues.addMany(askBanksJob, [{}]).catch(warn);
  };
  const askNoMore = (paymentId: string): void => {
    planned.get(moments.get(paymentId) ?? -1)?.delete(paymentId);
    moments.delete(paymentId);
  };
  return {
    askNoMore,
    askLater: ({ id: paymentId, askAt }, now) => {
      if (!askAt) return;
      askNoMore(paymentId);
      const from_ms = performance.now();
      const delay_ms = delayUntil_ms(askAt, now);
      const at = Math.ceil((from_ms + delay_ms) / together_ms) * together_ms;
      if (delay_ms > prompt_max_ms) return;
      const others = planned.get(at);
      if (!others) setTimeout(() => ask(at), at - from_ms).unref();
      planned.set(at, (others ?? new Set()).add(paymentId));
      moments.set(paymentId, at);
    },
    sendRefundLater: ({ merchantId, id: refundId, askAt }, now) => {
      if (!askAt) return;
      const delay_ms = delayUntil_ms(askAt, now);
      queues.add(sendRefundJob, { merchantId, refundId }, { delay_ms }).catch(warn);
    },
  };
};

const delayUntil_ms = (at: Temporal.Instant, now: Temporal.Instant): number =>
  Math.max(0, at.epochMilliseconds - now.epochMilliseconds);
