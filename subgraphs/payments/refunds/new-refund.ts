/** A new refund: pending, before its bank is called. */
import type { Payment } from '../entities.ts';
import { termsOf, type Receipted } from '../receipts/rules.ts';
import type { Refund } from './entities.ts';

/**
 * A new refund of the payment, of `amount` minor units, with the payment's receipt; the bank is
 * asked about it at `askAt`.
 */
export const newRefund = (
  {
    merchantId,
    id: paymentId,
    shopId,
    mode,
    ...receipted
  }: Pick<Payment, 'merchantId' | 'id' | 'shopId' | 'mode'> & Receipted,
  asked: Pick<Refund, 'id' | 'amount' | 'reason' | 'askAt'> & Partial<Pick<Refund, 'metadata'>>,
  now: Temporal.Instant,
): Refund => ({
  receiptTermsId: termsOf(receipted),
  merchantId,
  paymentId,
  shopId,
  mode,
  metadata: null,
  ...asked,
  status: 'pending',
  failReason: null,
  createdAt: now,
  completedAt: null,
  bankRef: null,
});
