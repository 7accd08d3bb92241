/**
 * Applies a bank's answer to a refund, whatever brought it. Contract "States and transitions": a successful refund is told by payment.refunded, with the
 * payment as it is at that moment; when the successful sum reaches the amount the payment is refunded; a failed refund leaves the payment as it is.
 * Decision D-32: an unknown answer changes no state. This is the only code that ends a refund.
 */
import type { RefundAnswer } from '../kernel/banks/bank.ts';
import type { Database } from '../kernel/database/orm.ts';
import type { OutboxEvent } from '../kernel/database/outbox.ts';
import { inTransaction } from '../kernel/database/statement.ts';
import type { FailureCode } from '../kernel/rules/failure-code.ts';
import { minorUnits } from '../kernel/rules/money.ts';
import { refundFailed, refundSucceeded } from '../kernel/rules/postings.ts';
import { statusEvents } from './change-payment.ts';
import type { Payment, Refund } from './entities.ts';
import { lockPayment, storeRefund, type LockedPayment } from './lock-payment.ts';
import { publicPayment } from './payment-view.ts';
import { paymentMove } from './rules/payment.ts';
import { isLastOf, refundMove } from './rules/refund.ts';
import type { PaymentChange } from './store-payment.ts';

/** How long we wait before asking again a bank that gave no answer. */
const askAgain_s = 10;

type RefundChange = PaymentChange & { readonly refund: Refund };

/** The payment's webhook for one successful refund; when it was the last of the payment, its new status is told with it. */
const refundedEvents = (payment: Payment, refunds: readonly Refund[], at: Temporal.Instant): readonly OutboxEvent[] => {
  if (payment.status === 'refunded') return statusEvents(payment, refunds, at);
  const { merchantId, shopId, mode, id, webhookUrl } = payment;
  const webhook = { event: 'payment.refunded', data: publicPayment(payment, refunds), url: webhookUrl } as const;
  return [{ merchantId, shopId, mode, subjectId: id, stream: null, webhook, at }];
};

const approve = ({ payment, refunds }: LockedPayment, before: Refund, reference: string, now: Temporal.Instant): RefundChange | null => {
  const status = refundMove(before.status, 'bank_approved');
  if (!status) return null;
  const refund: Refund = { ...before, status, bankRef: reference, completedAt: now, askAt: null };
  const paymentStatus = isLastOf(payment, refund.amount) ? paymentMove(payment.status, 'fully_refunded') : payment.status;
  if (!paymentStatus) throw new Error(`payment ${payment.id} is ${payment.status} and its refund ${refund.id} succeeded`);
  const after = refunds.map((other) => (other.id === refund.id ? refund : other));
  return {
    patch: { status: paymentStatus, amountRefunded: payment.amountRefunded + refund.amount },
    postings: refundSucceeded({ amount: minorUnits(refund.amount) }),
    events: (refunded) => refundedEvents(refunded, after, now),
    refund,
  };
};

const decline = (before: Refund, failReason: FailureCode, now: Temporal.Instant): RefundChange | null => {
  const status = refundMove(before.status, 'bank_declined');
  if (!status) return null;
  const refund: Refund = { ...before, status, failReason, completedAt: now, askAt: null };
  return { patch: {}, postings: refundFailed({ amount: minorUnits(refund.amount) }), events: () => [], refund };
};

const wait = (before: Refund, bankRef: string | null, askAt: Temporal.Instant | null): RefundChange | null =>
  before.status === 'pending' ? { patch: {}, postings: [], events: () => [], refund: { ...before, bankRef, askAt } } : null;

/** What the answer changes; null when there is nothing to do. */
const decide = (locked: LockedPayment, refund: Refund, answer: RefundAnswer, now: Temporal.Instant): RefundChange | null => {
  switch (answer.kind) {
    case 'approved':
      return approve(locked, refund, answer.reference, now);
    case 'declined':
      return decline(refund, answer.failureCode, now);
    case 'pending':
      return wait(refund, answer.reference ?? refund.bankRef, answer.askAt);
    case 'unknown':
      return wait(refund, refund.bankRef, now.add({ seconds: askAgain_s }));
  }
};

/** Applies the answer; the refund as it is afterwards. A final answer for a refund that is final already changes nothing. */
export const applyRefundAnswer = (
  database: Database,
  { merchantId, paymentId, id }: Pick<Refund, 'merchantId' | 'paymentId' | 'id'>,
  answer: RefundAnswer,
  now: Temporal.Instant,
): Promise<Refund> =>
  inTransaction(database.pool, async (client) => {
    const locked = await lockPayment(client, { merchantId, paymentId }, now);
    const refund = locked?.refunds.find((candidate) => candidate.id === id);
    if (!locked || !refund) throw new Error(`there is no refund ${id} of payment ${paymentId}`);
    const change = decide(locked, refund, answer, now);
    return change ? storeRefund(client, locked, change, now) : refund;
  });
