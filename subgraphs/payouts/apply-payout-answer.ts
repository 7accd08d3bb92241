/**
 * Applies a bank's answer to a payout, whatever its source: status, postings and events in one
 * statement, which does nothing when the payout has changed since it was read. An unknown answer
 * changes no state. Only this code ends a payout that a bank has received.
 */
import type pg from 'pg';
import type { PayoutAnswer } from '../acquirers/payout-bank.ts';
import type { Database } from '../platform/database/orm.ts';
import { eventRow } from '../platform/events/outbox.ts';
import { batched } from '../platform/database/batch-calls.ts';
import { numberForShard, runRows, sqlFile } from '../platform/database/sql-file.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import { rowJson } from '../platform/database/statement.ts';
import { deltaRows, postingRows } from '../ledger/post.ts';
import { asSubject } from '../rules/event.ts';
import { nextQuestionAfterEnd } from '../rules/banks.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import { minorUnits } from '../rules/money.ts';
import type { Posting } from '../rules/postings.ts';
import { PayoutEntity, type Payout } from './entities.ts';
import { loadPayouts, statusEvent } from './find-payouts.ts';
import { sourceOf } from './open-payouts.ts';
import { lostCardAt, nextTry, payoutMove, payoutFailed, payoutSucceeded } from './rules/payout.ts';
import { raiseAlert } from '../platform/alerts/alerts.ts';

/*
 * Handles a bank's answer to a final payout. Nothing is booked; a contradiction with the books
 * raises an alert for operators. A card payout that was given up (`recipient_data_lost`) is queried
 * for a day: its bank may still pay.
 */

/** The alert for a final answer that contradicts the payout's status; null when it does not. */
const contradiction = ({ status, failReason }: Payout, { kind }: PayoutAnswer): string | null => {
  if (status === 'failed' && kind === 'approved')
    return `The bank says that it paid this payout, which is failed (${failReason}) and was given back to the merchant.`;
  if (status !== 'succeeded' || (kind !== 'declined' && kind !== 'misrouted')) return null;
  return 'The bank says that it did not pay this payout, which is booked as paid.';
};

const reportContradiction = async (
  database: Database,
  payout: Payout,
  answer: PayoutAnswer,
  at: Temporal.Instant,
): Promise<void> => {
  const detail = contradiction(payout, answer);
  if (detail === null) return;
  const { status, failReason } = payout;
  await raiseAlert(database.pool, {
    ...asSubject(payout),
    kind: 'bank_answer_contradicts',
    detail,
    fields: {
      status,
      bank_status: answer.kind,
      ...(failReason === null ? {} : { reason: failReason }),
    },
    at,
  });
};

/** A failed payout is queried for a day, or until its bank's answer is final. */
const askLater = async (
  { pool }: Database,
  { merchantId, id, status, completedAt, askAt }: Payout,
  { kind }: PayoutAnswer,
  now: Temporal.Instant,
): Promise<void> => {
  if (status !== 'failed' || askAt === null || completedAt === null) return;
  const isOpen = kind === 'pending' || kind === 'unseen' || kind === 'unknown';
  const next = isOpen ? nextQuestionAfterEnd(completedAt, now) : null;
  await emOn(pool).nativeUpdate(PayoutEntity, { merchantId, id, status, askAt }, { askAt: next });
};

const store = sqlFile(import.meta.dirname, 'store-payouts.sql');

/** A payout as read and as changed, with its postings and events. */
interface Storing {
  readonly before: Payout;
  readonly after: Payout;
  readonly postings: readonly object[];
  readonly deltas: readonly object[];
  readonly events: readonly object[];
}

/** The changes of a payout, in the columns of `sent`. */
const changing = ['merchantId', 'id', 'status', 'failReason', 'bankRef', 'completedAt', 'askAt'];

const storeAll = async (
  pool: pg.Pool,
  storings: readonly Storing[],
): Promise<readonly (Payout | 'left' | null)[]> => {
  const isAlone = storings.length === 1;
  const first = new Map(storings.toReversed().map((storing) => [storing.after.id, storing]));
  const sent = [...first.values()].map(({ before, after, postings, deltas, events }) => ({
    ...rowJson(changing, after),
    read_ref: before.bankRef,
    postings,
    deltas,
    events,
  }));
  const events = sent.flatMap((row) => row.events);
  await numberForShard(pool, events, 'position', 'event_position_seq');
  const merchantId = storings[0]?.after.merchantId ?? '';
  const written = await runRows<{ id: string }>(pool, store, merchantId, sent, isAlone);
  const moved = new Set(written.map(({ id }) => id));
  return storings.map((storing) => {
    const { after } = storing;
    if (first.get(after.id) === storing && moved.has(after.id)) return after;
    return isAlone ? null : 'left';
  });
};

