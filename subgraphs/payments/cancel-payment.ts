/**
 * Gives holds up: for a merchant who cancels, and at the end of their time. Like a capture, the
 * order is written before the bank is called.
 */
import type { Banks } from '../acquirers/route.ts';
import type { KeyPrincipal } from '../platform/access/principal.ts';
import { eachAlone } from '../platform/alerts/dead-letters.ts';
import { dueOn, type Timeline } from '../platform/clock/due.ts';
import { writeEntry } from '../platform/database/audit.ts';
import type { Database } from '../platform/database/orm.ts';
import { inTransaction } from '../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { actingOf, isOfCaller, type PaymentCaller } from './parts.ts';
import { changePayment, type Decision, statusChange } from './change-payment.ts';
import type { Payment } from './entities.ts';
import { lockPayment, storeLocked } from './lock-payment.ts';
import { paymentMove, earlyOrderAskAt } from './rules/payment.ts';
import { subjectOfPayment, type PaymentKey, unpublished } from './store-payment.ts';
import { releaseOrder, askAfterOrder, sendHoldOrder } from './holds/send-hold-order.ts';
import { holdObstacle } from './rules/amounts.ts';

// Cancels a payment (docs/contract.md#payment-states). Only a pending payment is cancelled here;
// the hold of an authorized one is released above. If the bank already has the order,
// it is cancelled there afterwards, or left to expire where the bank cannot cancel.

/** What cancelling a pending payment means; refuses with `not_pending`. */
const cancellation = (payment: Payment, now: Temporal.Instant): Decision => {
  const status = paymentMove(payment.status, 'merchant_cancelled');
  if (!status)
    return refuse(
      'not_pending',
      `only a pending payment can be cancelled; this one is ${payment.status}`,
    );
  // Over already, although the sweep has not written it yet: the merchant must not get `cancelled`
  // of one payment and `expired` of the next.
  if (Temporal.Instant.compare(payment.expiresAt, now) <= 0)
    return refuse(
      'not_pending',
      'only a pending payment can be cancelled; the link of this one has expired',
    );
  return statusChange(now, { status, finalizedAt: now, askAt: earlyOrderAskAt(payment, now) });
};

/** Cancels a pending payment of the shop; refuses with `not_found` or `not_pending`. */
export const cancelPayment = (
  database: Database,
  key: Pick<KeyPrincipal, 'merchantId' | 'shopId' | 'mode'>,
  paymentId: string,
  now: Temporal.Instant,
): Promise<Payment | Refusal> =>
  changePayment(database, { merchantId: key.merchantId, paymentId }, now, ({ payment }) =>
    payment.shopId === key.shopId && payment.mode === key.mode
      ? cancellation(payment, now)
      : refuse('not_found', 'there is no such payment'),
  );

/** What cancelling means for the payment: the end of a link, or the release of a hold. */
const cancelled = (payment: Payment, now: Temporal.Instant): Decision => {
  if (payment.status !== 'authorized') return cancellation(payment, now);
  const obstacle = holdObstacle(payment, now);
  if (obstacle) return refuse('not_pending', `${obstacle}; it can no longer be cancelled`);
  return unpublished(releaseOrder('cancel', askAfterOrder(now)));
};

const orderCancellation = (
  { pool }: Pick<Database, 'pool'>,
  caller: PaymentCaller,
  { paymentId, requestId }: { readonly paymentId: string; readonly requestId: string },
  now: Temporal.Instant,
): Promise<Payment | Refusal> =>
  inTransaction(pool, async (client) => {
    const { merchantId } = caller;
    const locked = await lockPayment(client, { merchantId, paymentId }, now);
    if (!locked || !isOfCaller(locked.payment, caller))
      return refuse('not_found', 'there is no such payment');
    const { status, publicId } = locked.payment;
    const decision = cancelled(locked.payment, now);
    if (decision === 'unchanged') return locked.payment;
    if (isRefusal(decision)) return decision;
    const stored = await storeLocked(client, locked, decision, now);
    await writeEntry(
      client,
      actingOf(caller, requestId, now),
      { action: 'payment.cancel', merchantId, id: paymentId },
      { before: { payment: publicId, status }, after: { payment: publicId } },
    );
    return stored;
  });

/**
 * Cancels a payment of the caller: a pending one ends, the hold of an authorized one is released.
 * Returns the payment: cancelled, or authorized until the bank has answered. Refuses with
 * `not_found` and `not_pending`.
 */
export const cancelOrRelease = async (
  database: Database,
  banks: Banks,
  caller: PaymentCaller,
  asked: { readonly paymentId: string; readonly requestId: string },
  now: Temporal.Instant,
): Promise<Payment | Refusal> => {
  const ordered = await orderCancellation(database, caller, asked, now);
  if (isRefusal(ordered) || ordered.status !== 'authorized') return ordered;
  const { merchantId } = caller;
  const sent = await sendHoldOrder(
    database,
    banks,
    { merchantId, paymentId: asked.paymentId },
    now,
  );
  if (isRefusal(sent)) return sent;
  const { payment } = sent;
  // Another order than this one has had its effect at the bank.
  return payment.status === 'cancelled' || payment.status === 'authorized'
    ? payment
    : refuse('not_pending', `the payment is ${payment.status}`);
};

/** Holds that end at a known moment, about which nothing was ordered. */
export const holdEnds = dueOn<PaymentKey>({
  name: 'payment_holds',
  table: 'payment',
  at: 'capture_before',
  columns: 'merchant_id as "merchantId", id as "paymentId"',
  where: `status = 'authorized' and hold_order is null`,
});

/** Orders the release of a hold whose time is over, unless something was ordered meanwhile. */
const endHold = async (
  database: Database,
  banks: Banks,
  key: PaymentKey,
  now: Temporal.Instant,
): Promise<void> => {
  const ordered = await changePayment(database, key, now, ({ payment }) => {
    const { status, holdOrder, captureBefore } = payment;
    const isOver = captureBefore && Temporal.Instant.compare(captureBefore, now) <= 0;
    if (status !== 'authorized' || holdOrder !== null || !isOver) return 'unchanged';
    return unpublished(releaseOrder('end', askAfterOrder(now)));
  });
  // An order that another caller made is sent by that caller.
  if (!isRefusal(ordered) && ordered.holdOrder === 'end')
    await sendHoldOrder(database, banks, key, now);
};

const sweep_max = 500;
const ordersAtOnce = 16;

/**
 * Ends the holds that are due on a timeline; gives how many. Rejects at the end with what failed.
 */
export const endHolds = async (
  database: Database,
  banks: Banks,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const due = await holdEnds.due(database.pool, timeline, clock(), sweep_max);
  await eachAlone(
    database.pool,
    { task: holdEnds.task, limit: ordersAtOnce, subjectOf: subjectOfPayment },
    due,
    (key) => endHold(database, banks, key, clock()),
  );
  return due.length;
};
