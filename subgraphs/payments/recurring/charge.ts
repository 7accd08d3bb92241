/**
 * Orders a charge of a saved method, or queries it: repeating the order under the payment's id is
 * the query.
 */
import type { Bank } from '../../acquirers/bank.ts';
import type { ChargeAnswer } from '../../acquirers/token-bank.ts';
import { minorUnits } from '../../rules/money.ts';
import { savedMethod } from '../../rules/recurring.ts';
import type { Payment } from '../entities.ts';
import { timedPlan } from '../rules/plan.ts';

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
