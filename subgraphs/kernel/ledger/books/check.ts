/** What a check of the books is: one statement, and so one snapshot, that gives what is wrong within a range of rows of one table. */

/** The tables that are walked, each in the order of its key (merchant_id, id). */
export const walks = ['payment', 'refund', 'payout', 'posting', 'event', 'shop'] as const;
export type Walk = (typeof walks)[number];

/** What is proved. A closed list: the metric and the subjects of alerts have these names. */
export const checkNames = [
  'payment_booked',
  'payment_refunded',
  'refund_booked',
  'payout_booked',
  'posting_sourced',
  'balance_adds_up',
  'reserve_covers',
  'event_delivered',
  'event_relayed',
] as const;
export type CheckName = (typeof checkNames)[number];

/** Something that the books say twice and differently. */
export interface Difference {
  readonly check: CheckName;
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: 'test' | 'live' | null;
  /** The row that it is about; for a balance the shop, mode, currency and account. */
  readonly subjectId: string;
  readonly detail: string;
}

export interface Check {
  readonly name: CheckName;
  readonly walk: Walk;
  /**
   * SQL that gives a Difference's columns but its check, for the rows of `inRange`. Parameters: $1 and $2 are the key behind which the range begins, $3 and $4
   * the last key in it, $5 how many differences are given at most.
   */
  readonly text: string;
}

/** SQL: the rows of the walked table, under its alias, that the parameters name. */
export const inRange = (alias: string): string =>
  `(${alias}.merchant_id, ${alias}.id) > ($1::uuid, $2::uuid) and (${alias}.merchant_id, ${alias}.id) <= ($3::uuid, $4::uuid)`;
