/**
 * A success that would raise the merchant's balance above its bound (`ledger/balance`). The
 * simulated bank declines it, also in its own records. A real acquirer already has the buyer's
 * money: the payment succeeds, and the merchant's share stays in suspense, with an alert, until an
 * operator makes room.
 */
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import { declineSimulated, simulatorConnector } from '../../acquirers/simulator/operations.ts';
import type { Database } from '../../platform/database/orm.ts';
import { isBeyondBound } from '../../ledger/balance.ts';
import { minorUnits } from '../../rules/money.ts';
import { adjustmentRecorded } from '../../rules/postings.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { changePayment, type Decision } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { storeTakingUse } from '../links/take-use.ts';
import type { PaymentChange, PaymentKey, RatedPayment } from '../store-payment.ts';

/** What the simulated bank answers instead of a success that would pass the bound. */
const turnedDown = {
  kind: 'declined',
  failureCode: 'limit_exceeded',
  bankCode: 'limit_exceeded',
} as const;

/** The adjustment that takes what the postings of a success give the merchant into suspense. */
const heldBack = (
  postings: PaymentChange['postings'],
): NonNullable<PaymentChange['adjustment']> => {
  const amount = postings.reduce(
    (sum, { from, to, amount: moved }) =>
      sum + (to === 'merchant' ? moved : 0n) - (from === 'merchant' ? moved : 0n),
    0n,
  );
  return {
    postings: adjustmentRecorded({ amount: minorUnits(amount), inFavour: false }),
    description: 'Held: the balance would pass its limit of 2^53-1',
  };
};

/** The same change with the merchant's part in suspense. */
export const intoSuspense = (change: PaymentChange): PaymentChange => ({
  ...change,
  adjustment: heldBack(change.postings),
});

/**
 * The same for a decision. One that gives the money back in the same statement needs no room of its
 * own and is left as it is.
 */
const heldDecision = (decision: Decision): Decision =>
  decision === 'unchanged' || isRefusal(decision) || decision.refund
    ? decision
    : intoSuspense(decision);

/**
 * Raises the alert before the money is held: an alert without money is harmless, money without an
 * alert would be overlooked.
 */
export const alertOfHeld = (
  database: Database,
  { merchantId, paymentId }: PaymentKey,
  connector: string,
  at: Temporal.Instant,
): Promise<boolean> =>
  raiseAlert(database.pool, {
    kind: 'balance_at_bound',
    merchantId,
    shopId: null,
    mode: connector === simulatorConnector ? 'test' : 'live',
    subjectId: paymentId,
    detail: `${connector} took the money of payment ${paymentId}, and the merchant's balance has no room for it: it stands in suspense`,
    fields: { bank: connector, payment: paymentId },
    at,
  });

interface Bounded<Answer> {
  readonly key: PaymentKey;
  readonly connector: string;
  readonly answer: Answer;
  readonly now: Temporal.Instant;
  /** What brings the money at the bank; null: the answer brings none. */
  readonly operationId: string | null;
  /** The payment as the call has read it. */
  readonly known: RatedPayment | null;
}

/**
 * Changes a payment by a bank's answer as `decide` says; a success beyond the bound is decided a
 * second time as what becomes of it.
 */
export const applyWithinBound = async <Answer>(
  database: Database,
  { key, connector, answer, now, operationId, known }: Bounded<Answer>,
  decide: (rated: RatedPayment, answer: Answer | typeof turnedDown) => Decision,
): Promise<Payment | Refusal> => {
  const apply = (applied: Answer | typeof turnedDown, isHeld: boolean) => {
    const bounded = (rated: RatedPayment): Decision => {
      const decision = decide(rated, applied);
      return isHeld ? heldDecision(decision) : decision;
    };
    return changePayment(database, key, now, bounded, { known, store: storeTakingUse });
  };
  try {
    return await apply(answer, false);
  } catch (error) {
    if (!isBeyondBound(error) || operationId === null) throw error;
  }
  if (connector === simulatorConnector) {
    const { failureCode } = turnedDown;
    await declineSimulated(database.pool, { merchantId: key.merchantId, operationId, failureCode });
    return apply(turnedDown, false);
  }
  await alertOfHeld(database, key, connector, now);
  return apply(answer, true);
};
