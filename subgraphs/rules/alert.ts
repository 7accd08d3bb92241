/**
 * Alerts: what a person at the operator must look at. A closed list: a new kind needs a line here,
 * in the check `alert_kind`, in the enum of the graph and in `placeOf`. A fact happened once and stays resolved;
 * a state that is found again after it was resolved is raised again.
 */
export const alertKinds = {
  /** The bank confirmed a payment that we had closed without success. */
  late_success: 'fact',
  /** A payment through a link found no use left: its money goes back. */
  link_exhausted: 'fact',
  /** A check of the books found a difference. */
  books_differ: 'state',
  /** The acquirer's registry and our records differ. */
  reconciliation_difference: 'fact',
  /** An event that was relayed has not all the webhook deliveries that it should have. */
  event_without_delivery: 'state',
  /** The bank answered otherwise than it had answered finally before. */
  bank_answer_contradicts: 'fact',
  /** What the bank repeats of an operation is not what was ordered. */
  bank_echo_differs: 'fact',
  /** Money came that a merchant's balance has no room for: it stands in suspense. */
  balance_at_bound: 'fact',
  /**
   * A task of the background fails at something of one merchant and leaves it alone for a while.
   */
  dead_letter: 'state',
  /** A cash register refused a receipt: it may fail again when it is sent again. */
  receipt_failed: 'state',
  /** Many calls to a bank fail. */
  bank_degraded: 'state',
  /** Fewer of a merchant's payments succeed than before. */
  success_falls: 'state',
  /** Nothing has been delivered to a webhook endpoint for a day. */
  endpoint_fails: 'state',
  /** A payout has no result for hours. */
  payout_stuck: 'state',
  /** An API key that is in use ends soon. */
  key_expires: 'state',
} as const satisfies Record<string, 'fact' | 'state'>;

export type AlertKind = keyof typeof alertKinds;

/** How urgent each kind is: `critical` where money may be wrong. */
export const alertSeverities = {
  late_success: 'warning',
  link_exhausted: 'warning',
  books_differ: 'critical',
  reconciliation_difference: 'critical',
  event_without_delivery: 'warning',
  bank_answer_contradicts: 'critical',
  bank_echo_differs: 'critical',
  balance_at_bound: 'critical',
  dead_letter: 'warning',
  receipt_failed: 'warning',
  bank_degraded: 'critical',
  success_falls: 'warning',
  endpoint_fails: 'warning',
  payout_stuck: 'critical',
  key_expires: 'warning',
} as const satisfies Record<AlertKind, 'critical' | 'warning'>;

export type AlertSeverity = (typeof alertSeverities)[AlertKind];

/** What an alert says of its subject; a person's program words it. */
export const alertFieldNames = [
  'bank',
  'payment',
  'refund',
  'receipt',
  'status',
  'reason',
  'code',
  'amount',
  'currency',
  'bank_operation',
  'bank_status',
  'bank_amount',
  'registry',
  'count',
  'failed',
  'minutes',
  'hours',
  'share',
  'share_before',
  'url',
  'key',
  'ends_at',
  'task',
  'row',
  'error',
  'check',
  'account',
  'expected',
  'found',
  'lacking',
  'unexpected',
  'event',
] as const;
export type AlertFieldName = (typeof alertFieldNames)[number];

/** A code, an id, a number or a bank's own text for each name; no sentences. */
export type AlertFields = { readonly [Name in AlertFieldName]?: string };

/** What an alert is about, as far as its way there needs it. */
interface About {
  readonly kind: AlertKind;
  /** Null: the platform itself. */
  readonly merchantId: string | null;
  readonly mode: string | null;
  readonly subjectId: string;
}

/** The page of the console, with its search, that shows what an alert is about. */
export const placeOf = ({ kind, merchantId, mode, subjectId }: About): string => {
  const search = new URLSearchParams(mode === null ? {} : { mode });
  if (merchantId !== null) search.set('merchant', merchantId);
  const at = (page: string): string => `/${page}?${search.toString()}`;
  switch (kind) {
    case 'bank_degraded':
      return at('banks');
    case 'success_falls':
      search.set('by', 'status');
      search.set('span', 'day');
      return at('reports');
    case 'endpoint_fails':
    case 'event_without_delivery':
      return at('webhooks');
    case 'payout_stuck':
      search.set('open', `${merchantId}/${subjectId}`);
      return at('payouts');
    case 'key_expires':
      return at('developers');
    case 'reconciliation_difference':
      search.set('code', subjectId);
      return at('reconciliation');
    case 'books_differ':
      return merchantId === null ? at('alerts') : at('balance');
    case 'receipt_failed':
      return at('receipts');
    case 'late_success':
    case 'link_exhausted':
    case 'bank_answer_contradicts':
    case 'bank_echo_differs':
    case 'balance_at_bound':
    case 'dead_letter':
      return at('alerts');
  }
};
