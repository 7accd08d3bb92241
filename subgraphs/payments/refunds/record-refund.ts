/** Records refunds and their reasons in the merchant's audit log, and finds there who made them. */
import type pg from 'pg';
import { roles } from '../../platform/access/principal.ts';
import { writeEntries, type Acting, type WrittenEntry } from '../../platform/database/audit.ts';
import { AuditEntryEntity } from '../../platform/database/entities.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import type { OutboxEvent } from '../../platform/events/outbox.ts';
import { asSubject } from '../../rules/event.ts';
import { statusEvents } from '../change-payment.ts';
import type { Payment, Refund } from '../entities.ts';
import { publicPayment, publicRefund } from '../find-payments.ts';
import { termsOf, type Receipted } from '../receipts/rules.ts';

/* A new refund: pending, before its bank is called. */

/**
 * A new refund of the payment, of `amount` minor units, with the payment's receipt; the bank is
 * asked about it at `askAt`.
 */
export const newRefund = (
  payment: Pick<Payment, 'merchantId' | 'id' | 'shopId' | 'mode'> & Receipted,
  asked: Pick<Refund, 'id' | 'amount' | 'reason' | 'askAt'> & Partial<Pick<Refund, 'metadata'>>,
  now: Temporal.Instant,
): Refund => ({
  receiptTermsId: termsOf(payment),
  merchantId: payment.merchantId,
  paymentId: payment.id,
  shopId: payment.shopId,
  mode: payment.mode,
  metadata: null,
  ...asked,
  status: 'pending',
  failReason: null,
  createdAt: now,
  completedAt: null,
  bankRef: null,
});

export const refundEntry = (
  acting: Acting,
  { publicId, currency }: Payment,
  { merchantId, id, amount, reason }: Refund,
): WrittenEntry => ({
  acting,
  action: { action: 'refund.create', merchantId, id },
  before: null,
  after: { payment: publicId, amount, currency, reason },
});

/** The service itself, which orders a refund by `requestId`. */
export const actingItself = (requestId: string, now: Temporal.Instant): Acting => ({
  principal: { kind: 'service', name: 'payments' },
  requestId,
  now: () => now,
});

/** Writes the entry in the transaction that makes the refund. */
export const recordRefund = (
  client: pg.PoolClient,
  acting: Acting,
  payment: Payment,
  refund: Refund,
): Promise<void> => writeEntries(client, [refundEntry(acting, payment, refund)]);

/** The amount of a payment that people have refunded or are refunding, by these refunds. */
export const refundedByPeople = async (
  client: pg.PoolClient,
  { merchantId }: Payment,
  refunds: readonly Refund[],
): Promise<bigint> => {
  const alive = refunds.filter(({ status }) => status !== 'failed');
  const subjectId = { $in: alive.map(({ id }) => id) };
  const entries = await emOn(client).find(
    AuditEntryEntity,
    { merchantId, subjectId, action: 'refund.create', role: { $in: [...roles] } },
    { fields: ['subjectId'] },
  );
  const theirs = new Set(entries.map((entry) => entry.subjectId));
  return alive.reduce((sum, { id, amount }) => (theirs.has(id) ? sum + amount : sum), 0n);
};

// The events of refunds: one payment.refunded for each refund that succeeded, with the payment as
// it is at that moment.

/** A refund was made: published on the stream alone. */
export const refundCreated = (refund: Refund, at: Temporal.Instant): OutboxEvent => {
  const { id, paymentId, amount, status } = refund;
  const payload = { id, payment_id: paymentId, amount: Number(amount), status };
  return { ...asSubject(refund), stream: { kind: 'refund.created', payload }, webhook: null, at };
};

/**
 * A failed refund, published to webhooks only. It is not an event of its payment, so the payment's
 * own address does not receive it.
 */
export const refundFailedEvent = (refund: Refund, at: Temporal.Instant): OutboxEvent => {
  const webhook = { event: 'refund.failed', data: publicRefund(refund), url: null } as const;
  return { ...asSubject(refund), stream: null, webhook, at };
};

/**
 * A refund succeeded: the payment's webhook; when it was the last of the payment, its new status is
 * published with it.
 */
export const refundedEvents = (
  payment: Payment,
  refunds: readonly Refund[],
  at: Temporal.Instant,
): readonly OutboxEvent[] => {
  if (payment.status === 'refunded') return statusEvents(payment, refunds, at);
  const data = publicPayment(payment, refunds);
  const webhook = { event: 'payment.refunded', data, url: payment.webhookUrl } as const;
  return [{ ...asSubject(payment), stream: null, webhook, at }];
};
