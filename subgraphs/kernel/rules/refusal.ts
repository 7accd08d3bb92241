/**
 * Refusals: the closed list of contract "Errors" and decisions D-01 to D-06. A refusal is a value;
 * a broken invariant throws.
 */
export const refusalCodes = [
  'bad_request',
  'unauthorized',
  'live_not_enabled',
  'ip_not_allowed',
  'scope_required',
  'aml_blocked',
  'forbidden_purpose',
  'signature_required',
  'invalid_signature',
  'not_found',
  'not_pending',
  'idempotent_conflict',
  'idempotent_in_progress',
  'payment_not_authorized',
  'payment_not_succeeded',
  'already_refunded',
  'token_not_active',
  'receipt_not_expected',
  'amount_exceeds_remainder',
  'capture_declined',
  'insufficient_balance',
  'route_not_configured',
  'method_unsupported',
  'router_error',
] as const;

export type RefusalCode = (typeof refusalCodes)[number];

/**
 * The operation was refused and nothing was changed. The field names are those of the GraphQL type.
 */
export interface Refused {
  readonly __typename: 'Refused';
  readonly code: RefusalCode;
  readonly message: string;
}

/**
 * A refusal with a message that the caller can act on; never a card number or a secret (decision
 * D-06).
 */
export const refused = (code: RefusalCode, message: string): Refused => ({
  __typename: 'Refused',
  code,
  message,
});

/** Whether a value is a refusal and not a result. */
export const isRefused = (value: object): value is Refused =>
  '__typename' in value && value.__typename === 'Refused';
