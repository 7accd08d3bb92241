/**
 * Orders a charge of a saved method, or asks what became of it: the order under the payment's id is
 * also the question.
 */
import type { Bank } from '../../kernel/banks/bank.ts';
import type { ChargeAnswer } from '../../kernel/banks/token-bank.ts';
import { minorUnits } from '../../kernel/rules/money.ts';
import { savedMethod } from '../../kernel/rules/recurring.ts';
import type { Payment } from '../entities.ts';
import { timedPlan } from '../rules/plan.ts';

/**
 * What the bank answers about the charge now. `isFirst`: it was made a moment ago, and nobody has
 * ordered it yet. Nothing is applied.
 */
export const orderCharge = async (
  bank: Bank,
  payment: Payment,
  isFirst: boolean,
  now: Temporal.Instant,
): Promise<ChargeAnswer> => {
  const saved = savedMethod(payment.savedReference);
  if (!saved) throw new Error(`charge ${payment.id} has no saved method`);
  const { merchantId, id: operationId, currency, plannedOutcome, plannedFailureCode } = payment;
  const planned =
    plannedOutcome &&
    timedPlan({ outcome: plannedOutcome, failureCode: plannedFailureCode }, payment.amount);
  return bank.charge({
    merchantId,
    operationId,
    amount: minorUnits(payment.amount),
    currency,
    savedReference: saved.reference,
    planned,
    receiptTermsId: payment.receiptTermsId,
    isFirst,
    now,
  });
};
