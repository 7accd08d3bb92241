/**
 * The checks of a merchant's books: one statement each, and so one snapshot, that returns what is
 * wrong. Most read a range of the merchant's rows in the order of their ids. Rows that are found by
 * key for each row of another table stand behind `offset 0`: joined, all the merchant's rows would
 * be read for a few, since the planner does not know how many one has.
 */
import type { AlertFields } from '../../rules/alert.ts';
import { namedWebhookEvents } from '../../rules/event.ts';
import { sqlFile } from '../../platform/database/sql-file.ts';
import type { Statement } from '../../platform/database/statement.ts';

/** What a merchant's check goes through, in this order. */
export const steps = [
  'payment',
  'refund',
  'payout',
  'posting',
  'balance',
  'event',
  'hour',
] as const;
export type Step = (typeof steps)[number];

/** A fact that the books hold twice and differently. */
export interface Found {
  /** Null: of all shops of the merchant. */
  readonly shopId: string | null;
  readonly mode: 'test' | 'live' | null;
  /** The row that it is about; for a balance the shop, mode, currency and account. */
  readonly subjectId: string;
  readonly detail: string;
  readonly fields: AlertFields;
  /** For a counted fact: the subject of the events that count it. */
  readonly countedBy?: readonly string[];
}

/** The input of a check. */
export interface Asked {
  readonly merchantId: string;
  /** Behind this row, up to and with the other one. */
  readonly from: string;
  readonly to: string;
  /** Null: all of them. */
  readonly limit: number | null;
  /** What the postings up to `from` sum to, by account, as JSON. */
  readonly sums: string;
}

interface Check {
  readonly step: Step;
  readonly statement: Statement;
  readonly values: (asked: Asked) => readonly unknown[];
}

const ofMerchant = ({ merchantId }: Asked) => [merchantId];
const ofRange = ({ merchantId, from, to, limit }: Asked) => [merchantId, from, to, limit];
const ofRangeAnd = (last: unknown) => (asked: Asked) => [...ofRange(asked), last];
const ofSums = ({ merchantId, from, sums }: Asked) => [merchantId, from, sums];
const ofHours =
  (areTogether: boolean) =>
  ({ merchantId, from, to }: Asked) => [merchantId, from, to, areTogether];

const check = (step: Step, file: string, values: Check['values']): Check => ({
  step,
  statement: sqlFile(import.meta.dirname, file),
  values,
});

export const sumPostings: Statement = sqlFile(import.meta.dirname, 'sum-postings.sql');

const all = {
  payment_booked: check('payment', 'facts-booked.sql', ofRangeAnd('payment')),
  payment_refunded: check('payment', 'payment-refunded.sql', ofRange),
  refund_booked: check('refund', 'facts-booked.sql', ofRangeAnd('refund')),
  payout_booked: check('payout', 'facts-booked.sql', ofRangeAnd('payout')),
  posting_sourced: check('posting', 'posting-sourced.sql', ofRange),
  balance_adds_up: check('balance', 'balance-adds-up.sql', ofSums),
  ledger_hours_add_up: check('balance', 'ledger-hours-add-up.sql', ofMerchant),
  reserve_covers: check('balance', 'reserve-covers.sql', ofMerchant),
  event_delivered: check('event', 'event-delivered.sql', ofRangeAnd(namedWebhookEvents)),
  event_relayed: check('event', 'event-relayed.sql', ofRange),
  payment_counted: check('payment', 'facts-counted.sql', ofRangeAnd('payment')),
  refund_counted: check('refund', 'facts-counted.sql', ofRangeAnd('refund')),
  payout_counted: check('payout', 'facts-counted.sql', ofRangeAnd('payout')),
  hour_adds_up: check('hour', 'hours-add-up.sql', ofHours(false)),
  hours_together: check('hour', 'hours-add-up.sql', ofHours(true)),
};

export type CheckName = keyof typeof all;
/** Every check by its name, which the metric and the subjects of alerts use. */
export const checks: Readonly<Record<CheckName, Check>> = all;
export const checkNames = Object.keys(checks) as readonly CheckName[];
