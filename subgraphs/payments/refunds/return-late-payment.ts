/**
 * Returns a late success (docs/contract.md#late-success). The payment keeps its status; both
 * movements are booked, and an automatic refund is ordered. The same applies to a bank that
 * contradicts its refusal. The refund is written with the answer and sent by the refund jobs under
 * its own id, so a crash leaves one refund at the bank.
 */
import { newRowId } from '../../platform/database/new-id.ts';
import type pg from 'pg';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { isBeyondBound } from '../../ledger/bound.ts';
import { minorUnits } from '../../rules/money.ts';
import { paymentSucceeded, refundOpened } from '../../rules/postings.ts';
import { approvalPatch, type Approval } from '../bank-answers/approval.ts';
import type { Payment } from '../entities.ts';
import type { Refund } from './entities.ts';
import { alertOfHeld, intoSuspense } from '../bank-answers/keep-bound.ts';
import { lockPayment, storeLocked } from '../lock-payment.ts';
import { recordRefund, newRefund } from './record-refund.ts';
import { refundCreated } from './events.ts';
import { endedUnpaid } from '../rules/payment.ts';
import type { PaymentChange } from '../payment-change.ts';
import type { PaymentKey } from '../store-payment.ts';

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
  { merchantId, shopId, mode, id, publicId, status }: Payment,
  connector: string,
  at: Temporal.Instant,
) =>
  raiseAlert(client, {
    kind: 'late_success',
    merchantId,
    shopId,
    mode,
    subjectId: id,
    detail: `${connector} reported success of ${publicId} after it was ${status}; an automatic refund of the whole amount was ordered`,
    fields: { bank: connector, payment: publicId, status },
    at,
  });

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
    return await returnLate(database, late);
  } catch (error) {
    if (!isBeyondBound(error)) throw error;
  }
  await alertOfHeld(database, key, connector, now);
  return inTransaction(database.pool, async (client) => {
    const locked = await lockPayment(client, key, now);
    if (!locked) throw new Error(`there is no payment ${key.paymentId}`);
    const { payment } = locked;
    return isToReturn(payment)
      ? storeLocked(client, locked, heldSuccess(payment, late), now)
      : payment;
  });
};

// Money that came is marked by its moment: it has been booked and is on its way back.
const isToReturn = ({ status, capturedAt }: Payment): boolean =>
  endedUnpaid(status) && capturedAt === null;

const returnLate = (
  database: Database,
  { key, connector, answer, now }: LatePayment,
): Promise<Payment> =>
  inTransaction(database.pool, async (client) => {
    const locked = await lockPayment(client, key, now);
    if (!locked) throw new Error(`there is no payment ${key.paymentId}`);
    const { payment } = locked;
    if (!isToReturn(payment)) return payment;
    const refund = automaticRefund(payment, now);
    await alertOf(client, payment, connector, now);
    await recordRefund(
      client,
      {
        principal: { kind: 'service', name: 'payments' },
        requestId: `bank ${connector}`,
        now: () => now,
      },
      payment,
      refund,
    );
    return storeLocked(client, locked, lateSuccess(payment, refund, connector, answer, now), now);
  });
