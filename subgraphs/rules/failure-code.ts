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

/** Each code in words, for people. */
export const failureTexts: Readonly<Record<FailureCode, string>> = {
  do_not_honor: 'The bank of the buyer declines and gives no reason.',
  generic_decline: 'The bank declines for a reason that it does not name.',
  insufficient_funds: 'There is not enough money on the card or the account.',
  limit_exceeded: 'A limit of the card, the account or the balance is reached.',
  call_issuer: 'The buyer has to call the bank.',
  expired_card: 'The card has expired.',
  invalid_card_number: 'The number of the card is wrong.',
  invalid_expiry: 'The date of the card is wrong.',
  incorrect_cvc: 'The security code is wrong.',
  lost_card: 'The card was reported as lost.',
  stolen_card: 'The card was reported as stolen.',
  pickup_card: 'The bank withdraws the card.',
  card_restricted: 'The card is restricted.',
  transaction_not_permitted: 'The card may not be used for this.',
  country_not_supported: 'The country of the card is not supported.',
  fraud_suspected: 'The bank suspects fraud.',
  authentication_failed: 'The buyer was not confirmed (3-D Secure).',
  authorization_revoked: 'The buyer has withdrawn the permission to charge.',
  identification_required: 'The buyer has to identify at the bank.',
  account_not_found: 'There is no such account.',
  issuer_unavailable: 'The bank of the buyer does not answer.',
  processing_error: 'The processing failed at the bank.',
  session_expired: 'The buyer did not finish at the bank in time.',
  link_expired: 'The payment was not begun in time.',
  capture_expired: 'The held money was neither captured nor given up in time.',
  method_unavailable: 'The method cannot be used at the bank just now.',
  unknown_bank_code: 'The bank gave a reason that the service does not know.',
  bank_unknown: "The recipient's bank is not known.",
  recipient_not_in_sbp: 'The recipient cannot be reached by SBP at this bank.',
  recipient_check_failed: 'The recipient did not pass the check of the bank.',
  rejected_by_recipient_bank: "The recipient's bank refuses the money.",
  payout_limit_exceeded: 'A limit for payouts is reached.',
  acquirer_balance_insufficient: 'The account that is paid out from is empty for the moment.',
  recipient_data_lost:
    'The card number did not reach the bank, and is stored nowhere. Make a new payout.',
  refund_rejected: 'The bank refuses the refund.',
  refund_window_closed: 'The time in which the bank takes refunds is over.',
};

/** Whether a text is one of the unified codes. */
export const isFailureCode = (code: string): code is FailureCode =>
  Object.hasOwn(failureCodes, code);
