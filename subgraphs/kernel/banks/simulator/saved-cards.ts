/** Test cards for the states of a saved method (docs/testing.md). */
import type { TimedPlan } from '../../rules/plan.ts';
import type { SessionOrder } from '../bank.ts';

const declinesToBeSaved = '2200000000000012';
const refusesFirstCharge = '2200000000000020';

/** The digits of a card that is to be saved; null when none is. */
const savedCard = ({ save, card }: SessionOrder): string | null =>
  save && card ? card.number.replaceAll(/\D/g, '') : null;

/** What was planned, but for a card that declines to be saved. */
export const planOfSaving = (order: SessionOrder, planned: TimedPlan): TimedPlan =>
  savedCard(order) === declinesToBeSaved
    ? { outcome: 'failed', failureCode: 'do_not_honor', late: false }
    : planned;

/** `firstCharge` of a new operation: null except for a card that refuses its first charge. */
export const firstChargeOf = (order: SessionOrder): string | null =>
  savedCard(order) === refusesFirstCharge ? order.operationId : null;
