/**
 * How a buyer pays: the methods of the hosted page, the actions that a bank may require, and in
 * test mode the planned outcome.
 */
import { enums } from '../../schema/generated/enums.ts';
import { defaultCurrency } from './money.ts';

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
/**
 * How the simulator misbehaves when it sends its answer; without a plan it answers when it is
 * asked.
 */
export type PlannedCallbacks = (typeof plannedCallbacks)[number];
