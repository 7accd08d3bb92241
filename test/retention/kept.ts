/** How long each table is kept: the list that tests compare with the schema and with docs/operations.md#retention. */
import {
  eventsKeptDefault_days,
  keysKept_days,
  tracesKept_days,
  registriesKept_days,
  alertsKept_days,
  differencesKept_days,
  testOperationsKept_days,
  deadLettersKept_days,
  bankHealthKept_days,
  requestsKept_days,
} from '../../subgraphs/rules/retention.ts';

/**
 * Days, and how what is older goes: whole months or days at once, or rows in batches. Or why a table loses
 * nothing by its age.
 */
export type Retention =
  | { readonly days: number; readonly by: 'months' | 'days' | 'batches' }
  | { readonly kept: 'for ever' | 'while it is needed'; readonly why: string };

const forEver = (why: string): Retention => ({ kept: 'for ever', why });
const whileNeeded = (why: string): Retention => ({ kept: 'while it is needed', why });
const events: Retention = { days: eventsKeptDefault_days, by: 'months' };
const money = forEver('money and what it was for; personal data in it is erased when asked for');
const settings = whileNeeded('until an operator changes it');

export const retention = {
  event: events,
  webhook_delivery: events,
  webhook_attempt: events,
  bank_call: events,
  page_opening: events,
  api_request: { days: requestsKept_days, by: 'days' },
  idempotency_key: { days: keysKept_days, by: 'batches' },
  subject_trace: { days: tracesKept_days, by: 'batches' },
  reconciliation_line: { days: registriesKept_days, by: 'batches' },
  alert: { days: alertsKept_days, by: 'batches' },
  bank_health: { days: bankHealthKept_days, by: 'batches' },
  dead_letter: { days: deadLettersKept_days, by: 'batches' },
  payment: money,
  refund: money,
  payment_link: money,
  link_payment: money,
  payment_note: money,
  refund_draft: money,
  receipt: money,
  receipt_terms: money,
  payout: money,
  payout_draft: money,
  posting: money,
  balance: money,
  ledger_hour: money,
  balance_delta: whileNeeded('until it is folded into the balance, within seconds'),
  subscription: money,
  subscription_charge: money,
  token: money,
  audit_entry: forEver('PostgreSQL itself refuses to change or remove an entry'),
  audit_text: forEver('texts of people that the audit log refers to; an erasure removes them'),
  reconciliation_run: forEver('proof that it was done'),
  reconciliation_part: { days: registriesKept_days, by: 'batches' },
  reconciliation_difference: { days: differencesKept_days, by: 'batches' },
  merchant: forEver('whose money it is'),
  shop: forEver('whose money it is'),
  api_key: forEver('digests: who called, in the audit log'),
  rate: forEver('what a fee was taken by'),
  exchange_rate: forEver('what an amount was shown as'),
  bank_account: settings,
  bank_order: forEver('which orders a bank was given: a repeated one must never pay twice'),
  bank_route: settings,
  block_entry: settings,
  forbidden_word: settings,
  policy_version: settings,
  sbp_bank: settings,
  webhook_endpoint: settings,
  test_clock: settings,
  console_session: whileNeeded('until a month after its end: the next login removes it'),
  saved_view: whileNeeded('until its person removes it'),
  console_link: whileNeeded('until a month after its end: the next link removes it'),
  consumer_offset: whileNeeded('one row for each consumer'),
  kept_key: forEver('what was sealed or fingerprinted with a key is read with it'),
  consumer_retry: whileNeeded('until its effects succeed'),
  books_check: whileNeeded('one row for each merchant'),
  hourly_total: forEver('what was counted; it holds no personal data'),
  counted_fact: forEver('as what each payment, refund and payout is counted'),
  totals_walk: whileNeeded('until everything is counted anew'),
  simulator_operation: { days: testOperationsKept_days, by: 'batches' },
  simulator_hold_order: { days: testOperationsKept_days, by: 'batches' },
  simulator_callback: whileNeeded('until it was sent'),
} as const satisfies Readonly<Record<string, Retention>>;
