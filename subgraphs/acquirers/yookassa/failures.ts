/**
 * YooKassa's reasons as failure codes (docs/contract.md#failure-codes). An unlisted reason is
 * `unknown_bank_code`.
 */
import type { FailureCode } from '../../rules/failure-code.ts';
import type { Cancellation } from './wire.ts';

type Reasons = Readonly<Record<string, FailureCode>>;

const payment: Reasons = {
  insufficient_funds: 'insufficient_funds',
  payment_method_limit_exceeded: 'limit_exceeded',
  call_issuer: 'call_issuer',
  card_expired: 'expired_card',
  invalid_card_number: 'invalid_card_number',
  invalid_csc: 'incorrect_cvc',
  payment_method_restricted: 'card_restricted',
  country_forbidden: 'country_not_supported',
  fraud_suspected: 'fraud_suspected',
  '3d_secure_failed': 'authentication_failed',
  permission_revoked: 'authorization_revoked',
  identification_required: 'identification_required',
  issuer_unavailable: 'issuer_unavailable',
  internal_timeout: 'processing_error',
  expired_on_confirmation: 'session_expired',
  expired_on_capture: 'capture_expired',
};

const refund: Reasons = {
  rejected_by_payee: 'refund_rejected',
  rejected_by_timeout: 'refund_rejected',
  general_decline: 'refund_rejected',
  insufficient_funds: 'insufficient_funds',
  payment_expired: 'refund_window_closed',
};

const payout: Reasons = {
  insufficient_funds: 'acquirer_balance_insufficient',
  fraud_suspected: 'fraud_suspected',
  one_time_limit_exceeded: 'payout_limit_exceeded',
  periodic_limit_exceeded: 'payout_limit_exceeded',
  rejected_by_payee: 'rejected_by_recipient_bank',
  general_decline: 'generic_decline',
  issuer_unavailable: 'issuer_unavailable',
  recipient_not_found: 'recipient_not_in_sbp',
  recipient_check_failed: 'recipient_check_failed',
  identification_required: 'identification_required',
};

const unlisted = 'unknown_bank_code';

/** Why a payment was cancelled there. A general decline is the issuer's or YooKassa's own. */
export const paymentFailure = ({ reason, party }: Cancellation): FailureCode => {
  if (reason === 'general_decline')
    return party === 'payment_network' ? 'do_not_honor' : 'generic_decline';
  return payment[reason] ?? unlisted;
};

/** Why a refund was cancelled there. */
export const refundFailure = ({ reason }: Cancellation): FailureCode => refund[reason] ?? unlisted;

/** Why a payout was cancelled there. */
export const payoutFailure = ({ reason }: Cancellation): FailureCode => payout[reason] ?? unlisted;

/** An order that was not accepted (HTTP 4xx): by its `parameter`, what was wrong. */
export const rejectedOrder = (parameter: string | null): FailureCode => {
  const named = parameter ?? '';
  if (named.includes('card.number')) return 'invalid_card_number';
  if (named.includes('expiry')) return 'invalid_expiry';
  if (named.includes('csc')) return 'incorrect_cvc';
  if (named.startsWith('payment_method_id')) return 'authorization_revoked';
  return named.startsWith('amount') ? 'limit_exceeded' : 'processing_error';
};
