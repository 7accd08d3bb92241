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

const file = (name: string): Statement => sqlFile(import.meta.dirname, name);

const ofMerchant = ({ merchantId }: Asked) => [merchantId];
const ofRange = ({ merchantId, from, to, limit }: Asked) => [merchantId, from, to, limit];
const ofRangeAnd = (last: unknown) => (asked: Asked) => [...ofRange(asked), last];
const ofSums = ({ merchantId, from, sums }: Asked) => [merchantId, from, sums];
const ofHours =
  (areTogether: boolean) =>
  ({ merchantId, from, to }: Asked) => [merchantId, from, to, areTogether];

export const sumPostings = file('sum-postings.sql');
const booked = file('facts-booked.sql');
const refunded = file('payment-refunded.sql');
const sourced = file('posting-sourced.sql');
const balances = file('balance-adds-up.sql');
const ledgerHours = file('ledger-hours-add-up.sql');
const reserves = file('reserve-covers.sql');
const delivered = file('event-delivered.sql');
const relayed = file('event-relayed.sql');
const counted = file('facts-counted.sql');
const hours = file('hours-add-up.sql');

const all = {
  payment_booked: { step: 'payment', statement: booked, values: ofRangeAnd('payment') },
  payment_refunded: { step: 'payment', statement: refunded, values: ofRange },
  refund_booked: { step: 'refund', statement: booked, values: ofRangeAnd('refund') },
  payout_booked: { step: 'payout', statement: booked, values: ofRangeAnd('payout') },
  posting_sourced: { step: 'posting', statement: sourced, values: ofRange },
  balance_adds_up: { step: 'balance', statement: balances, values: ofSums },
  ledger_hours_add_up: { step: 'balance', statement: ledgerHours, values: ofMerchant },
  reserve_covers: { step: 'balance', statement: reserves, values: ofMerchant },
  event_delivered: { step: 'event', statement: delivered, values: ofRangeAnd(namedWebhookEvents) },
  event_relayed: { step: 'event', statement: relayed, values: ofRange },
  payment_counted: { step: 'payment', statement: counted, values: ofRangeAnd('payment') },
  refund_counted: { step: 'refund', statement: counted, values: ofRangeAnd('refund') },
  payout_counted: { step: 'payout', statement: counted, values: ofRangeAnd('payout') },
  hour_adds_up: { step: 'hour', statement: hours, values: ofHours(false) },
  hours_together: { step: 'hour', statement: hours, values: ofHours(true) },
} satisfies Record<string, Check>;

export type CheckName = keyof typeof all;
/** Every check by its name, which the metric and the subjects of alerts use. */
export const checks: Readonly<Record<CheckName, Check>> = all;
export const checkNames = Object.keys(checks) as readonly CheckName[];
