/**
 * The orders of sessions and of charges, and the stored part of the bank's answer. The same payment
 * always makes the same order.
 */
import type {
  Card,
  SessionAnswer,
  SessionOrder,
  Accepted,
  BankAnswer,
  Bank,
  ChargeAnswer,
} from '../../acquirers/bank.ts';
import type { Database } from '../../platform/database/orm.ts';
import { timedPlan, type BuyerMethod } from '../../rules/banks.ts';
import { minorUnits } from '../../rules/money.ts';
import { isBinding, savedText, savedMethod } from '../../rules/recurring.ts';
import type { Refusal } from '../../rules/refusal.ts';
import { changePayment, type Decision } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import {
  unpublished,
  type RatedPayment,
  type PaymentKey,
  type PaymentPatch,
} from '../store-payment.ts';
import { callbacksOf } from '../rules/create.ts';

/** What the buyer sends by pressing Pay. */
export interface SessionRequest {
  readonly key: PaymentKey;
  readonly card: Card | null;
  readonly pageUrl: string;
  readonly now: Temporal.Instant;
  /** The payment as the page showed it, where that is remembered. It may have moved since. */
  readonly shown?: RatedPayment | undefined;
}

export const sessionOrder = (
  payment: Payment,
  by: Pick<SessionRequest, 'card' | 'pageUrl' | 'now'> & { readonly method: BuyerMethod },
): SessionOrder => {
  const { id: operationId, processingUntil } = payment;
  if (processingUntil === null) throw new Error(`payment ${operationId} has no session`);
  return {
    ...(payment.capture === 'manual' ? { holds: true } : {}),
    ...(isBinding(payment.kind) ? { save: { verification: payment.verification } } : {}),
    ...by,
    merchantId: payment.merchantId,
    shopId: payment.shopId,
    operationId,
    amount: minorUnits(payment.amount),
    currency: payment.currency,
    planned: plannedFor(payment),
    callbacks: payment.mode === 'test' ? callbacksOf(payment.metadata) : null,
    sessionUntil: processingUntil,
    reference: payment.bankRef,
    receiptTermsId: payment.receiptTermsId,
  };
};

const plannedFor = ({ plannedOutcome: outcome, plannedFailureCode, amount }: Payment) =>
  outcome && timedPlan({ outcome, failureCode: plannedFailureCode }, amount);

// What a bank's approval means for a payment, whether it comes in time or too late.

export type Approval = BankAnswer & { readonly kind: 'approved' };

/**
 * The columns that an approval fills: when the money came, the bank's references, who paid. Live
 * payments show the bank's id in `metadata.bank_ref`.
 */
export const approvalPatch = (payment: Payment, answer: Accepted, now: Temporal.Instant) =>
  ({ ...acceptedPatch(payment, answer), capturedAt: now }) satisfies PaymentPatch;

/** The same without the money, which the bank only holds yet. */
export const acceptedPatch = (
  payment: Payment,
  { reference, rrn, traits, savedReference }: Accepted,
) =>
  ({
    ...referencePatch(payment, reference),
    askAt: null,
    rrn,
    customerCardBrand: traits.cardBrand ?? payment.customerCardBrand,
    customerCardMask: traits.cardMask ?? payment.customerCardMask,
    customerCardHolder: traits.cardHolder ?? payment.customerCardHolder,
    customerPhoneMask: traits.phoneMask,
    customerPayerBank: traits.payerBank,
    step: null,
    stepUrl: null,
    savedReference: savedBy(payment, savedReference) ?? payment.savedReference,
  }) satisfies PaymentPatch;

/** The bank's reference, in `bank_ref` of a live payment, too (docs/contract.md#reserved-metadata). */
export const referencePatch = ({ mode, metadata }: Payment, reference: string) => ({
  bankRef: reference,
  metadata: mode === 'live' ? { ...metadata, bank_ref: reference } : metadata,
});

/** The method that a binding saved, with the connector that has it. */
const savedBy = ({ kind, connector }: Payment, reference: string | undefined): string | null =>
  isBinding(kind) && connector && reference ? savedText({ connector, reference }) : null;

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
    return unpublished({
      ...referencePatch(payment, reference),
      step,
      stepUrl,
      askAt,
      customerCardBrand: traits.cardBrand,
      customerCardMask: traits.cardMask,
    });
  };
  return changePayment(database, key, now, record, { known });
};

// Orders a charge of a saved method, or queries it: repeating the order under the payment's id is
// the query.

/**
 * The bank's present answer about the charge. `isFirst`: the charge is new and was not ordered
 * before. Nothing is applied.
 */
export const orderCharge = async (
  bank: Bank,
  payment: Payment,
  isFirst: boolean,
  now: Temporal.Instant,
): Promise<ChargeAnswer> => {
  const saved = savedMethod(payment.savedReference);
  if (!saved) throw new Error(`charge ${payment.id} has no saved method`);
  return bank.charge({
    merchantId: payment.merchantId,
    operationId: payment.id,
    amount: minorUnits(payment.amount),
    currency: payment.currency,
    savedReference: saved.reference,
    planned: plannedFor(payment),
    receiptTermsId: payment.receiptTermsId,
    isFirst,
    now,
  });
};
