/**
 * What the simulator will answer to a payment. A valid metadata hint, else the amount's last two
 * digits.
 */
import {
  plannedCallbacks,
  plannedOutcomes,
  type PlannedCallbacks,
  type PlannedOutcome,
} from '../../rules/buyer.ts';
import { isFailureCode } from '../../rules/failure-code.ts';
import { planOfAmount, type Plan } from '../../rules/banks.ts';

export { timedPlan } from '../../rules/banks.ts';

/**
 * The plan that an outcome and an optional code make; a failure without a valid code is
 * `do_not_honor`.
 */
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