const storeGathered = batched<Storing, Payout | null>({
  name: store.name,
  callerOf: ({ after }) => after.merchantId,
  run: storeAll,
});

/** Null when the payout has changed since it was read. */
const storePayout = (
  { pool }: Database,
  before: Payout,
  { after, postings }: Change,
  now: Temporal.Instant,
): Promise<Payout | null> => {
  const source = sourceOf(after, now);
  const storing = {
    before,
    after,
    postings: postingRows(source, postings),
    deltas: deltaRows(source, postings),
    events: after.status === before.status ? [] : [eventRow(statusEvent(after, now))],
  };
  return storeGathered(pool, storing);
};

interface Change {
  readonly after: Payout;
  readonly postings: readonly Posting[];
}

const amountsOf = ({ amount, fee }: Payout) => ({
  amount: minorUnits(amount),
  fee: minorUnits(fee),
});

const approve = (before: Payout, reference: string, now: Temporal.Instant): Change | null => {
  const status = payoutMove(before.status, 'bank_approved');
  if (!status) return null;
  return {
    after: { ...before, status, bankRef: reference, completedAt: now, askAt: null },
    postings: payoutSucceeded(amountsOf(before)),
  };
};

const decline = (
  before: Payout,
  failReason: FailureCode,
  reference: string | null,
  now: Temporal.Instant,
): Change | null => {
  const status = payoutMove(before.status, 'bank_declined');
  if (!status) return null;
  const after = {
    ...before,
    status,
    failReason,
    bankRef: reference ?? before.bankRef,
    completedAt: now,
    // The money is the merchant's again; if the bank still pays, an alert is raised.
    askAt: failReason === 'recipient_data_lost' ? nextQuestionAfterEnd(now, now) : null,
  };
  return { after, postings: payoutFailed(amountsOf(before)) };
};

const wait = (
  before: Payout,
  bankRef: string | null,
  askAt: Temporal.Instant | null,
): Change | null =>
  before.status === 'pending'
    ? { after: { ...before, bankRef: bankRef ?? before.bankRef, askAt }, postings: [] }
    : null;

const laterOf = (a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant =>
  Temporal.Instant.compare(a, b) >= 0 ? a : b;

/** The changes of the answer; null when the payout is already final. */
const decide = (payout: Payout, answer: PayoutAnswer, now: Temporal.Instant): Change | null => {
  switch (answer.kind) {
    case 'approved':
      return approve(payout, answer.reference, now);
    case 'declined':
      return decline(payout, answer.failureCode, answer.reference, now);
    case 'misrouted':
      return decline(payout, 'bank_unknown', null, now);
    case 'pending':
      return wait(
        payout,
        answer.reference,
        answer.askAt && laterOf(answer.askAt, now.add({ seconds: 1 })),
      );
    case 'unseen':
      // A card's number is lost with its call. Other recipients are stored: when a bank does not
      // know its own payout, it is queried again.
      return isLostCard(payout, now)
        ? decline(payout, 'recipient_data_lost', null, now)
        : wait(payout, null, nextQuestion(payout, now));
    case 'unknown':
      return wait(payout, null, nextQuestion(payout, now));
  }
};

/** Whether a card payout unknown to its bank can no longer be on its way there. */
const isLostCard = (payout: Payout, now: Temporal.Instant): boolean =>
  payout.method === 'payouts_card' && Temporal.Instant.compare(lostCardAt(payout), now) <= 0;

/** When to query a silent bank again: for a card, not before its answer would be believed. */
const nextQuestion = (payout: Payout, now: Temporal.Instant): Temporal.Instant => {
  const next = nextTry(payout.createdAt, now);
  return payout.method === 'payouts_card' ? laterOf(next, lostCardAt(payout)) : next;
};

const races_max = 20;

/**
 * Applies the answer; returns the updated payout. A final answer to a final payout changes nothing;
 * a contradiction raises an alert.
 */
export const applyPayoutAnswer = async (
  database: Database,
  read: Payout,
  answer: PayoutAnswer,
  now: Temporal.Instant,
): Promise<Payout> => {
  let payout = read;
  for (let race = 0; race < races_max; race++) {
    const change = decide(payout, answer, now);
    if (!change) {
      await reportContradiction(database, payout, answer, now);
      await askLater(database, payout, answer, now);
      return payout;
    }
    const stored = await storePayout(database, payout, change, now);
    if (stored) return stored;
    const [again] = await loadPayouts(database.pool, [payout]);
    if (!again) throw new Error(`payout ${payout.id} is gone`);
    payout = again;
  }
  throw new Error(`payout ${read.id} was written by others ${races_max} times in a row`);
};
