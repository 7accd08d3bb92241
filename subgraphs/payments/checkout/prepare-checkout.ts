/**
 * What happens on the hosted page before the bank: the buyer chooses a method, a tester plans
 * another outcome. Both only while the payment is pending.
 */
import type { Banks } from '../../acquirers/route.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { BuyerMethod, PlannedOutcome } from '../../rules/banks.ts';
import { defaultCurrency } from '../../rules/money.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { askAbout } from '../bank-answers/ask-bank.ts';
import { changePayment } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import type { ReadingDeps } from '../parts.ts';
import {
  type PaymentKey,
  findPayment,
  inPaymentTrace,
  type RatedPayment,
  unpublished,
} from '../store-payment.ts';
import { planMetadata, planOf } from '../rules/create.ts';
import type { MutationcheckoutSimulatorConfirmArgs } from '../../../schema/generated/payments.ts';

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
    return unpublished({ method });
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
    return unpublished({
      plannedOutcome: plan.outcome,
      plannedFailureCode: plan.failureCode,
      metadata: { ...metadata, ...planMetadata(plan) },
    });
  });

// What a buyer does at the simulated bank, on the hosted page's own bank step: test mode only.

type ConfirmingDeps = Pick<ReadingDeps, 'database' | 'banks' | 'shown'>;

/** The bank shows its page only to a buyer who has something to do there. */
const awaitsBuyer = ({ step }: Payment): boolean => step !== null && step !== 'wait';

/**
 * The payment as it is remembered, where its buyer was at the bank and its session lasts; else as
 * it is read. Null when there is none.
 */
const findAtBank = async (
  { database, shown }: ConfirmingDeps,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<RatedPayment | null> => {
  const known = shown.find(key.paymentId);
  if (known && known.rateBps !== null && awaitsBuyer(known.payment)) {
    const { processingUntil } = known.payment;
    if (processingUntil && Temporal.Instant.compare(now, processingUntil) < 0) return known;
  }
  const found = await findPayment(database.pool, key, now);
  if (found) shown.keep(found);
  return found;
};

/**
 * Confirms or declines at the simulated bank, and applies its answer. A payment that does not wait
 * for its buyer is given back as it is.
 */
export const confirmSimulator = async (
  deps: ConfirmingDeps,
  key: PaymentKey,
  { approve, coded }: Required<MutationcheckoutSimulatorConfirmArgs>,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const { database, banks } = deps;
  const found = await findAtBank(deps, key, now);
  if (!found) return refuse('not_found', 'there is no such payment');
  const { payment } = found;
  if (payment.mode !== 'test')
    return refuse('bad_request', 'only a test payment can be confirmed here');
  if (payment.status === 'pending')
    return refuse('bad_request', 'the buyer has not continued to the bank yet');
  if (!awaitsBuyer(payment)) return payment;
  if (approve && !coded && payment.step === 'three_d_secure')
    return refuse('bad_request', 'the bank requires its code');
  const asked = await inPaymentTrace(database, key, 'ask bank', () =>
    askAbout(database, banks, found, now, {
      ask: (question) => banks.simulator.ask({ ...question, confirms: approve }),
    }),
  );
  return isRefusal(asked) ? payment : asked;
};
