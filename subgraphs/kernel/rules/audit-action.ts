/**
 * What the audit log says was done, `<object>.<verb>`. A closed list: a new action needs a line
 * here and its words in both languages of the console.
 */
export const auditActions = [
  'adjustment.record',
  'alert.assign',
  'alert.resolve',
  'api_key.issue',
  'api_key.revoke',
  'bank.ask_again',
  'bank_account.remove',
  'bank_account.set',
  'bank_route.remove',
  'bank_route.set',
  'block_entry.add',
  'block_entry.remove',
  'console_session.end',
  'console_session.open',
  'exchange_rate.set',
  'forbidden_purpose.add',
  'forbidden_purpose.remove',
  'link.deactivate',
  'merchant.create',
  'merchant.live_disable',
  'merchant.live_enable',
  'merchant.rate_limit_set',
  'merchant.rename',
  'payment.cancel',
  'payment.capture',
  'payout_draft.approve',
  'payout_draft.create',
  'payout_draft.expire',
  'payout_draft.refuse',
  'payout_draft.reject',
  'personal_data.erase',
  'rate.set',
  'receipt.close',
  'receipt.resend',
  'reconciliation.add',
  'reconciliation.match',
  'reconciliation.open',
  'reconciliation_difference.resolve',
  'refund.create',
  'saved_view.delete',
  'saved_view.save',
  'sbp_banks.refresh',
  'settlement.record',
  'shop.allow_list_set',
  'shop.create',
  'shop.receipts_require',
  'shop.rename',
  'shop.signature_require',
  'shop.signing_secret_rotate',
  'shop.webhook_secret_rotate',
  'subscription.cancel',
  'subscription.pause',
  'subscription.resume',
  'test_clock.advance',
  'test_clock.create',
  'test_clock.freeze',
  'test_clock.remove',
  'test_clock.resume',
  'token.cancel',
  'webhook_deliveries.resend_failed',
  'webhook_delivery.resend',
  'webhook_endpoint.create',
  'webhook_endpoint.delete',
  'webhook_endpoint.disable',
  'webhook_endpoint.enable',
  'webhook_endpoint.secret_rotate',
  'webhook_endpoint.test',
  'webhook_endpoint.update',
] as const;

/** One of them. */
export type AuditAction = (typeof auditActions)[number];

type VerbIn<Action, Subject extends string> = Action extends `${Subject}.${infer Verb}`
  ? Verb
  : never;

/** What may be done to such a thing. */
export type AuditVerb<Subject extends string> = VerbIn<AuditAction, Subject>;
