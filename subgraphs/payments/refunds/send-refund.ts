/**
 * Orders a pending refund at the bank, or queries it, and applies the answer. It repeats under the
 * refund's id, the bank's idempotency key, until the answer is final.
 */
import type pg from 'pg';
import type { RefundAnswer } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import { eachAlone } from '../../platform/alerts/dead-letters.ts';
import { dueOn, type Timeline } from '../../platform/clock/due.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { noteListChange } from '../../platform/database/list-changes.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction, unlessHeld } from '../../platform/database/statement.ts';
import { inTraceOf } from '../../platform/database/subject-trace.ts';
import type { OutboxEvent } from '../../platform/events/outbox.ts';
import { timedPlanOfAmount } from '../../rules/banks.ts';
import { asSubject } from '../../rules/event.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { minorUnits } from '../../rules/money.ts';
import {
  lateRefundFailed,
  refundFailed,
  refundSucceeded,
  type Posting,
} from '../../rules/postings.ts';
import { isRefusal } from '../../rules/refusal.ts';
import type { Payment, Refund } from '../entities.ts';
import { loadPayments, loadRefunds } from '../find-payments.ts';
import { lockFreePayments, lockPayment, storeLocked, type LockedPayment } from '../lock-payment.ts';
import { termsOf } from '../receipts/rules.ts';
import { askAgain_s } from '../rules/order.ts';
import { endedUnpaid, paymentMove, type PaymentStatus } from '../rules/payment.ts';
import type { PaymentChange, PaymentPatch } from '../store-payment.ts';
import { refundedEvents, refundFailedEvent } from './record-refund.ts';
import { isLastOf, refundMove } from '../rules/amounts.ts';

export interface RefundKey {
  readonly merchantId: string;
  readonly refundId: string;
}

const order = async (
  banks: Banks,
  payment: Payment,
  refund: Refund,
  now: Temporal.Instant,
): Promise<RefundAnswer> => {
  const bank = banks.bankOf(payment);
  // A connector that this installation lost answers nothing: the refund waits for it.
  if (isRefusal(bank)) return { kind: 'unknown' };
  return bank.refund({
    merchantId: refund.merchantId,
    operationId: refund.id,
    payment: { operationId: payment.id, reference: payment.bankRef },
    amount: minorUnits(refund.amount),
    currency: payment.currency,
    planned: refund.mode === 'test' ? timedPlanOfAmount(refund.amount) : null,
    reference: refund.bankRef,
    // A whole refund repeats the payment's receipt at the bank, which has it.
    receiptTermsId: refund.receiptTermsId === termsOf(payment) ? null : refund.receiptTermsId,
    now,
  });
};

/** The refund as it is then; null when there is none. Only a pending one is ordered. */
export const sendRefund = (
  database: Database,
  banks: Banks,
  key: RefundKey,
  now: Temporal.Instant,
): Promise<Refund | null> => {
  const { merchantId, refundId: subjectId } = key;
  return inTraceOf(
    database.pool,
    { merchantId, subjectId },
    { kind: 'internal', name: 'send refund' },
    () => sendAndApply(database, banks, key, now),
  );
};

// Applies a bank's answer to a refund, whatever its source (docs/contract.md#refund-states). No
// other code ends a refund. An unknown answer changes no state. The refund of a late success leaves
// the payment's status alone.

/** A refund as it becomes; `payment`, `postings` and `events` are what that means. */
interface RefundChange {
  readonly row: Refund;
  readonly payment?: PaymentPatch;
  readonly postings: readonly Posting[];
  readonly events?: (payment: Payment) => readonly OutboxEvent[];
}

/** The status of a payment after another `amount` was refunded. A late success keeps its status. */
const statusAfter = (payment: Payment, amount: bigint): PaymentStatus => {
  if (endedUnpaid(payment.status) || !isLastOf(payment, amount)) return payment.status;
  const status = paymentMove(payment.status, 'fully_refunded');
  if (!status)
    throw new Error(`payment ${payment.id} is ${payment.status} and a refund of it succeeded`);
  return status;
};

const approve = (
  { payment, refunds }: LockedPayment,
  before: Refund,
  reference: string,
  now: Temporal.Instant,
): RefundChange | null => {
  const status = refundMove(before.status, 'bank_approved');
  if (!status) return null;
  const row: Refund = { ...before, status, bankRef: reference, completedAt: now, askAt: null };
  const after = refunds.map((other) => (other.id === row.id ? row : other));
  return {
    row,
    payment: {
      status: statusAfter(payment, row.amount),
      amountRefunded: payment.amountRefunded + row.amount,
    },
    postings: refundSucceeded({ amount: minorUnits(row.amount) }),
    events: (refunded) => refundedEvents(refunded, after, now),
  };
};

const decline = (
  { payment }: LockedPayment,
  before: Refund,
  failReason: FailureCode,
  now: Temporal.Instant,
): RefundChange | null => {
  const status = refundMove(before.status, 'bank_declined');
  if (!status) return null;
  const failed = endedUnpaid(payment.status) ? lateRefundFailed : refundFailed;
  const row: Refund = { ...before, status, failReason, completedAt: now, askAt: null };
  return {
    row,
    postings: failed({ amount: minorUnits(before.amount) }),
    events: () => [refundFailedEvent(row, now)],
  };
};

const wait = (
  before: Refund,
  bankRef: string | null,
  askAt: Temporal.Instant | null,
): RefundChange | null =>
  before.status === 'pending' ? { row: { ...before, bankRef, askAt }, postings: [] } : null;

