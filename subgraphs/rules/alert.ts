/**
 * Alerts: what a person at the operator must look at. A closed list: a new kind needs a line here,
 * in the check `alert_kind`, in the enum of the graph and in `placeOf`. A fact happened once and stays resolved;
 * a state that is found again after it was resolved is raised again. `critical`: money may be wrong.
 */
import { enums } from '../../schema/generated/enums.ts';

export const alertKinds = {
  /** The bank confirmed a payment that we had closed without success. */
  late_success: { is: 'fact', severity: 'warning' },
  /** A payment through a link found no use left: its money goes back. */
  link_exhausted: { is: 'fact', severity: 'warning' },
  /** A check of the books found a difference. */
  books_differ: { is: 'state', severity: 'critical' },
  /** The acquirer's registry and our records differ. */
  reconciliation_difference: { is: 'fact', severity: 'critical' },
  /** An event that was relayed has not all the webhook deliveries that it should have. */
  event_without_delivery: { is: 'state', severity: 'warning' },
  /** The bank answered otherwise than it had answered finally before. */
  bank_answer_contradicts: { is: 'fact', severity: 'critical' },
  /** What the bank repeats of an operation is not what was ordered. */
  bank_echo_differs: { is: 'fact', severity: 'critical' },
  /** Money came that a merchant's balance has no room for: it stands in suspense. */
  balance_at_bound: { is: 'fact', severity: 'critical' },
  /**
   * A task of the background fails at something of one merchant and leaves it alone for a while.
   */
  dead_letter: { is: 'state', severity: 'warning' },
  /** A cash register refused a receipt: it may fail again when it is sent again. */
  receipt_failed: { is: 'state', severity: 'warning' },
  /** Many calls to a bank fail. */
  bank_degraded: { is: 'state', severity: 'critical' },
  /** Fewer of a merchant's payments succeed than before. */
  success_falls: { is: 'state', severity: 'warning' },
  /** Nothing has been delivered to a webhook endpoint for a day. */
  endpoint_fails: { is: 'state', severity: 'warning' },
  /** A payout has no result for hours. */
  payout_stuck: { is: 'state', severity: 'critical' },
  /** An API key that is in use ends soon. */
  key_expires: { is: 'state', severity: 'warning' },
} as const satisfies Record<string, { is: 'fact' | 'state'; severity: AlertSeverity }>;

export type AlertKind = keyof typeof alertKinds;

export type AlertSeverity = (typeof enums.AlertSeverity)[number];

/** What an alert says of its subject; a person's program words it. */
export const alertFieldNames = enums.AlertFieldName;
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
