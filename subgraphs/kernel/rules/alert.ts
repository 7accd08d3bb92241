/**
 * Alerts: what a person at the operator must look at. A closed list: a new kind needs a line here,
 * in the check `alert_kind` and in the enum of the graph. A fact happened once and stays resolved;
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
} as const satisfies Record<AlertKind, 'critical' | 'warning'>;

export type AlertSeverity = (typeof alertSeverities)[AlertKind];
