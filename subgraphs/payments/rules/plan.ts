/** What the simulator will answer. Decision D-30: a valid metadata hint, else the amount's last two digits. */
import { plannedOutcomes, type PlannedOutcome } from '../../kernel/rules/buyer.ts';
import { isFailureCode, type FailureCode } from '../../kernel/rules/failure-code.ts';

export interface Plan {
  readonly outcome: PlannedOutcome;
  /** Set when the outcome is failed. */
  readonly failureCode: FailureCode | null;
}

const planned = (outcome: PlannedOutcome, failureCode: FailureCode | null = null): Plan => ({ outcome, failureCode });

const byAmount: Readonly<Record<string, Plan>> = {
  '1': planned('failed', 'do_not_honor'),
  '2': planned('failed', 'insufficient_funds'),
  '3': planned('failed', 'expired_card'),
  '4': planned('failed', 'fraud_suspected'),
  '5': planned('requires_action'),
  '6': planned('pending'),
  '7': planned('pending'),
};

/** The plan that an outcome and an optional code make; a failure without a valid code is `do_not_honor`. */
export const planOf = (outcome: PlannedOutcome, code: string | null | undefined): Plan =>
  outcome === 'failed' ? planned('failed', code && isFailureCode(code) ? code : 'do_not_honor') : planned(outcome);

/** The plan of a new test payment. */
export const planFor = (amount: bigint, metadata: Readonly<Record<string, string>>): Plan => {
  const hint = plannedOutcomes.find((outcome) => outcome === metadata['simulator_outcome']);
  if (hint) return planOf(hint, metadata['simulator_failure_code']);
  return byAmount[String(amount % 100n)] ?? planned('succeeded');
};

/** A plan with what the amount says beside it. */
export interface TimedPlan extends Plan {
  /** A pending operation succeeds after a while: amounts that end in 07 (decision D-30). */
  readonly late: boolean;
}

/** Whether an operation of `amount` that is planned as pending succeeds late. */
const isLate = (amount: bigint): boolean => amount % 100n === 7n;

/** The plan as the bank is told of it. */
export const timedPlan = (plan: Plan, amount: bigint): TimedPlan => ({ ...plan, late: isLate(amount) });

/** What the simulator answers to a refund of `amount`, by its own amount alone (05 to 07 stay pending, then 07 succeeds). */
export const refundPlanFor = (amount: bigint): TimedPlan => timedPlan(planFor(amount, {}), amount);

/** The reserved metadata keys of a plan (contract "Reserved metadata keys"). */
export const planMetadata = (plan: Plan): Record<string, string> =>
  plan.failureCode ? { simulator_outcome: plan.outcome, simulator_failure_code: plan.failureCode } : { simulator_outcome: plan.outcome };
