/**
 * Payments at T-Bank: by SBP (a QR code), T-Pay (its link) and cards (its own payment page: a
 * card's number never reaches us). `Init` moves no money and is not idempotent: an order whose
 * answer was lost is sent again, and a payment whose address was not given out cannot be paid. The
 * result of an order is queried by our own id, with `CheckOrder`, which returns all of its
 * payments.
 */
import type { Bank, SessionAnswer, SessionOrder } from '../bank.ts';
import { askPayment, cancelOrder } from './ask-payment.ts';
import { failureOf } from './failures.ts';
import { askEvery_s, isOrdered, stepOf, stopped, unknown, type PaymentCalls } from './orders.ts';
import { receiptOf, refusalOf } from './receipts.ts';
import { readPayment } from './wire.ts';

/** The shortest life of a payment's address, and the longest: it ends at the order's time. */
const addressLife_s = 61;
const sessionTtl_min = 90 * 24 * 60;

/** Whether a payment proves a card, and is only to be authorised. */
const isVoided = ({ save, method }: Pick<SessionOrder, 'save' | 'method'>): boolean =>
  save?.verification === true && method === 'cards';

/** Bank time, which it reads with an offset. */
const dueDate = (order: SessionOrder): string => {
  const earliest = order.now.add({ seconds: addressLife_s });
  const wanted = order.payableUntil ?? order.sessionUntil;
  const until = Temporal.Instant.compare(wanted, earliest) < 0 ? earliest : wanted;
  return until.round('second').toString().replace('Z', '+00:00');
};

const initParams = (order: SessionOrder, { callbackUrl, register }: PaymentCalls) => ({
  Amount: Number(order.amount),
  OrderId: order.operationId,
  PayType: isVoided(order) || order.holds ? 'T' : 'O',
  NotificationURL: callbackUrl(order.merchantId),
  SuccessURL: order.pageUrl,
  FailURL: order.pageUrl,
  RedirectDueDate: dueDate(order),
  // A separate customer for each operation: its card is the one that the operation saved.
  ...(order.save ? { Recurrent: 'Y', CustomerKey: order.operationId } : {}),
  ...receiptOf(order.receipt, register),
});

const declinedBy = (code: string) =>
  ({ kind: 'declined', failureCode: failureOf(code), bankCode: code }) as const;

const opened = (
  order: SessionOrder,
  reference: string,
  step: Pick<SessionAnswer & { kind: 'opened' }, 'step' | 'stepUrl'>,
): SessionAnswer => {
  const traits = { cardBrand: null, cardMask: null };
  return {
    kind: 'opened',
    reference,
    ...step,
    traits,
    askAt: order.now.add({ seconds: askEvery_s }),
  };
};

const unavailable = (bankCode: string) =>
  ({ kind: 'declined', failureCode: 'method_unavailable', bankCode }) as const;

const openSession = async (calls: PaymentCalls, order: SessionOrder): Promise<SessionAnswer> => {
  if (order.currency !== 'RUB') return unavailable('currency');
  const refused = refusalOf(order.receipt, calls.register);
  if (refused !== null) return unavailable(refused);
  const early =
    order.reference === null
      ? null
      : await stepOf(calls, order.method, { id: order.reference }, null);
  if (order.reference !== null && early) return opened(order, order.reference, early);
  // No order was created early, or its address is no longer available: it cannot be paid.
  const answer = await calls.client.call({
    method: 'Init',
    params: initParams(order, calls),
    repeatable: true,
  });
  if (answer.kind === 'unaccepted') return { kind: 'unaccepted', otherwise: unknown };
  if (answer.kind === 'rejected') return declinedBy(answer.code);
  const payment = answer.kind === 'answered' ? readPayment(answer.body) : null;
  if (answer.kind !== 'answered' || !payment) return unknown;
  if (!(await isOrdered(calls, order, payment))) return stopped;
  if (order.payableUntil) return opened(order, payment.id, { step: 'wait', stepUrl: null });
  const step = await stepOf(calls, order.method, payment, answer.body);
  // Without an address it cannot be paid; a query of the order finds what was made.
  return step ? opened(order, payment.id, step) : unknown;
};

/** The part of the port that takes money from a buyer. */
export const tbankPayments = (
  calls: PaymentCalls,
): Pick<Bank, 'openSession' | 'ask' | 'cancelOrder' | 'createsOrderEarly' | 'sessionTtl_min'> => ({
  // The address of its page for cards is given once, with the order, so that order waits for the
  // buyer.
  createsOrderEarly: ['sbp', 'tpay'],
  sessionTtl_min,
  openSession: (order) => openSession(calls, order),
  ask: (question) => askPayment(calls, question),
  cancelOrder: (question) => cancelOrder(calls, question),
});
