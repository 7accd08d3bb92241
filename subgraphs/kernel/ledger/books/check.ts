/**
 * What a check of the books is: one statement, and so one snapshot, that gives what is wrong within
 * a range of rows of one table.
 */

/** The tables that are walked, each in the order of its key (merchant_id, id). */
export const walks = ['payment', 'refund', 'payout', 'posting', 'event', 'shop'] as const;
export type Walk = (typeof walks)[number];

/** No id is below or above these. */
export const lowestId = '00000000-0000-0000-0000-000000000000';
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A place in the order of a table's keys. */
export interface Place {
  readonly merchantId: string;
  readonly id: string;
}

/** A part of a table in the order of its key: behind `from`, up to and with `to`. */
export interface Range {
  readonly from: Place;
  readonly to: Place;
}

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
  'payment_counted',
  'refund_counted',
  'payout_counted',
  'hour_adds_up',
  'hours_together',
] as const;
export type CheckName = (typeof checkNames)[number];

/** A fact that the books hold twice and differently. */
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
   * SQL that gives a Difference's columns but its check, for the rows of `part`, a query.
   * Parameters: $1 and $2 are the key behind which the range begins, $3 and $4 the last key in it,
   * $5 how many differences are given at most.
   */
  readonly text: (part: string) => string;
  /**
   * The same from checkpoints, of which $6 is the lowest end (`provedFrom`). What it finds is a
   * doubt: `text` then decides.
   */
  readonly fromCheckpoint?: (part: string) => string;
}

/**
 * SQL: the rows of a table that the parameters name, in the order of its key, at most so many
 * (null: all). The limit is what leads the planner to the key's index: without it, it reads whole
 * tables for a range.
 */
export const rowsOf = (walk: Walk, limit: number | null): string =>
  `select * from ${walk} where (merchant_id, id) > ($1::uuid, $2::uuid) and (merchant_id, id) <= ($3::uuid, $4::uuid)
    order by merchant_id, id ${limit === null ? '' : `limit ${limit}`}`;

/** SQL: the one row whose key `$1` and `$2` are, as a range. */
export const oneRowOf = (walk: Walk): string =>
  `select * from ${walk} where merchant_id = $1::uuid and id = $2::uuid and (merchant_id, id) <= ($3::uuid, $4::uuid)`;
