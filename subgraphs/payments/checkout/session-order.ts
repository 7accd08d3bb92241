/**
 * The order of a session, and the stored part of the bank's answer. The same payment always makes
 * the same order.
 */
import type { Card, SessionAnswer, SessionOrder } from '../../acquirers/bank.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { BuyerMethod } from '../../rules/buyer.ts';
import { minorUnits } from '../../rules/money.ts';
import { isBinding } from '../../rules/recurring.ts';
import type { Refusal } from '../../rules/refusal.ts';
import { bankRefMetadata } from '../bank-answers/approval.ts';
import { changePayment, type Decision } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { callbacksOf, timedPlan } from '../rules/plan.ts';
import type { RatedPayment, PaymentKey } from '../store-payment.ts';

/** What the buyer sends by pressing Pay. */
export interface SessionRequest {
  readonly key: PaymentKey;
  readonly card: Card | null;
  /** The hosted page of the payment. */
  readonly pageUrl: string;
  readonly now: Temporal.Instant;
  /** The payment as the page showed it, where that is remembered. It may have moved since. */
  readonly shown?: RatedPayment | undefined;
}

/** The order of a payment that is processing. */
export const sessionOrder = (
  payment: Payment,
  by: Pick<SessionRequest, 'card' | 'pageUrl' | 'now'> & { readonly method: BuyerMethod },
): SessionOrder => {
  const {
    merchantId,
    shopId,
    id,
    amount,
    currency,
    capture,
    metadata,
    kind,
    plannedOutcome,
    processingUntil,
  } = payment;
  if (processingUntil === null) throw new Error(`payment ${id} has no session`);
  return {
    ...(capture === 'manual' ? { holds: true } : {}),
    ...(isBinding(kind) ? { save: { verification: payment.verification } } : {}),
    ...by,
    merchantId,
    shopId,
    operationId: id,
    amount: minorUnits(amount),
    currency,
    planned:
      plannedOutcome &&
      timedPlan({ outcome: plannedOutcome, failureCode: payment.plannedFailureCode }, amount),
    callbacks: payment.mode === 'test' ? callbacksOf(metadata) : null,
    sessionUntil: processingUntil,
    reference: payment.bankRef,
    receiptTermsId: payment.receiptTermsId,
  };
};

/**
 * Records an open session; the payment as it is afterwards. Of two orders that were both answered,
 * one is recorded: the buyer is sent to one address, in every tab. `known` is the payment as the
 * call has written it.
 */
export const recordSession = (
  database: Database,
  key: PaymentKey,
  answer: SessionAnswer & { kind: 'opened' },
  now: Temporal.Instant,
  known: RatedPayment | null = null,
): Promise<Payment | Refusal> => {
  const record = ({ payment }: RatedPayment): Decision => {
    const { reference, step, stepUrl, askAt, traits } = answer;
    const isOther = payment.stepUrl !== null && payment.bankRef !== reference;
    if (payment.status !== 'processing' || isOther) return 'unchanged';
    return {
      patch: {
        bankRef: reference,
        step,
        stepUrl,
        askAt,
        customerCardBrand: traits.cardBrand,
        customerCardMask: traits.cardMask,
        metadata: { ...payment.metadata, ...bankRefMetadata(payment, reference) },
      },
      postings: [],
      events: () => [],
    };
  };
  return changePayment(database, key, now, record, { known });
};
