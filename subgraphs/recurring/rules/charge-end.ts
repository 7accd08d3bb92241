/** Maps the status of a charge's payment to its subscription. */
import type { FailureCode } from '../../kernel/rules/failure-code.ts';

/**
 * How a charge ended; `dropped`: the merchant cancelled the payment, and the period is not charged.
 */
export type ChargeEnd =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly failureCode: FailureCode | null }
  | { readonly kind: 'dropped' };

/** The payment's state, as payments reports it. */
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
 * The end of a charge by its payment's status; null while it is not final. An expired payment moved
 * no money, so it counts as failed.
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
