/**
 * Applies a bank's answer about a hold, whatever its source. A capture books the captured amount
 * and its fee; a release books nothing. Only this code moves an authorized payment, except a
 * capture that was made at the bank itself (`bank-answers/apply-bank-answer`).
 */
import type { HoldAnswer } from '../../acquirers/hold-bank.ts';
import { simulatorConnector } from '../../acquirers/simulator/decline.ts';
import { turnDownHoldOrder } from '../../acquirers/simulator/holds.ts';
import type { Database } from '../../platform/database/orm.ts';
import { isBeyondBound } from '../../ledger/bound.ts';
import type { MinorUnits } from '../../rules/money.ts';
import { paymentSucceeded } from '../../rules/postings.ts';
import type { Refusal } from '../../rules/refusal.ts';
import { alertOfHeld, heldDecision } from '../bank-answers/keep-bound.ts';
import { changePayment, statusEvents, type Decision } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { storeTakingUse } from '../links/take-use.ts';
import { paymentMove, feeOf } from '../rules/payment.ts';
import type { RatedPayment } from '../store-payment.ts';
import { elapsed, unheld } from './elapsed.ts';

/** How long we wait before asking again a bank that gave no answer. */
const askAgain_s = 10;

/** The bank took the money: what was captured is booked, with the fee of it. */
const captured = (
  { payment, rateBps }: RatedPayment,
  amount: MinorUnits,
  now: Temporal.Instant,
): Decision => {
  const status = paymentMove(payment.status, 'captured');
  // Decided again from the row, which is read with its rate.
  if (!status || rateBps === null) return 'unchanged';
  const fee = feeOf(payment.mode, amount, rateBps);
  return {
    patch: {
      ...unheld,
      status,
      fee,
      amountCaptured: amount,
      captureTermsId: payment.captureTermsId,
      capturedAt: now,
      finalizedAt: now,
      feeRateBps: rateBps,
    },
    postings: paymentSucceeded({ amount, fee }),
    rateBps,
    events: (after) => statusEvents(after, [], now),
  };
};

/** The bank gave the money back to the buyer's account: nothing was booked, and nothing is. */
const released = ({ payment }: RatedPayment, now: Temporal.Instant): Decision => {
  // It had ended before the bank held the money.
  if (payment.status !== 'authorized') return { patch: unheld, postings: [], events: () => [] };
  const status = paymentMove(payment.status, 'hold_released');
  if (payment.holdOrder !== 'cancel' || !status) return elapsed(payment, now);
  return {
    patch: { ...unheld, status, finalizedAt: now },
    postings: [],
    events: (after) => statusEvents(after, [], now),
  };
};

const decide = (
  rated: RatedPayment,
  ordered: Payment,
  answer: HoldAnswer,
  now: Temporal.Instant,
): Decision => {
  const { payment } = rated;
  // The answer to an order that is over.
  if (payment.holdKey === null || payment.holdKey !== ordered.holdKey) return 'unchanged';
  const wait = (askAt: Temporal.Instant | null): Decision => ({
    patch: { askAt },
    postings: [],
    events: () => [],
  });
  switch (answer.kind) {
    case 'captured':
      // It had ended here: the question about it finds the money, which goes back.
      if (payment.status !== 'authorized')
        return { patch: { ...unheld, askAt: now }, postings: [], events: () => [] };
      return captured(rated, answer.amount, now);
    case 'released':
      return released(rated, now);
    case 'declined':
      return payment.holdOrder === 'capture'
        ? {
            patch: { ...unheld, captureBefore: payment.captureBefore },
            postings: [],
            events: () => [],
          }
        : wait(now.add({ seconds: askAgain_s }));
    case 'pending':
      return wait(answer.askAt);
    case 'unknown':
      return wait(now.add({ seconds: askAgain_s }));
  }
};

/** The failure of a simulated capture that would pass the bound of the merchant's balance. */
const turnedDownAs = 'limit_exceeded';

/**
 * Applies the answer to the order in `ordered` and returns the payment. An answer to an earlier
 * order changes nothing. If a capture would exceed the bound of the merchant's balance, the
 * simulated bank refuses it, and money that an acquirer has taken goes to suspense.
 */
export const applyHoldAnswer = async (
  database: Database,
  ordered: RatedPayment,
  answer: HoldAnswer,
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const { merchantId, id: paymentId, holdKey, connector } = ordered.payment;
  const key = { merchantId, paymentId };
  const apply = (given: HoldAnswer, isHeld: boolean) =>
    changePayment(
      database,
      key,
      now,
      (rated) => {
        const decision = decide(rated, ordered.payment, given, now);
        return isHeld ? heldDecision(decision) : decision;
      },
      { known: ordered, store: storeTakingUse },
    );
  try {
    return await apply(answer, false);
  } catch (error) {
    if (!isBeyondBound(error) || answer.kind !== 'captured' || holdKey === null) throw error;
  }
  if (connector === simulatorConnector) {
    const order = { merchantId, operationId: holdKey, failureCode: turnedDownAs } as const;
    await turnDownHoldOrder(database.pool, order);
    return apply({ kind: 'declined', failureCode: turnedDownAs, bankCode: turnedDownAs }, false);
  }
  await alertOfHeld(database, key, connector ?? '', now);
  return apply(answer, true);
};
