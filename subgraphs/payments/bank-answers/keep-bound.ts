/**
 * A success that would raise the merchant's balance above its bound (`ledger/balance`). The
 * simulated bank declines it, also in its own records. A real acquirer already has the buyer's
 * money: the payment succeeds, and the merchant's share stays in suspense, with an alert, until an
 * operator makes room.
 */
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import { simulatorConnector, type declineSimulated } from '../../acquirers/simulator/operations.ts';
import type { Database } from '../../platform/database/orm.ts';
import { isBeyondBound } from '../../ledger/balance.ts';
import { minorUnits } from '../../rules/money.ts';
import { adjustmentRecorded } from '../../rules/postings.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import type { Decision } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import type { PaymentChange, PaymentKey } from '../store-payment.ts';

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
export const heldDecision = (decision: Decision): Decision =>
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
  readonly connector: string;
  readonly answer: Answer;
  readonly now: Temporal.Instant;
  /** How the simulated bank declines what it approved; null for an answer that brings no money. */
  readonly declining: { readonly by: typeof declineSimulated; readonly operationId: string } | null;
}

/**
 * Applies a bank's answer by `apply`, which is given the answer and whether the merchant's part is
 * held in suspense; a success beyond the bound is applied a second time as what becomes of it.
 */
export const applyWithinBound = async <Answer>(
  database: Database,
  key: PaymentKey,
  { connector, answer, now, declining }: Bounded<Answer>,
  apply: (answer: Answer | typeof turnedDown, isHeld: boolean) => Promise<Payment | Refusal>,
): Promise<Payment | Refusal> => {
  try {
    return await apply(answer, false);
  } catch (error) {
    if (!isBeyondBound(error) || !declining) throw error;
  }
  if (connector === simulatorConnector) {
    const { by, operationId } = declining;
    const { failureCode } = turnedDown;
    await by(database.pool, { merchantId: key.merchantId, operationId, failureCode });
    return apply(turnedDown, false);
  }
  await alertOfHeld(database, key, connector, now);
  return apply(answer, true);
};
