/**
 * Changes a payment: reads it, lets a rule decide, writes the decision in one statement; again when
 * it was written in between. The statement takes the row's lock, so of two racing changes
 * exactly one finds the payment as it was read.
 */
import type pg from 'pg';
import type { Database } from '../platform/database/orm.ts';
import type { OutboxEvent } from '../platform/events/outbox.ts';
import { asSubject } from '../rules/event.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import type { Payment, Refund } from './entities.ts';
import { publicPayment } from './find-payments.ts';
import { webhookOf } from './rules/payment.ts';
import {
  type PaymentChange,
  type PaymentPatch,
  findPayment,
  storePayment,
  type RatedPayment,
  type PaymentKey,
} from './store-payment.ts';

/** A decision: what changes, a refusal, or `unchanged` when there is nothing to do. */
export type Decision = PaymentChange | Refusal | 'unchanged';

/** Writes a change, or gives null when the payment was written in between. */
type Store = (
  pool: pg.Pool,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
) => Promise<Payment | null>;

interface Changing {
  /**
   * The payment as it was read or written before. A change is decided from it, since the statement
   * proves its version; that nothing changes is decided from the row as it is.
   */
  readonly known?: RatedPayment | null;
  readonly store?: Store;
}

const races_max = 20;

/** The payment as it is after the decision was carried out, or the refusal. */
export const changePayment = async (
  database: Database,
  key: PaymentKey,
  now: Temporal.Instant,
  decide: (rated: RatedPayment) => Decision,
  { known = null, store = storePayment }: Changing = {},
): Promise<Payment | Refusal> => {
  let seen = known;
  for (let race = 0; race < races_max; race++) {
    const rated = seen ?? (await findPayment(database.pool, key, now));
    if (!rated) return refuse('not_found', 'there is no such payment');
    const decision = decide(rated);
    if (decision !== 'unchanged' && !isRefusal(decision)) {
      const stored = await store(database.pool, rated.payment, decision, now);
      if (stored) return stored;
    } else if (!seen) return decision === 'unchanged' ? rated.payment : decision;
    seen = null;
  }
  throw new Error(`payment ${key.paymentId} was written by others ${races_max} times in a row`);
};

/** What a new status publishes: always a stream event, and a webhook if the status is final. */
export const statusEvents = (
  payment: Payment,
  refunds: readonly Refund[],
  now: Temporal.Instant,
): readonly OutboxEvent[] => {
  const webhook = webhookOf(payment.status);
  const { id, status } = payment;
  return [
    {
      ...asSubject(payment),
      stream: { kind: 'payment.status_changed', payload: { id, status } },
      webhook: webhook && {
        event: webhook,
        data: publicPayment(payment, refunds),
        url: payment.webhookUrl,
      },
      // Recurring billing must receive the payments that it requested
      // (docs/architecture.md#how-a-payment-travels).
      consumer: payment.kind && 'recurring',
      at: now,
    },
  ];
};

/** A change to another status that books nothing. */
export const statusChange = (now: Temporal.Instant, patch: PaymentPatch): PaymentChange => ({
  patch,
  postings: [],
  events: (after) => statusEvents(after, [], now),
});
