/**
 * Orders an automatic refund again that the bank refused: as a new refund, since a bank answers a
 * repeated one as before. Its money stands in suspense, and comes back from there in the statement
 * that sets it aside for the new one.
 */
import type pg from 'pg';
import type { Banks } from '../../acquirers/route.ts';
import { newRowId } from '../../platform/database/new-id.ts';
import type { Acting } from '../../platform/database/audit.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { withinBound } from '../../ledger/bound.ts';
import { minorUnits } from '../../rules/money.ts';
import { adjustmentRecorded, refundOpened } from '../../rules/postings.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { lockPayment, storeLocked } from '../lock-payment.ts';
import type { PaymentChange } from '../payment-change.ts';
import type { Refund } from './entities.ts';
import { refundCreated } from './events.ts';
import { recordRefund, newRefund } from './record-refund.ts';
import { retryObstacle } from './rules.ts';
import { sendRefund } from './send-refund.ts';

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
  const opening = inTransaction(
    database.pool,
    (client) => openRetry(client, acting, failed, now),
    (opened) => !isRefusal(opened),
  );
  const opened = await withinBound(opening, beyondBound);
  if (isRefusal(opened)) return opened;
  const { merchantId, id: refundId } = opened;
  return (await sendRefund(database, banks, { merchantId, refundId }, now)) ?? opened;
};
