/**
 * T-Bank's codes as failure codes (docs/contract.md#failure-codes). An unlisted code is
 * `unknown_bank_code`.
 */
import { isFailureCode, type FailureCode } from '../../rules/failure-code.ts';
import type { WirePayment } from './wire.ts';

const codesOf: Readonly<Partial<Record<FailureCode, readonly string[]>>> = {
  do_not_honor: ['99', '1005'],
  generic_decline: ['1006', '1008', '1012', '1088', '1092'],
  insufficient_funds: ['103', '116', '1051'],
  limit_exceeded: ['1013', '1019', '1061', '1065', '1075'],
  call_issuer: ['1001'],
  expired_card: ['1033', '1054'],
  invalid_card_number: ['1014', '1015'],
  invalid_expiry: ['1080'],
  incorrect_cvc: ['1082'],
  lost_card: ['1041'],
  stolen_card: ['1043'],
  pickup_card: ['1004', '1007'],
  card_restricted: ['1062'],
  transaction_not_permitted: ['1057', '1058', '1078'],
  country_not_supported: ['76'],
  fraud_suspected: ['1059', '1063', '1093', '1094'],
  authentication_failed: ['101', '106'],
  authorization_revoked: ['3012', '3014', '3015'],
  account_not_found: ['1039', '1053'],
  issuer_unavailable: ['1091'],
  processing_error: ['1096'],
  method_unavailable: ['1099'],
};

const meaning: ReadonlyMap<string, string> = new Map(
  Object.entries(codesOf).flatMap(([failure, codes]) => codes.map((code) => [code, failure])),
);

/** Why the bank refused, by its code. */
export const failureOf = (code: string): FailureCode => {
  const found = meaning.get(code) ?? '';
  return isFailureCode(found) ? found : 'unknown_bank_code';
};

/** Why a payment failed: by its code, else by the status in which it ended. */
export const paymentFailure = ({ status, errorCode }: WirePayment): FailureCode => {
  if (errorCode !== '0') return failureOf(errorCode);
  if (status === 'DEADLINE_EXPIRED') return 'session_expired';
  return status === 'AUTH_FAIL' ? 'authentication_failed' : 'generic_decline';
};
