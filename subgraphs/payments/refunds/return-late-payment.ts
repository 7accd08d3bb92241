/**
 * Returns a late success (docs/contract.md#late-success). The payment keeps its status; both
 * movements are booked, and an automatic refund is ordered. The same applies to a bank that
 * contradicts its refusal. The refund is written with the answer and sent by the refund jobs under
 * its own id, so a crash leaves one refund at the bank.
 */
import type pg from 'pg';
import type { Banks } from '../../acquirers/route.ts';
import { isBeyondBound, withinBound } from '../../ledger/balance.ts';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import type { Acting } from '../../platform/database/audit.ts';
import type { Database } from '../../platform/database/orm.ts';
import { newRowId, inTransaction } from '../../platform/database/statement.ts';
import { asSubject } from '../../rules/event.ts';
import { minorUnits } from '../../rules/money.ts';
import { paymentSucceeded, refundOpened, adjustmentRecorded } from '../../rules/postings.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { alertOfHeld, intoSuspense } from '../bank-answers/keep-bound.ts';
import { approvalPatch, type Approval } from '../bank-answers/orders.ts';
import type { Payment, Refund } from '../entities.ts';
import { lockPayment, storeLocked } from '../lock-payment.ts';
import { endedUnpaid } from '../rules/payment.ts';
import type { PaymentChange, PaymentKey } from '../store-payment.ts';
import { actingItself, recordRefund, newRefund, refundCreated } from './record-refund.ts';
import { retryObstacle } from '../rules/amounts.ts';
import { sendRefund } from './send-refund.ts';

/** The automatic refund: of everything, due at the bank at once. */
const automaticRefund = (payment: Payment, now: Temporal.Instant): Refund => {
  const reason = `The bank reported success after the payment was ${payment.status}`;
  return newRefund(payment, { id: newRowId(), amount: payment.amount, reason, askAt: now }, now);
};

/**
 * The money is reserved for its refund in the same statement, so it is never available. There is no
 * fee, because nothing was sold.
 */
const lateSuccess = (
  payment: Payment,
  refund: Refund,
  connector: string,
  answer: Approval,
  now: Temporal.Instant,
): PaymentChange => {
  const amount = minorUnits(payment.amount);
  const patch = approvalPatch(payment, answer, now);
  return {
    // A link that was cancelled before any session of ours has no connector yet: the refund goes to
    // the bank that answered.
    patch: {
      ...patch,
      connector: payment.connector ?? connector,
      metadata: { ...patch.metadata, late_success: 'true' },
    },
    postings: paymentSucceeded({ amount, fee: minorUnits(0n) }),
    events: () => [refundCreated(refund, now)],
    refund: { row: refund, postings: refundOpened({ amount }) },
  };
};

const alertOf = (
  client: pg.PoolClient,
  payment: Payment,
  connector: string,
  at: Temporal.Instant,
) => {
  const { publicId, status } = payment;
  return raiseAlert(client, {
    ...asSubject(payment),
    kind: 'late_success',
    detail: `${connector} reported success of ${publicId} after it was ${status}; an automatic refund of the whole amount was ordered`,
    fields: { bank: connector, payment: publicId, status },
    at,
  });
};

interface LatePayment {
  readonly key: PaymentKey;
  readonly connector: string;
  readonly answer: Approval;
  readonly now: Temporal.Instant;
}

/**
 * A late success that would exceed the bound of the merchant's balance: booked, and held in
 * suspense. An operator returns its money.
 */
const heldSuccess = (payment: Payment, { connector, answer, now }: LatePayment): PaymentChange => {
  const { refund: _, ...change } = lateSuccess(
    payment,
    automaticRefund(payment, now),
    connector,
    answer,
    now,
  );
  return intoSuspense({ ...change, events: () => [] });
};

/**
 * Books the late success once, however often it is answered; the payment as it is afterwards. A
 * payment that had not ended unpaid is left as it is.
 */
