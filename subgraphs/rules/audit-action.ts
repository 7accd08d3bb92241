/**
 * What the audit log says was done, `<object>.<verb>`. A closed list: a new verb needs a place here
 * and the words of its action in both languages of the console.
 */
const verbs = {
  adjustment: ['record'],
  alert: ['assign', 'resolve'],
  api_key: ['approve', 'issue', 'revoke', 'rotate'],
  bank: ['ask_again'],
  bank_account: ['remove', 'set'],
  bank_route: ['remove', 'set'],
  block_entry: ['add', 'remove'],
  console_session: ['end', 'open'],
  exchange_rate: ['set'],
  forbidden_purpose: ['add', 'remove'],
  link: ['create', 'deactivate'],
  merchant: [
    'create',
    'live_disable',
    'live_enable',
    'profile_set',
    'rate_limit_set',
    'rename',
    'support_refund_set',
  ],
  payment: ['cancel', 'capture', 'create', 'note'],
  payout: ['recipient_reveal'],
  payout_draft: ['approve', 'create', 'expire', 'refuse', 'reject'],
  person: ['invite', 'invite_withdraw'],
  personal_data: ['erase'],
  rate: ['set'],
  receipt: ['close', 'resend'],
  reconciliation: ['add', 'match', 'open'],
  reconciliation_difference: ['resolve'],
  refund: ['create'],
  refund_draft: ['approve', 'create', 'expire', 'refuse', 'reject'],
  saved_view: ['delete', 'save'],
  sbp_banks: ['refresh'],
  settlement: ['record'],
  shop: [
    'allow_list_set',
    'create',
    'receipts_require',
    'rename',
    'signature_require',
    'signing_secret_rotate',
    'webhook_secret_rotate',
  ],
  subscription: ['cancel', 'pause', 'resume'],
  test_clock: ['advance', 'create', 'freeze', 'remove', 'resume'],
  token: ['cancel'],
  webhook_deliveries: ['resend_failed', 'retry'],
  webhook_delivery: ['resend'],
  webhook_endpoint: ['create', 'delete', 'disable', 'enable', 'secret_rotate', 'test', 'update'],
} as const;

type Subject = keyof typeof verbs;

/** What may be done to such a thing. */
export type AuditVerb<Of extends Subject> = (typeof verbs)[Of][number];

/** One of the actions. */
export type AuditAction = { [Of in Subject]: `${Of}.${AuditVerb<Of>}` }[Subject];

export const auditActions: readonly string[] = Object.entries(verbs).flatMap(([subject, its]) =>
  its.map((verb) => `${subject}.${verb}`),
);
