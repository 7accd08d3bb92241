/**
 * A payment that succeeds takes a use of its link, under the lock of the link's row. If none is
 * left, it is refunded in full automatically. Payment, books, link, refund and alert are one
 * transaction of one merchant.
 */
import type pg from 'pg';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import { newRowId, inTransaction } from '../../platform/database/statement.ts';
import { asSubject } from '../../rules/event.ts';
import { minorUnits, type MinorUnits } from '../../rules/money.ts';
import { paymentSucceeded, refundOpened } from '../../rules/postings.ts';
import type { Payment, PaymentLink } from '../entities.ts';
import { type PaymentChange, storePayment } from '../store-payment.ts';
import { actingItself, refundCreated, recordRefund, newRefund } from '../refunds/record-refund.ts';
import { linkPaid, lockLinkOfPayment, moveLink } from './store-link.ts';
import { linkIdKey } from './rules.ts';

/** What the buyer pays: a capture may take a part. */
const paidBy = (before: Payment, { patch }: PaymentChange): MinorUnits =>
  minorUnits(patch.amountCaptured ?? before.amount);

/** The link after one more of its payments. */
const withPayment = (link: PaymentLink, amount: bigint, now: Temporal.Instant): PaymentLink => {
  const usesLeft = link.usesLeft === null ? null : link.usesLeft - 1;
  const isPaid = usesLeft === 0 && link.status === 'active';
  return {
    ...link,
    usesLeft,
    paymentsCount: link.paymentsCount + 1,
    amountPaid: String(BigInt(link.amountPaid) + amount),
    ...(isPaid ? { status: 'paid', finalizedAt: now } : {}),
  };
};

const exhaustedReason = 'The link had no use left when the payment succeeded';

/** The change of a payment that found no use: nothing was sold, so that no fee is taken. */
const givenBack = async (
  client: pg.PoolClient,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<PaymentChange> => {
  // Money that the merchant's balance has no room for stands in suspense, and goes back by hand.
  if (change.adjustment) return change;
  const amount = paidBy(before, change);
  const row = newRefund(
    { ...before, ...change.patch },
    { id: newRowId(), amount, reason: exhaustedReason, askAt: now },
    now,
  );
  const { publicId } = before;
  await raiseAlert(client, {
    ...asSubject(before),
    kind: 'link_exhausted',
    detail: `${publicId} succeeded through a link without a use left; an automatic refund of the whole amount was ordered`,
    fields: { payment: publicId },
    at: now,
  });
  await recordRefund(client, actingItself(`link of ${publicId}`, now), before, row);
  const { rateBps: _, ...rest } = change;
  return {
    ...rest,
    patch: {
      ...change.patch,
      fee: 0n,
      feeRateBps: 0,
      metadata: { ...(change.patch.metadata ?? before.metadata), link_exhausted: 'true' },
    },
    postings: paymentSucceeded({ amount, fee: minorUnits(0n) }),
    events: (after) => [...change.events(after), refundCreated(row, now)],
    refund: { row, postings: refundOpened({ amount }) },
  };
};

const storeSuccess = (
  pool: pg.Pool,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment | null> =>
  inTransaction(
    pool,
    async (client) => {
      const link = await lockLinkOfPayment(client, before);
      if (!link) return storePayment(client, before, change, now);
      if (link.usesLeft === 0)
        return storePayment(client, before, await givenBack(client, before, change, now), now);
      const taken = withPayment(link, paidBy(before, change), now);
      await moveLink(client, taken);
      const events = (after: Payment) => [...change.events(after), linkPaid(taken, now)];
      return storePayment(client, before, { ...change, events }, now);
    },
    (stored) => stored !== null,
  );

/**
 * Writes a change of a payment, as `storePayment` does; with the success of one that was made
 * through a link, what it means for the link. A payment that names a link by its merchant's own
 * metadata is written as any other.
 */
export const storeTakingUse = (
  pool: pg.Pool,
  before: Payment,
  change: PaymentChange,
  now: Temporal.Instant,
): Promise<Payment | null> =>
  change.patch.status === 'succeeded' && linkIdKey in before.metadata
    ? storeSuccess(pool, before, change, now)
    : storePayment(pool, before, change, now);
