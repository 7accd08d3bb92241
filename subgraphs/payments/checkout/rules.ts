/**
 * What the hosted page offers: the choice of a method while it is `any`, and another outcome in
 * test mode.
 */
import {
  planOfAmount,
  type Plan,
  buyerMethods,
  type BuyerMethod,
  plannedCallbacks,
  plannedOutcomes,
  type PlannedCallbacks,
  type PlannedOutcome,
} from '../../rules/banks.ts';
import { isFailureCode } from '../../rules/failure-code.ts';
import type { RecurringKind } from '../../rules/recurring.ts';
import type { PaymentMethod } from '../rules/payment.ts';

/** A method that a buyer pays with; null for `any` (not chosen yet) and `recurrent` (no buyer). */
export const buyerMethod = (method: PaymentMethod): BuyerMethod | null =>
  buyerMethods.find((candidate) => candidate === method) ?? null;

/**
 * The method that the page uses. The buyer of a `recurrent` payment pays by card, while the payment
 * keeps its method and that method's rate. A charge of a saved method has no buyer.
 */
export const pageMethod = (payment: {
  readonly method: PaymentMethod;
  readonly kind: RecurringKind | null;
}): PaymentMethod =>
  payment.method === 'recurrent' && payment.kind === null ? 'cards' : payment.method;

// What the simulator will answer to a payment. A valid metadata hint, else the amount's last two
// digits.

/** The plan of an outcome; a failure without a valid code is `do_not_honor`. */
export const planOf = (outcome: PlannedOutcome, code: string | null | undefined): Plan => {
  if (outcome !== 'failed') return { outcome, failureCode: null };
  return { outcome, failureCode: code && isFailureCode(code) ? code : 'do_not_honor' };
};

/** The plan of a new test payment. */
export const planFor = (amount: bigint, metadata: Readonly<Record<string, string>>): Plan => {
  const hint = plannedOutcomes.find((outcome) => outcome === metadata['simulator_outcome']);
  return hint ? planOf(hint, metadata['simulator_failure_code']) : planOfAmount(amount);
};

/** The metadata keys of a plan (docs/contract.md#reserved-metadata). */
export const planMetadata = (plan: Plan): Record<string, string> =>
  plan.failureCode
    ? { simulator_outcome: plan.outcome, simulator_failure_code: plan.failureCode }
    : { simulator_outcome: plan.outcome };

/**
 * How the simulator delivers its answer, by the metadata key `simulator_callbacks`; null: by
 * queries. `create` has refused unknown values.
 */
export const callbacksOf = (metadata: Readonly<Record<string, string>>): PlannedCallbacks | null =>
  plannedCallbacks.find((planned) => planned === metadata['simulator_callbacks']) ?? null;
