/** Receipts that the emulated YooKassa is ordered apart from a movement, and a shop's settings. */
import { apiError, ownOf, type ApiDeps } from './api-parts.ts';
import { kopecks } from './books.ts';
import type { ApiRequest, ApiResponse } from './exchange.ts';
import { receiptView, sumOf } from './receipts.ts';

const refused = (description: string, parameter: string): ApiResponse =>
  apiError(400, 'invalid_request', description, parameter);

/** Orders a receipt of a payment or of a refund. */
export const createReceipt = ({ books, register }: ApiDeps, asked: ApiRequest): ApiResponse => {
  const { type, payment_id: paymentId, refund_id: refundId, items, settlements } = asked.body;
  const refund = books.refunds.get(refundId);
  const payment = ownOf(books.payments.get(refund?.paymentId ?? paymentId), asked);
  const isDone = refundId === undefined ? payment : refund?.status === 'succeeded' && payment;
  if (!isDone || isDone.status === 'pending')
    return refused(
      'There is no such movement',
      refundId === undefined ? 'payment_id' : 'refund_id',
    );
  const settled = settlements.reduce((sum: bigint, { amount }: any) => sum + kopecks(amount), 0n);
  if (settled !== sumOf(items)) return refused('The sums differ', 'settlements');
  const of = {
    account: isDone.account,
    type,
    paymentId: paymentId ?? null,
    refundId: refundId ?? null,
    settlement: settlements[0].type,
  };
  return { status: 200, body: receiptView(register.make(of, items)) };
};

/** A shop's settings. */
export const shopSettings = ({ hasRegister }: ApiDeps, { account }: ApiRequest): ApiResponse => ({
  status: 200,
  body: {
    account_id: account,
    status: 'enabled',
    test: true,
    fiscalization: { enabled: hasRegister(), provider: 'atol' },
  },
});
