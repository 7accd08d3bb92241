/** What the status of a charge's payment means for its subscription. */
import type { FailureCode } from '../../kernel/rules/failure-code.ts';

/**
 * How a charge ended; `dropped`: the merchant cancelled the payment, and the period is not charged.
 */
export type ChargeEnd =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly failureCode: FailureCode | null }
  | { readonly kind: 'dropped' };

/** What payments reports of a charge's payment. */
export type PaymentStatus =
  | 'pending'
  | 'processing'
  | 'authorized'
  | 'succeeded'
  | 'failed'
  | 'expired'
  | 'cancelled'
  | 'refunded';

/**
 * What a payment's status means for its charge; null while it is not final. One that expired
 * brought no money: it counts as failed.
 */
export const chargeEnd = (
  status: PaymentStatus,
  failureCode: FailureCode | null,
): ChargeEnd | null => {
  switch (status) {
    case 'pending':
    case 'processing':
    case 'authorized':
      return null;
    case 'succeeded':
    case 'refunded':
      return { kind: 'succeeded' };
    case 'failed':
    case 'expired':
      return { kind: 'failed', failureCode };
    case 'cancelled':
      return { kind: 'dropped' };
  }
};
