/** What a buyer does at the simulated bank, on the hosted page's own bank step: test mode only. */
import type { Banks } from '../../acquirers/route.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTraceOf } from '../../platform/database/subject-trace.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { askAbout } from '../bank-answers/ask-bank.ts';
import type { Payment } from '../entities.ts';
import { findPayment, type RatedPayment, type PaymentKey } from '../store-payment.ts';
import type { ShownPayments } from './shown-payments.ts';

/**
 * The buyer's answer on the bank's page; `coded`: with the code that the bank requires (3-D
 * Secure).
 */
interface BankFormAnswer {
  readonly approve: boolean;
  readonly coded: boolean;
}

interface ConfirmingDeps {
  readonly database: Database;
  readonly banks: Banks;
  readonly shown: ShownPayments;
}

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
  { approve, coded }: BankFormAnswer,
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
  const asked = await inTraceOf(
    database.pool,
    { merchantId: key.merchantId, subjectId: key.paymentId },
    { kind: 'internal', name: 'ask bank' },
    () =>
      askAbout(database, banks, found, now, {
        ask: (question) => banks.simulator.ask({ ...question, confirms: approve }),
      }),
  );
  return isRefusal(asked) ? payment : asked;
};
