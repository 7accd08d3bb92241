/**
 * Refunds at YooKassa. It sends no notification of a refund that it cancelled, so that pending ones
 * are asked about. Its idempotency keys last a day, so that a refund without a reference is looked
 * for among the payment's refunds before it is ordered.
 */
import type { Bank, RefundAnswer, RefundOrder } from '../bank.ts';
import { holderOf, type ApiAnswer } from './client.ts';
import { wireAmount, readRefund, type WireRefund, refundFailure } from './wire.ts';
import {
  findListed,
  isAboutUs,
  metadataOf,
  unknown,
  type PaymentCaller,
  type PaymentCalls,
} from './payment-answers.ts';
import { receiptMistake, wireReceipt } from './receipt-words.ts';

/** How often to query a pending refund. */
const askEvery_s = 60;
const pages_max = 20;

const standing = async (
  { checkEcho }: PaymentCalls,
  order: RefundOrder,
  refund: WireRefund | null,
): Promise<RefundAnswer> => {
  if (!refund) return unknown;
  const isOurs = await checkEcho(order, refund);
  if (!isOurs || refund.paymentId !== order.payment.reference)
    return { kind: 'pending', reference: refund.id, askAt: null };
  switch (refund.status) {
    case 'succeeded':
      return { kind: 'approved', reference: refund.id };
    case 'pending':
      return {
        kind: 'pending',
        reference: refund.id,
        askAt: order.now.add({ seconds: askEvery_s }),
      };
    case 'canceled':
      return {
        kind: 'declined',
        failureCode: refundFailure(refund.cancellation),
        bankCode: refund.cancellation.reason,
      };
  }
};

const refundOf = (answer: ApiAnswer): WireRefund | null =>
  answer.kind === 'answered' ? readRefund(answer.body) : null;

const refund = async (calls: PaymentCalls, order: RefundOrder): Promise<RefundAnswer> => {
  const { client, shop } = calls;
  const paymentId = order.payment.reference;
  if (order.reference !== null)
    return standing(
      calls,
      order,
      refundOf(await client.call({ account: shop, path: `/refunds/${order.reference}` })),
    );
  if (paymentId === null) return unknown;
  const list = { path: '/refunds', query: { payment_id: paymentId }, pages_max };
  const found = await findListed(calls, list, readRefund, order.operationId);
  if (found && 'kind' in found) return unknown;
  if (found) return standing(calls, order, found);
  const { payment, receipt } = order;
  const mistake = receipt ? receiptMistake(receipt, null) : null;
  if (mistake !== null)
    return { kind: 'declined', failureCode: 'refund_rejected', bankCode: mistake };
  const metadata = {
    ...metadataOf(order, 'refund'),
    payment_operation_id: payment.operationId,
  };
  const body = {
    payment_id: paymentId,
    amount: wireAmount(order.amount, order.currency),
    metadata,
    ...(receipt ? { receipt: wireReceipt(receipt, order.currency) } : {}),
  };
  const answer = await client.call({
    account: shop,
    path: '/refunds',
    post: { key: order.operationId, body },
  });
  // What is about our own account an operator corrects, and the refund is sent then.
  if (answer.kind === 'rejected' && !isAboutUs(answer))
    return { kind: 'declined', failureCode: 'refund_rejected', bankCode: answer.code };
  return standing(calls, order, refundOf(answer));
};

/** The part of the port that refunds money: by the account that has the payment. */
export const yooKassaRefunds = (
  callerOf: (merchantId: string) => Promise<PaymentCaller>,
): Pick<Bank, 'refund'> => ({
  refund: async (order) => {
    const caller = await callerOf(order.merchantId);
    const shop =
      order.payment.reference === null
        ? null
        : await holderOf(caller, `/payments/${order.payment.reference}`);
    return shop ? refund({ ...caller, shop }, order) : unknown;
  },
});
