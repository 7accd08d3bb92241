/**
 * Sends due payouts to their banks, and queries due outcomes. A worker first takes a lease and
 * records the moment of the first order, so only one worker sends the order. A repeated order uses
 * the payout's id as the bank's idempotency key. The process that created a card payout sends it
 * (`create-payout`); here it is only queried, since the number is not stored.
 */
import type pg from 'pg';
import type { Bank } from '../acquirers/bank.ts';
import { eachAlone, workBatch } from '../platform/alerts/dead-letters.ts';
import { dueOn, type Timeline } from '../platform/clock/due.ts';
import { followRows, type ClockParticipant } from '../platform/clock/keep-clocks.ts';
import { runByMerchant } from '../platform/database/sql-file.ts';
import { columns, inTransaction, type Statement } from '../platform/database/statement.ts';
import { inTraceOf } from '../platform/database/subject-trace.ts';
import { expireDrafts } from '../platform/drafts/drafts.ts';
import { done, sweep, type Job } from '../platform/queue/run-job.ts';
import { minorUnits } from '../rules/money.ts';
import { isRefusal } from '../rules/refusal.ts';
import { payoutDrafts } from './drafts/create-draft.ts';
import { recipientOf } from './rules/create.ts';
import { callDeadline_s, lease_s } from './rules/payout.ts';
import { applyPayoutAnswer } from './apply-payout-answer.ts';
import type { Payout } from './entities.ts';
import { payoutNames, recipientView } from './find-payouts.ts';
import { callWithin, orderPayout, type Ordered, type OrderingDeps } from './order-payout.ts';

/** A payout leased to this worker. */
type Taken = Payout & {
  /** Whether no bank has received it before. */
  readonly isFirst: boolean;
};

const askOrOrder = async (
  deps: OrderingDeps,
  bank: Bank,
  { isFirst, ...payout }: Taken,
  now: () => Temporal.Instant,
): Promise<Ordered> => {
  const { merchantId, id: operationId, bankRef: reference, method } = payout;
  // A card's number is not stored.
  if (method !== 'payouts_card' && reference === null) {
    const recipient = recipientOf(method, recipientView(payout));
    return orderPayout(deps, bank, { payout, recipient, isFirst, now });
  }
  const question = {
    merchantId,
    operationId,
    reference,
    amount: minorUnits(payout.amount),
    currency: payout.currency,
    sentAt: payout.sentAt ?? payout.createdAt,
    now: now(),
  };
  return {
    payout,
    answer: await callWithin(callDeadline_s, deps.log, payout.id, () => bank.askPayout(question)),
  };
};

/** Performs a payout's due work. */
const sendPayout = async (
  deps: OrderingDeps,
  taken: Taken,
  now: () => Temporal.Instant,
): Promise<void> => {
  const { merchantId, id: subjectId } = taken;
  await inTraceOf(
    deps.database.pool,
    { merchantId, subjectId },
    { kind: 'internal', name: 'send payout' },
    async () => {
      const bank = deps.banks.bankOf(taken);
      // Without its connector in this installation, the payout stays pending.
      const { payout, answer } = isRefusal(bank)
        ? { payout: taken, answer: { kind: 'unknown' } as const }
        : await askOrOrder(deps, bank, taken, now);
      await applyPayoutAnswer(deps.database, payout, answer, now());
    },
  );
};

/** Payouts scheduled to be sent or queried. */
export const payoutAsks = dueOn<Payout>({
  name: 'payout_asks',
  table: 'payout',
  at: 'ask_at',
  columns: columns(payoutNames),
  locked: true,
});

const lease: Statement = {
  name: 'payout.lease',
  text: `update payout set sent_at = coalesce(sent_at, $3), ask_at = $4 where merchant_id = $1 and id = any ($2::uuid[])`,
};

/** The concurrency of one run; a few calls then fit well into the lease. */
const page = 20;

const takeDue = async (
  client: pg.PoolClient,
  at: Temporal.Instant,
  limit: number,
  timeline: Timeline,
): Promise<readonly Taken[]> => {
  // A failed page is retried in order of age, which finds the failing row.
  const due = await (limit === page
    ? payoutAsks.dueByTurns(client, timeline, at, limit)
    : payoutAsks.due(client, timeline, at, limit));
  const askAt = at.add({ seconds: lease_s });
  await runByMerchant(client, lease, due, (own) => [own.map(({ id }) => id), at, askAt]);
  return due.map(({ sentAt, ...payout }) => ({
    ...payout,
    sentAt: sentAt ?? at,
    askAt,
    isFirst: sentAt === null,
  }));
};

/**
 * Sends one page of the due payouts of a timeline, longest due first; returns their number. A full
 * page is shared by the merchants. A failing payout is set aside; rejects after the whole page with
 * the failures.
 */
export const sendDuePayouts = async (
  deps: OrderingDeps,
  now: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const at = now();
  const { pool } = deps.database;
  const { task } = payoutAsks;
  const first = () => payoutAsks.first(pool, timeline, at);
  const { result: due } = await workBatch(pool, {
    task,
    limit: page,
    work: (limit) => inTransaction(pool, (client) => takeDue(client, at, limit, timeline)),
    first,
  });
  const subjectOf = ({ merchantId, id }: Taken) => ({ merchantId, subjectId: id });
  await eachAlone(pool, { task, limit: page, subjectOf }, due, (payout) =>
    sendPayout(deps, payout, now),
  );
  return due.length;
};

// Background jobs of the payouts subgraph. The schedule finds all due work; wake-ups only make it
// prompt.

interface PayoutJobs extends OrderingDeps {
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
  sweep('expire-payout-drafts', [payoutDrafts.lives.isDue], () =>
    expireDrafts(payoutDrafts, parts.database, now),
  ),
];

export const payoutClockParticipant = (deps: OrderingDeps): ClockParticipant => ({
  ...followRows(deps.database.pool, [payoutAsks, payoutDrafts.lives]),
  work: async (shop, now) => {
    const expired = await expireDrafts(payoutDrafts, deps.database, () => now, shop);
    return expired + (await sendDuePayouts(deps, () => now, shop));
  },
});
