/**
 * Banks. Routes: in live mode the routes of a shop decide which connector serves an operation and
 * method; in test mode the simulator does (docs/contract.md#test-and-live).
 */
import { enums } from '../../schema/generated/enums.ts';
import type { FailureCode } from './failure-code.ts';
import { defaultCurrency } from './money.ts';

// How a buyer pays: the methods of the hosted page, the actions that a bank may require, and in test
// mode the planned outcome.

/** Methods that a buyer pays with on the hosted page. */
export const buyerMethods = ['sbp', 'cards', 'tpay', 'sberpay'] as const;
export type BuyerMethod = (typeof buyerMethods)[number];

/** The currencies of a method, whatever the bank; null: the bank's. The others are Russian ones. */
export const currenciesOf: Readonly<Record<BuyerMethod, readonly string[] | null>> = {
  sbp: [defaultCurrency],
  cards: null,
  tpay: [defaultCurrency],
  sberpay: [defaultCurrency],
};

/** What the buyer must do next at the bank. */
export type BankStep = (typeof enums.BankStep)[number];

export const plannedOutcomes = enums.SimulatorOutcome;
/** What the simulator is planned to answer. */
export type PlannedOutcome = (typeof plannedOutcomes)[number];

export const plannedCallbacks = [
  'delayed',
  'duplicate',
  'reordered',
  'contradictory',
  'late',
  'unanswered',
] as const;
/** How the simulator misbehaves as it answers; without a plan it answers when it is asked. */
export type PlannedCallbacks = (typeof plannedCallbacks)[number];

export type BankOperation = (typeof enums.BankOperation)[number];
export type RouteMethod = (typeof enums.RouteMethod)[number];

/** The methods of each operation: a payout goes by SBP, to a card or to an account. */
export const methodsOf: Readonly<Record<BankOperation, readonly RouteMethod[]>> = {
  payment: buyerMethods,
  refund: buyerMethods,
  payout: ['sbp', 'card', 'account'],
  recurrent: buyerMethods,
};

/** Calls are counted by so many minutes. */
export const healthBucket_min = 5;

/** Of each process's calls in these minutes, the durations of the last answers are kept. */
export const durationsKept = 100;

/** A breaker lets calls through, withholds them, or lets the next one through as a trial. */
export type BreakerState = (typeof enums.BreakerState)[number];

// What the simulator will answer to an operation, by the last two digits of its amount: payments,
// refunds, payouts and token charges alike.

export interface Plan {
  readonly outcome: PlannedOutcome;
  /** Set when the outcome is failed. */
  readonly failureCode: FailureCode | null;
}

/** A plan with what follows from the amount. */
export interface TimedPlan extends Plan {
  /** A pending operation succeeds after a while: amounts that end in 07. */
  readonly late: boolean;
}

const planned = (outcome: PlannedOutcome, failureCode: FailureCode | null = null): Plan => ({
  outcome,
  failureCode,
});

const byAmount: Readonly<Record<string, Plan>> = {
  '1': planned('failed', 'do_not_honor'),
  '2': planned('failed', 'insufficient_funds'),
  '3': planned('failed', 'expired_card'),
  '4': planned('failed', 'fraud_suspected'),
  '5': planned('requires_action'),
  '6': planned('pending'),
  '7': planned('pending'),
};

export const planOfAmount = (amount: bigint): Plan =>
  byAmount[String(amount % 100n)] ?? planned('succeeded');

/** A plan as the bank gets it: one that is pending and whose amount ends in 07 succeeds late. */
export const timedPlan = (plan: Plan, amount: bigint): TimedPlan => ({
  ...plan,
  late: amount % 100n === 7n,
});

/** What the simulator answers to an operation without a buyer, by its own amount alone. */
export const timedPlanOfAmount = (amount: bigint): TimedPlan =>
  timedPlan(planOfAmount(amount), amount);

/** How long what is planned to be late waits (amounts that end in 07). */
export const lateAnswer_ms = 5_000;

/** When an operation without a buyer is decided: at once, late, or never (null). */
export const decidesAloneAt = (
  plan: TimedPlan | null,
  now: Temporal.Instant,
): Temporal.Instant | null => {
  switch (plan?.outcome ?? 'succeeded') {
    case 'succeeded':
    case 'failed':
      return now;
    case 'requires_action':
    case 'pending':
      return plan?.late ? now.add({ milliseconds: lateAnswer_ms }) : null;
  }
};

/** How long after an operation's end its bank is asked again whether it succeeded after all. */
const questionsAfterEnd_min = [1, 10, 60, 360, 1_440];

/**
 * When to ask next about a payment that ended without a final answer, or a payout of a card that
 * was given up; null after a day.
 */
export const nextQuestionAfterEnd = (
  endedAt: Temporal.Instant,
  now: Temporal.Instant,
): Temporal.Instant | null =>
  questionsAfterEnd_min
    .map((minutes) => endedAt.add({ minutes }))
    .find((at) => Temporal.Instant.compare(at, now) > 0) ?? null;
