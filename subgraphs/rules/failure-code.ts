/**
 * Unified failure codes: `failure_code` on payments, `fail_reason` on payouts and refunds. soft: a
 * scheduled charge may be retried; hard: never retry this method; buyer: the buyer must act;
 * technical: try the same again.
 */
export const failureCodes = {
  do_not_honor: 'soft',
  generic_decline: 'soft',
  insufficient_funds: 'soft',
  limit_exceeded: 'soft',
  call_issuer: 'soft',
  expired_card: 'hard',
  invalid_card_number: 'buyer',
  invalid_expiry: 'buyer',
  incorrect_cvc: 'buyer',
  lost_card: 'hard',
  stolen_card: 'hard',
  pickup_card: 'hard',
  card_restricted: 'hard',
  transaction_not_permitted: 'hard',
  country_not_supported: 'hard',
  fraud_suspected: 'hard',
  authentication_failed: 'buyer',
  authorization_revoked: 'hard',
  identification_required: 'buyer',
  account_not_found: 'hard',
  issuer_unavailable: 'technical',
  processing_error: 'technical',
  session_expired: 'buyer',
  link_expired: 'buyer',
  capture_expired: 'buyer',
  method_unavailable: 'technical',
  unknown_bank_code: 'soft',
  bank_unknown: 'hard',
  recipient_not_in_sbp: 'hard',
  recipient_check_failed: 'buyer',
  rejected_by_recipient_bank: 'soft',
  payout_limit_exceeded: 'soft',
  acquirer_balance_insufficient: 'technical',
  recipient_data_lost: 'technical',
  refund_rejected: 'soft',
  refund_window_closed: 'hard',
} as const satisfies Record<string, 'soft' | 'hard' | 'buyer' | 'technical'>;

export type FailureCode = keyof typeof failureCodes;

/** Whether a text is one of the unified codes. */
export const isFailureCode = (code: string): code is FailureCode =>
  Object.hasOwn(failureCodes, code);
