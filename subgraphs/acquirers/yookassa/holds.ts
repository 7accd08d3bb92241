/**
 * Holds at YooKassa: a payment that is ordered without its capture waits for it until its
 * `expires_at`. Its idempotency keys last a day; after that the payment's
 * own status keeps an order from a second effect, since only one that waits can be captured or
 * cancelled.
 */
import { bodyOf, stopped, unavailable, unknown } from '../bank-http.ts';
import type { BankAnswer, HoldAnswer, HoldOrder } from '../bank.ts';
import type { ApiAnswer } from './client.ts';
import { amountIn, wireAmount, readPayment, type WirePayment, paymentFailure } from './wire.ts';
import { acceptedBy, isAboutUs, type PaymentCalls, get, post } from './payment-answers.ts';
import { receiptMistake, wireReceipt } from './receipts.ts';

/** The length of a hold when the bank does not report it: that of a card (its own guide). */
const hold_d = 7;

/** What ended a hold, where the buyer was not refused. */
const endings: ReadonlySet<string> = new Set(['expired_on_capture', 'canceled_by_merchant']);

/** Whether a payment was held, and is not any more. */
export const isReleased = ({ status, cancellation_details }: WirePayment): boolean =>
  status === 'canceled' && endings.has(cancellation_details.reason);

export const held = (payment: WirePayment, now: Temporal.Instant): BankAnswer => ({
  kind: 'authorized',
  captureBefore: payment.expires_at ?? (payment.created_at ?? now).add({ hours: 24 * hold_d }),
  ...acceptedBy(payment),
});

/**
 * The result of the hold, as far as it matches the order; null while it is active. A difference
 * stops the order: a person must check it.
 */
const settled = async (
  { checkEcho }: PaymentCalls,
  payment: WirePayment,
  order: HoldOrder,
): Promise<HoldAnswer | null> => {
  const isCaptured = payment.status === 'succeeded';
  if (!isCaptured && payment.status !== 'canceled') return null;
  const taken = amountIn(payment.amount, order.currency);
  if (taken === null) return unknown;
  // Another party has captured the amount to release: as much as they wanted.
  const captured = order.kind === 'capture' ? order.amount : taken;
  const amount = isCaptured ? captured : order.held;
  const ordered = { ...order, operationId: order.payment.operationId, amount };
  if (!(await checkEcho(ordered, payment))) return stopped;
  return isCaptured ? { kind: 'captured', amount: taken } : { kind: 'released' };
};

/** The order was refused: the payment itself shows whether something else has taken effect. */
const afterRefusal = async (
  calls: PaymentCalls,
  order: HoldOrder,
  refusal: ApiAnswer & { readonly kind: 'rejected' },
): Promise<HoldAnswer> => {
  const payment = readPayment(bodyOf(await get(calls, `/payments/${order.payment.reference}`)));
  if (!payment) return unknown;
  // A refused order may have been accepted before, or the refusal may be about our own account.
  const stands = isAboutUs(refusal) || !refusal.isCertain;
  return (
    (await settled(calls, payment, order)) ??
    (stands
      ? unknown
      : {
          kind: 'declined',
          failureCode: paymentFailure({ party: 'yoo_money', reason: refusal.code }),
          bankCode: refusal.code,
        })
  );
};

/** What is ordered of a capture: how much, and its receipt, where it has one of its own. */
const orderBody = ({ kind, amount, currency, receipt }: HoldOrder) =>
  kind === 'capture'
    ? {
        amount: wireAmount(amount, currency),
        ...(receipt ? { receipt: wireReceipt(receipt, currency) } : {}),
      }
    : {};

/** Captures or releases held money. */
export const settleHold = async (calls: PaymentCalls, order: HoldOrder): Promise<HoldAnswer> => {
  const { kind, operationId, payment, receipt } = order;
  const mistake = receipt ? receiptMistake(receipt, null) : null;
  if (mistake !== null) return unavailable(mistake);
  const verb = kind === 'capture' ? 'capture' : 'cancel';
  const path = `/payments/${payment.reference}/${verb}`;
  const answer = await post(calls, path, operationId, orderBody(order));
  if (answer.kind === 'rejected') return afterRefusal(calls, order, answer);
  const after = readPayment(bodyOf(answer));
  return (after && (await settled(calls, after, order))) ?? unknown;
};
