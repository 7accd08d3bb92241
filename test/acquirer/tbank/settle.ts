/**
 * What becomes of payments and refunds at the emulated T-Bank; merchants are
 * notified of each step.
 */
import {
  codeOf,
  waitOf,
  type BookedCancel,
  type BookedOrder,
  type GivenReceipt,
  type TBankBooks,
} from './books.ts';

/** Notes a payment's new status, and notifies the merchant of it; `cancel` brought it. */
export type NotifyStatus = (payment: BookedOrder, cancel?: BookedCancel) => void;

const late_ms = 1_500;
/** How long a refund by SBP takes. */
const sbpRefund_ms = 300;

/** Whether a buyer can still pay it. */
export const isOpen = ({ status }: BookedOrder): boolean =>
  status === 'NEW' || status === 'FORM_SHOWED';

const reject = (payment: BookedOrder, errorCode: string, notify: NotifyStatus): void => {
  payment.status = 'REJECTED';
  payment.errorCode = errorCode;
  notify(payment);
};

const expire = (payment: BookedOrder, notify: NotifyStatus): void => {
  payment.status = 'DEADLINE_EXPIRED';
  notify(payment);
};

const succeed = (
  books: TBankBooks,
  payment: BookedOrder,
  by: 'buyer' | 'charge',
  notify: NotifyStatus,
): void => {
  if (!isOpen(payment)) return;
  payment.paidBy = by;
  if (payment.customer !== null && payment.route === 'card') {
    const rebillId = String(700_000_000 + books.cards.length);
    books.cards.push({ customer: payment.customer, rebillId, pan: '220000******0004' });
  }
  payment.status = payment.twoHarnesses ? 'AUTHORIZED' : 'CONFIRMED';
  notify(payment);
};

/**
 * The payment is paid, or its amount has another fate. One that has ended, or whose time is over,
 * stays as it is.
 */
export const pay = (
  books: TBankBooks,
  payment: BookedOrder,
  by: 'buyer' | 'charge',
  notify: NotifyStatus,
): void => {
  if (!isOpen(payment)) return;
  if (payment.dueAt && payment.dueAt < new Date()) return expire(payment, notify);
  const code = codeOf(payment.amount);
  if (code !== null) return reject(payment, code, notify);
  const wait = waitOf(payment.amount);
  if (wait === 'late') setTimeout(() => succeed(books, payment, by, notify), late_ms).unref();
  if (wait === null) succeed(books, payment, by, notify);
};

/** Takes what is held, or a part of it; why it does not, as an error code, or null. */
export const confirm = (
  payment: BookedOrder,
  { Amount: amount, Receipt: receipt }: { Amount: number; Receipt?: GivenReceipt },
  notify: NotifyStatus,
): string | null => {
  if (payment.status !== 'AUTHORIZED' || amount > payment.amount) return '8';
  const code = codeOf(amount);
  if (code !== null) return code;
  payment.amount = amount;
  payment.receipt = receipt ?? payment.receipt;
  payment.status = 'CONFIRMED';
  notify(payment);
  return null;
};

/** The buyer refuses on the page. */
export const refuse = (payment: BookedOrder, notify: NotifyStatus): void => {
  if (isOpen(payment)) reject(payment, '101', notify);
};

const giveBack = (payment: BookedOrder, cancel: BookedCancel, notify: NotifyStatus): void => {
  cancel.status = 'succeeded';
  payment.refunded += cancel.amount;
  payment.status = payment.refunded === payment.amount ? 'REFUNDED' : 'PARTIAL_REFUNDED';
  notify(payment, cancel);
};

const endBySbp = (payment: BookedOrder, cancel: BookedCancel, notify: NotifyStatus): void => {
  if (codeOf(cancel.amount) === null) return giveBack(payment, cancel, notify);
  cancel.status = 'failed';
  payment.status = payment.refunded > 0 ? 'PARTIAL_REFUNDED' : 'CONFIRMED';
  notify(payment);
};

/**
 * Cancels a payment that no buyer has begun, or gives its money back, at once by card, later
 * by SBP; false when it is refused.
 */
export const cancelPart = (
  books: TBankBooks,
  payment: BookedOrder,
  { amount, key, receipt }: Pick<BookedCancel, 'amount' | 'key' | 'receipt'>,
  notify: NotifyStatus,
): boolean => {
  if (payment.status === 'AUTHORIZED' || payment.status === 'NEW') {
    payment.status = payment.status === 'NEW' ? 'CANCELED' : 'REVERSED';
    notify(payment);
    return true;
  }
  const under = books.cancels
    .filter(({ paymentId, status }) => paymentId === payment.id && status === 'pending')
    .reduce((sum, each) => sum + each.amount, 0);
  const isPaid = ['CONFIRMED', 'PARTIAL_REFUNDED', 'ASYNC_REFUNDING'].includes(payment.status);
  if (!isPaid || amount < 1 || amount > payment.amount - payment.refunded - under) return false;
  const cancel: BookedCancel = {
    paymentId: payment.id,
    orderId: payment.orderId,
    amount,
    key,
    receipt,
    status: 'pending',
  };
  if (payment.route !== 'sbp' && codeOf(amount) !== null) return false;
  books.cancels.push(cancel);
  if (payment.route !== 'sbp') {
    giveBack(payment, cancel, notify);
    return true;
  }
  payment.status = 'ASYNC_REFUNDING';
  if (waitOf(amount) === 'never') return true;
  setTimeout(
    () => endBySbp(payment, cancel, notify),
    waitOf(amount) === 'late' ? late_ms : sbpRefund_ms,
  ).unref();
  return true;
};
