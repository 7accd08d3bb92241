/**
 * Refunds at T-Bank: `Cancel` of a part of a payment. Refunds by card have an idempotency key
 * (`ExternalRequestId`); refunds by SBP have none and end later. So the order of an SBP refund is
 * claimed in the database before it is sent, and is sent once; its result is read from the
 * payment's state.
 */
import { bodyOf, unknown } from '../bank-http.ts';
import { raiseDiffers } from '../check-echo.ts';
import type { RefundAnswer, RefundOrder } from '../bank.ts';
import { claimOrder, claimsOf, movedPayment, type PaymentCalls } from './orders.ts';
import { receiptOf, refusalOf } from './receipts.ts';
import { readPayment, refundStanding, type WirePayment } from './wire.ts';

const askEvery_s = 30;
const lostAsk_s = 3;
/** After this an order without effect at the bank never arrived there, and may be sent again. */
const arrivesWithin_min = 15;

const later = ({ operationId, now }: RefundOrder): RefundAnswer => ({
  kind: 'pending',
  reference: operationId,
  askAt: now.add({ seconds: askEvery_s }),
});
const declinedRefund = (bankCode: string): RefundAnswer => ({
  kind: 'declined',
  failureCode: 'refund_rejected',
  bankCode,
});

/** The outcome in an answer to the order itself. The bank gives a refund no id: ours serves. */
const ordered = (order: RefundOrder, after: WirePayment): RefundAnswer => {
  switch (refundStanding(after.status)) {
    case 'all':
    case 'part':
      return { kind: 'approved', reference: order.operationId };
    case 'under_way':
      return later(order);
    case 'none':
      return unknown;
  }
};

const cancel = async (
  { client, register }: PaymentCalls,
  order: RefundOrder,
  payment: WirePayment,
  key: string | null,
): Promise<RefundAnswer> => {
  const params = {
    PaymentId: payment.id,
    Amount: Number(order.amount),
    ...(key === null ? {} : { ExternalRequestId: key }),
    ...receiptOf(order.receipt, register),
  };
  const answer = await client[key === null ? 'callOnce' : 'call']('Cancel', params);
  if (answer.kind === 'rejected') return declinedRefund(answer.code);
  const after = readPayment(bodyOf(answer));
  return after?.id === payment.id && after.orderId === payment.orderId
    ? ordered(order, after)
    : unknown;
};

/** Only a person can find out. */
const stop = async (
  { pool }: PaymentCalls,
  order: RefundOrder,
  { id, status }: WirePayment,
): Promise<RefundAnswer> => {
  const { operationId, amount } = order;
  const detail = `T-Bank's payment ${id} is ${status}, and of its several refunds by SBP it does not say which were made: whether ${operationId} of ${amount} kopecks was made is to be seen in its cabinet. Nothing was moved`;
  const found = { bank: 'tbank', bank_operation: id, bank_status: status };
  await raiseDiffers(pool, { ...order, currency: 'RUB' }, detail, found);
  return { kind: 'pending', reference: operationId, askAt: null };
};

/** What became of a refund by SBP that went out, by the payment's state. */
const whatBecame = async (
  calls: PaymentCalls,
  order: RefundOrder,
  payment: WirePayment,
): Promise<RefundAnswer> => {
  switch (refundStanding(payment.status)) {
    case 'all':
      return { kind: 'approved', reference: order.operationId };
    case 'part': {
      const others = (await claimsOf(calls.pool, order.merchantId, order.payment.operationId)) - 1;
      return others === 0
        ? { kind: 'approved', reference: order.operationId }
        : stop(calls, order, payment);
    }
    case 'under_way':
      return later(order);
    case 'none':
      // It had taken the order, and gave the money back to the payment; or the order has not
      // arrived.
      return order.reference === null ? unknown : declinedRefund(payment.status);
  }
};

const refundBySbp = async (
  calls: PaymentCalls,
  order: RefundOrder,
  payment: WirePayment,
): Promise<RefundAnswer> => {
  const { merchantId, operationId, now } = order;
  // One at a time: the payment has one state for all of its refunds.
  if (order.reference === null && refundStanding(payment.status) === 'under_way') {
    return { kind: 'pending', reference: null, askAt: now.add({ seconds: askEvery_s }) };
  }
  const mayRepeat =
    order.reference === null && refundStanding(payment.status) === 'none'
      ? now.subtract({ minutes: arrivesWithin_min })
      : null;
  const claimed = await claimOrder(
    calls.pool,
    { merchantId, subjectId: order.payment.operationId, operationId, now },
    mayRepeat,
  );
  if (!claimed) return whatBecame(calls, order, payment);
  const answer = await cancel(calls, order, payment, null);
  return answer.kind === 'unknown'
    ? { kind: 'pending', reference: null, askAt: now.add({ seconds: lostAsk_s }) }
    : answer;
};

/**
 * Why a refund is not ordered with its receipt; null when it is. A whole refund repeats the
 * payment's receipt there, and takes no other.
 */
const refusedReceipt = (
  { register }: PaymentCalls,
  { receipt }: RefundOrder,
  isWhole: boolean,
): string | null => {
  if (isWhole && receipt) return 'receipt_of_whole_refund';
  return refusalOf(receipt, register);
};

/** Orders a refund, or queries its result. */
export const refund = async (calls: PaymentCalls, order: RefundOrder): Promise<RefundAnswer> => {
  const payment = await movedPayment(calls, order.payment);
  if (!payment) return unknown;
  // It has given everything back already, as when it was paid while its order was cancelled:
  // another order would be refused, and this one is done.
  const isWhole = payment.amount !== null && BigInt(payment.amount) === order.amount;
  if (isWhole && refundStanding(payment.status) === 'all')
    return { kind: 'approved', reference: order.operationId };
  const refused = refusedReceipt(calls, order, isWhole);
  if (refused !== null) return declinedRefund(refused);
  return payment.sbpId === null
    ? cancel(calls, order, payment, order.operationId)
    : refundBySbp(calls, order, payment);
};
