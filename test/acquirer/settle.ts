/**
 * What becomes of the orders: the amount's last two digits decide, a buyer confirms or refuses, and
 * each end is notified.
 */
import {
  type Amount,
  type BookedPayment,
  type BookedPayout,
  type BookedRefund,
  type Books,
  type GivenReceipt,
  fateOf,
  kopecks,
} from './books.ts';

/** Notifies the merchant of an end, as the acquirer does. */
export type Notify = (event: string, object: BookedPayment | BookedRefund | BookedPayout) => void;

/** How long what is late takes. */
const late_ms = 1_500;

const paymentParty = (reason: string): string =>
  ['general_decline', 'insufficient_funds', 'card_expired'].includes(reason)
    ? 'payment_network'
    : 'yoo_money';

const cancelPayment = (
  payment: BookedPayment,
  party: string,
  reason: string,
  notify: Notify,
): void => {
  payment.status = 'canceled';
  payment.cancellation = { party, reason };
  notify('payment.canceled', payment);
};

/**
 * The money is taken, or held when the payment is not to be captured; or the payment's fate is
 * otherwise. A payment that has ended stays as it is.
 */
export const payNow = (books: Books, payment: BookedPayment, notify: Notify): void => {
  if (payment.status !== 'pending') return;
  const fate = fateOf(payment.amount);
  if (fate === 'never') return;
  if (fate === 'late') {
    setTimeout(() => end(books, payment, notify), late_ms).unref();
    return;
  }
  if (fate !== null) return cancelPayment(payment, paymentParty(fate), fate, notify);
  end(books, payment, notify);
};

const end = (books: Books, payment: BookedPayment, notify: Notify): void => {
  if (payment.status !== 'pending') return;
  payment.status = payment.capture ? 'succeeded' : 'waiting_for_capture';
  if (!payment.capture) holdFor(payment, notify);
  payment.method.saved = payment.saves;
  const { account, method } = payment;
  if (payment.saves)
    books.methods.set(method.id, { account, type: method.type, last4: method.last4 });
  notify(payment.capture ? 'payment.succeeded' : 'payment.waiting_for_capture', payment);
};

/** The buyer refuses on the confirmation page. */
export const refuseToPay = (payment: BookedPayment, notify: Notify): void => {
  if (payment.status === 'pending')
    cancelPayment(payment, 'payment_network', '3d_secure_failed', notify);
};

/** How long a hold lasts; that of an amount that ends in 09 is over at once, as its last day is. */
const hold_ms = { usual: 7 * 86_400_000, short: 2_000 } as const;

/** Holds the money until it is captured, cancelled, or its time is over. */
const holdFor = (payment: BookedPayment, notify: Notify): void => {
  const ends_ms = payment.amount.value.endsWith('09') ? hold_ms.short : hold_ms.usual;
  payment.expiresAt = new Date(Date.now() + ends_ms);
  if (ends_ms === hold_ms.usual) return;
  setTimeout(() => {
    if (payment.status === 'waiting_for_capture')
      cancelPayment(payment, 'yoo_money', 'expired_on_capture', notify);
  }, ends_ms).unref();
};

/**
 * The merchant captures a hold, or a part of it; the rest goes back. Gives why it cannot: there is
 * none, or the captured amount's last digits refuse it.
 */
export const captureHold = (
  payment: BookedPayment,
  { amount, receipt }: { readonly amount: Amount; readonly receipt?: GivenReceipt },
  notify: Notify,
): string | null => {
  if (payment.status !== 'waiting_for_capture') return 'The payment does not wait for its capture';
  if (amount.currency !== payment.amount.currency || kopecks(amount) > kopecks(payment.amount))
    return 'The amount is more than is held';
  const fate = fateOf(amount);
  if (fate !== null && fate !== 'never' && fate !== 'late') return fate;
  payment.amount = amount;
  payment.receipt = receipt ?? payment.receipt;
  payment.status = 'succeeded';
  notify('payment.succeeded', payment);
  return null;
};

/** The merchant gives a hold up. False when there is none. */
export const giveUpHold = (payment: BookedPayment, notify: Notify): boolean => {
  if (payment.status === 'canceled') return payment.cancellation?.reason === 'canceled_by_merchant';
  if (payment.status !== 'waiting_for_capture') return false;
  cancelPayment(payment, 'merchant', 'canceled_by_merchant', notify);
  return true;
};

/**
 * Decides a refund or a payout; one that is late or never ends stays pending. A cancelled refund is
 * not notified.
 */
export const decide = (
  order: BookedRefund | BookedPayout,
  kind: 'refund' | 'payout',
  notify: Notify,
): void => {
  const fate = fateOf(order.amount);
  const succeed = (): void => {
    order.status = 'succeeded';
    notify(`${kind}.succeeded`, order);
  };
  if (fate === 'never') return;
  if (fate === 'late') {
    setTimeout(succeed, late_ms).unref();
    return;
  }
  if (fate === null) return succeed();
  order.status = 'canceled';
  order.cancellation =
    kind === 'refund'
      ? { party: 'refund_network', reason: 'rejected_by_payee' }
      : { party: 'payout_network', reason: 'recipient_not_found' };
  if (kind === 'payout') notify('payout.canceled', order);
};