export const returnLatePayment = async (
  database: Database,
  key: PaymentKey,
  connector: string,
  answer: Approval,
  now: Temporal.Instant,
): Promise<Payment> => {
  const late = { key, connector, answer, now };
  try {
    return await returnLate(database, late, false);
  } catch (error) {
    if (!isBeyondBound(error)) throw error;
  }
  await alertOfHeld(database, key, connector, now);
  return returnLate(database, late, true);
};

// Money that came is marked by its moment: it has been booked and is on its way back.
const isToReturn = ({ status, capturedAt }: Payment): boolean =>
  endedUnpaid(status) && capturedAt === null;

const returnLate = (database: Database, late: LatePayment, isHeld: boolean): Promise<Payment> =>
  inTransaction(database.pool, async (client) => {
    const { key, connector, answer, now } = late;
    const locked = await lockPayment(client, key, now);
    if (!locked) throw new Error(`there is no payment ${key.paymentId}`);
    const { payment } = locked;
    if (!isToReturn(payment)) return payment;
    if (isHeld) return storeLocked(client, locked, heldSuccess(payment, late), now);
    const refund = automaticRefund(payment, now);
    await alertOf(client, payment, connector, now);
    await recordRefund(client, actingItself(`bank ${connector}`, now), payment, refund);
    return storeLocked(client, locked, lateSuccess(payment, refund, connector, answer, now), now);
  });

// Orders an automatic refund again that the bank refused: as a new refund, since a bank answers a
// repeated one as before. Its money stands in suspense, and comes back from there in the statement
// that sets it aside for the new one.

const beyondBound = refuse(
  'insufficient_balance',
  'the refund would take the balance beyond its limit of 2^53-1',
);

/** What the new refund means: its money leaves suspense for the merchant's reserve. */
const takenUp = (row: Refund, now: Temporal.Instant): PaymentChange => {
  const amount = minorUnits(row.amount);
  return {
    patch: {},
    postings: [],
    adjustment: {
      postings: adjustmentRecorded({ amount, inFavour: true }),
      description: 'Taken out of suspense: its refund is ordered again',
    },
    events: () => [refundCreated(row, now)],
    refund: { row, postings: refundOpened({ amount }) },
  };
};

const openRetry = async (
  client: pg.PoolClient,
  acting: Acting,
  { merchantId, paymentId, id }: Pick<Refund, 'merchantId' | 'paymentId' | 'id'>,
  now: Temporal.Instant,
): Promise<Refund | Refusal> => {
  const locked = await lockPayment(client, { merchantId, paymentId }, now);
  const failed = locked?.refunds.find((refund) => refund.id === id);
  if (!locked || !failed) return refuse('not_found', 'there is no such refund');
  const obstacle = retryObstacle(locked.payment, locked.refunds, failed);
  if (obstacle) return obstacle;
  const { amount, reason } = failed;
  const asked = { id: newRowId(), amount, reason, askAt: now };
  const refund = newRefund(locked.payment, asked, now);
  await recordRefund(client, acting, locked.payment, refund);
  await storeLocked(client, locked, takenUp(refund, now), now);
  return refund;
};

/**
 * Orders it again; the new refund as it is once the bank has answered. Of many such calls at once
 * one has effect. Refuses with `not_found`, with `bad_request` a refund that is no automatic one
 * which the bank refused, with `already_refunded`, `amount_exceeds_remainder` (another one is under
 * way), and `insufficient_balance`.
 */
export const retryRefund = async (
  database: Database,
  banks: Banks,
  acting: Acting,
  failed: Pick<Refund, 'merchantId' | 'paymentId' | 'id'>,
  now: Temporal.Instant,
): Promise<Refund | Refusal> => {
  const opening = inTransaction(database.pool, (client) => openRetry(client, acting, failed, now));
  const opened = await withinBound(opening, beyondBound);
  if (isRefusal(opened)) return opened;
  const { merchantId, id: refundId } = opened;
  return (await sendRefund(database, banks, { merchantId, refundId }, now)) ?? opened;
};
