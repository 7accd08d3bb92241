/**
 * What happens on the hosted page before the bank: the buyer chooses a method, a tester plans
 * another outcome. Both only while the payment is pending.
 */
import type { BuyerMethod, PlannedOutcome } from '../../rules/buyer.ts';
import type { Banks } from '../../acquirers/route.ts';
import type { Database } from '../../platform/database/orm.ts';
import { defaultCurrency } from '../../rules/money.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Payment } from '../entities.ts';
import { changePayment } from '../change-payment.ts';
import { planMetadata, planOf } from '../rules/plan.ts';
import type { PaymentKey } from '../store-payment.ts';

/**
 * Fixes the method of a payment created with `any`, without a webhook or an event. Choosing the
 * same method again is allowed. Refuses with `method_unsupported` a method that does not take the
 * currency of the payment, or that cannot hold money for a manual capture.
 */
export const chooseMethod = async (
  database: Database,
  banks: Pick<Banks, 'offered'>,
  key: PaymentKey,
  method: BuyerMethod,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const chosen = await fixMethod(database, key, method, now, []);
  if (isRefusal(chosen) || takesAny(chosen) || chosen.method !== 'any') return chosen;
  const holds = chosen.capture === 'manual';
  const offered = await banks.offered({ ...chosen, holds });
  if (offered.includes(method)) return fixMethod(database, key, method, now, offered);
  const what = holds ? 'holds money by' : `takes ${chosen.currency} by`;
  return refuse('method_unsupported', `no bank of the shop ${what} ${method}`);
};

/** Whether every method that the shop's banks have can take the payment. */
const takesAny = ({ capture, currency }: Payment): boolean =>
  capture === null && currency === defaultCurrency;

/** Leaves a payment as it is that not every method can take, by one that is not `offered`. */
const fixMethod = (
  database: Database,
  key: PaymentKey,
  method: BuyerMethod,
  now: Temporal.Instant,
  offered: readonly BuyerMethod[],
): Promise<Payment | Refusal> =>
  changePayment(database, key, now, ({ payment }) => {
    if (payment.status !== 'pending')
      return refuse('not_pending', `the payment is ${payment.status}`);
    if (payment.method === method) return 'unchanged';
    if (payment.method !== 'any')
      return refuse('bad_request', `the method of this payment is ${payment.method}`);
    if (!takesAny(payment) && !offered.includes(method)) return 'unchanged';
    return { patch: { method }, postings: [], events: () => [] };
  });

/** Test mode: plans what the simulator will answer. */
export const planOutcome = (
  database: Database,
  key: PaymentKey,
  outcome: PlannedOutcome,
  code: string | null,
  now: Temporal.Instant,
): Promise<Payment | Refusal> =>
  changePayment(database, key, now, ({ payment }) => {
    if (payment.mode !== 'test')
      return refuse('bad_request', 'only a test payment has a planned outcome');
    if (payment.status !== 'pending')
      return refuse('not_pending', `the payment is ${payment.status}`);
    const plan = planOf(outcome, code);
    const { simulator_failure_code: _, ...metadata } = payment.metadata;
    return {
      patch: {
        plannedOutcome: plan.outcome,
        plannedFailureCode: plan.failureCode,
        metadata: { ...metadata, ...planMetadata(plan) },
      },
      postings: [],
      events: () => [],
    };
  });