/** What the answer changes; null when there is nothing to do. */
const decide = (
  locked: LockedPayment,
  refund: Refund,
  answer: RefundAnswer,
  now: Temporal.Instant,
): RefundChange | null => {
  switch (answer.kind) {
    case 'approved':
      return approve(locked, refund, answer.reference, now);
    case 'declined':
      return decline(locked, refund, answer.failureCode, now);
    case 'pending':
      return wait(refund, answer.reference ?? refund.bankRef, answer.askAt);
    case 'unknown':
      return wait(refund, refund.bankRef, now.add({ seconds: askAgain_s }));
  }
};

/** The bank keeps a late success; the money stays in suspense until a person has clarified it. */
const alertOfStuckMoney = (
  client: pg.PoolClient,
  { publicId }: Payment,
  refund: Refund,
  at: Temporal.Instant,
) => {
  const { id, failReason } = refund;
  return raiseAlert(client, {
    ...asSubject(refund),
    kind: 'late_success',
    detail: `the automatic refund ${id} of ${publicId} was refused (${failReason}); its amount stands in suspense`,
    fields: {
      refund: id,
      payment: publicId,
      ...(failReason === null ? {} : { reason: failReason }),
    },
    at,
  });
};

interface Answered {
  readonly refund: Pick<Refund, 'merchantId' | 'paymentId' | 'id'>;
  readonly answer: RefundAnswer;
  readonly now: Temporal.Instant;
}

/**
 * The change that the answer makes to the refund; null: none. A case for a person raises an alert.
 */
const changeFor = async (
  client: pg.PoolClient,
  locked: LockedPayment,
  refund: Refund,
  { answer, now }: Answered,
): Promise<{ readonly row: Refund; readonly change: PaymentChange } | null> => {
  const decided = decide(locked, refund, answer, now);
  if (!decided) return null;
  const { row, postings, payment: patch = {}, events = () => [] } = decided;
  if (row.status === 'failed' && endedUnpaid(locked.payment.status))
    await alertOfStuckMoney(client, locked.payment, row, now);
  noteListChange(client, { list: 'refunds', merchantId: row.merchantId });
  return { row, change: { patch, postings: [], events, refund: { row, postings } } };
};

const applyAlone = (pool: pg.Pool, answered: Answered): Promise<Refund> =>
  inTransaction(pool, async (client) => {
    const { merchantId, paymentId, id } = answered.refund;
    const { now } = answered;
    const locked = await lockPayment(client, { merchantId, paymentId }, now);
    const refund = locked?.refunds.find((candidate) => candidate.id === id);
    if (!locked || !refund) throw new Error(`there is no refund ${id} of payment ${paymentId}`);
    const changed = await changeFor(client, locked, refund, answered);
    if (!changed) return refund;
    await storeLocked(client, locked, changed.change, now);
    return changed.row;
  });

const applyTogether = (
  pool: pg.Pool,
  answers: readonly Answered[],
): Promise<readonly (Refund | 'left')[]> =>
  inTransaction(pool, async (client) => {
    const locked = await lockFreePayments(
      client,
      answers.map(({ refund }) => refund),
    );
    const results: (Refund | 'left')[] = [];
    for (const answered of answers) {
      const { paymentId, id } = answered.refund;
      const payment = locked.of(paymentId);
      const refund = payment?.refunds.find((candidate) => candidate.id === id);
      const changed = payment && refund && (await changeFor(client, payment, refund, answered));
      if (changed) locked.change(paymentId, changed.change, answered.now);
      results.push(changed?.row ?? refund ?? 'left');
    }
    await locked.store();
    return results;
  });

const applyGathered = batched<Answered, Refund>({
  name: 'refund.answer',
  callerOf: ({ refund }) => refund.merchantId,
  run: unlessHeld(applyTogether),
  alone: applyAlone,
});

/**
 * Applies the answer; the refund as it is afterwards. A final answer for a refund that is final
 * already changes nothing. Answers to refunds of one merchant at the same moment share a
 * transaction.
 */
export const applyRefundAnswer = (
  { pool }: Pick<Database, 'pool'>,
  refund: Pick<Refund, 'merchantId' | 'paymentId' | 'id'>,
  answer: RefundAnswer,
  now: Temporal.Instant,
): Promise<Refund> => applyGathered(pool, { refund, answer, now });

const sendAndApply = async (
  database: Database,
  banks: Banks,
  { merchantId, refundId }: RefundKey,
  now: Temporal.Instant,
): Promise<Refund | null> => {
  const [refund] = await loadRefunds(database.pool, [{ merchantId, id: refundId }]);
  if (refund?.status !== 'pending') return refund ?? null;
  const [payment] = await loadPayments(database.pool, [{ merchantId, id: refund.paymentId }]);
  if (!payment) throw new Error(`refund ${refundId} has no payment`);
  return applyRefundAnswer(database, refund, await order(banks, payment, refund, now), now);
};

/** Refunds that the bank is to be asked about at a known moment. */
export const refundAsks = dueOn<RefundKey>({
  name: 'refund_asks',
  table: 'refund',
  at: 'ask_at',
  columns: 'merchant_id as "merchantId", id as "refundId"',
});

const sweep_max = 500;
const ordersAtOnce = 16;
const subjectOf = ({ merchantId, refundId }: RefundKey) => ({ merchantId, subjectId: refundId });

/** Orders or queries due refunds, the longest due first; returns their number. */
export const sendDueRefunds = async (
  database: Database,
  banks: Banks,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const due = await refundAsks.dueByTurns(database.pool, timeline, clock(), sweep_max);
  await eachAlone(
    database.pool,
    { task: refundAsks.task, limit: ordersAtOnce, subjectOf },
    due,
    (key) => sendRefund(database, banks, key, clock()),
  );
  return due.length;
};
