/**
 * Queries the bank when a live payment with an open outcome, or with an open refund, is read or
 * changed. A reader waits only a moment; a later answer is applied when it comes. Frequent reads do
 * not cause frequent queries.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ClaimingCaller } from '../../platform/database/idempotency.ts';
import { askBank } from './ask-bank.ts';
import type { Payment, Refund } from '../entities.ts';
import { loadPayments } from '../find-payments.ts';
import type { PaymentsDeps, ReadingDeps } from '../parts.ts';
import { order_max_s } from '../rules/order.ts';
import { mayHaveRefunds } from '../rules/amounts.ts';
import { sendRefund } from '../refunds/send-refund.ts';
import { findRefunds } from '../store-payment.ts';

type RefreshingDeps = Pick<PaymentsDeps, 'database' | 'banks' | 'wakeRelay'>;

/** How long a reader waits for the bank. */
const patience_ms = 1_500;
/** The least time between two queries about a payment that reads cause in this process. */
const pause_ms = 3_000;
/** The same of money that the bank holds: it ends by itself once in a week. */
const heldPause_ms = 300_000;
const remembered = 10_000;

/** One that the bank has, or whose order must have ended by now. */
const isAsked = ({ status, bankRef, createdAt }: Refund, now: Temporal.Instant): boolean =>
  status === 'pending' &&
  (bankRef !== null || Temporal.Instant.compare(createdAt.add({ seconds: order_max_s }), now) <= 0);

/**
 * A payment that was stopped by a contradicting echo is left to the person who handles the alert.
 */
const isOpen = ({ status, askAt }: Payment): boolean => status === 'processing' && askAt !== null;

/**
 * Held money, about which nothing is ordered: the bank, or a person in its cabinet, may have taken
 * it or given it up, and the notification may be lost.
 */
const isHeld = ({ status, holdOrder }: Payment): boolean =>
  status === 'authorized' && holdOrder === null;

const askAbout = async (
  { database, banks }: RefreshingDeps,
  payment: Payment,
  now: Temporal.Instant,
): Promise<boolean> => {
  const { merchantId, id: paymentId } = payment;
  if (isOpen(payment) || isHeld(payment)) {
    await askBank(database, banks, { merchantId, paymentId }, now);
    return true;
  }
  const pending = mayHaveRefunds(payment)
    ? (await findRefunds(database.pool, [payment])).filter((refund) => isAsked(refund, now))
    : [];
  for (const { id: refundId } of pending)
    await sendRefund(database, banks, { merchantId, refundId }, now);
  return pending.length > 0;
};

/** Opens the refresh for this process. */
export const openRefresh = (deps: RefreshingDeps): ReadingDeps['refresh'] => {
  const askedAt_ms = new LRUCache<string, number>({ max: remembered });
  return async (payment, now) => {
    const mayHaveEnded = isOpen(payment) || isHeld(payment) || mayHaveRefunds(payment);
    if (payment.mode !== 'live' || !mayHaveEnded) return payment;
    const rest_ms = isHeld(payment) ? heldPause_ms : pause_ms;
    if (performance.now() - (askedAt_ms.get(payment.id) ?? -Infinity) < rest_ms) return payment;
    askedAt_ms.set(payment.id, performance.now());
    // A failed query counts as no answer; the schedule repeats it.
    const asking = askAbout(deps, payment, now).catch(() => false);
    const asked = await Promise.race([asking, delay(patience_ms, true, { ref: false })]);
    if (!asked) return payment;
    deps.wakeRelay();
    return (await loadPayments(deps.database.pool, [payment]))[0] ?? payment;
  };
};

/**
 * Asks the bank about a live payment that is to be refunded before its end is known here: it may
 * have been paid a moment ago.
 */
export const settleBefore = async (
  { database, refresh }: Pick<ReadingDeps, 'database' | 'refresh'>,
  { merchantId, mode }: Pick<ClaimingCaller, 'merchantId' | 'mode'>,
  paymentId: string,
  now: Temporal.Instant,
): Promise<void> => {
  if (mode === 'test') return;
  const [payment] = await loadPayments(database.pool, [{ merchantId, id: paymentId }]);
  if (payment && isOpen(payment)) await refresh(payment, now);
};
