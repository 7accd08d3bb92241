/** What a bank's approval means for a payment, whether it comes in time or too late. */
import type { Accepted, BankAnswer } from '../../acquirers/bank-answer.ts';
import { isBinding, savedText } from '../../rules/recurring.ts';
import type { Payment } from '../entities.ts';
import type { PaymentPatch } from '../payment-change.ts';

/** A bank's answer that the buyer has paid. */
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
    askAt: null,
    rrn,
    bankRef: reference,
    customerCardBrand: traits.cardBrand ?? payment.customerCardBrand,
    customerCardMask: traits.cardMask ?? payment.customerCardMask,
    customerCardHolder: traits.cardHolder ?? payment.customerCardHolder,
    customerPhoneMask: traits.phoneMask,
    customerPayerBank: traits.payerBank,
    step: null,
    stepUrl: null,
    metadata: { ...payment.metadata, ...bankRefMetadata(payment, reference) },
    savedReference: savedBy(payment, savedReference) ?? payment.savedReference,
  }) satisfies PaymentPatch;

/** `bank_ref` of a live payment (docs/contract.md#reserved-metadata). */
export const bankRefMetadata = (
  { mode }: Pick<Payment, 'mode'>,
  reference: string,
): Record<string, string> => (mode === 'live' ? { bank_ref: reference } : {});

/** The method that a binding saved, with the connector that has it. */
const savedBy = ({ kind, connector }: Payment, reference: string | undefined): string | null =>
  isBinding(kind) && connector && reference ? savedText({ connector, reference }) : null;
