/**
 * The part of the port to an acquirer that gives its settlement report: the operations that it
 * executed for us in a span of time, for reconciliation.
 */
import type { Mode } from '../rules/mode.ts';

export const reportedKinds = ['payment', 'refund', 'payout'] as const;
export type ReportedKind = (typeof reportedKinds)[number];

export const reportedStatuses = ['succeeded', 'failed', 'pending'] as const;
export type ReportedStatus = (typeof reportedStatuses)[number];

/** One line of a settlement report. Amounts are minor units. */
export interface ReportLine {
  readonly reference: string;
  /**
   * Our operation's id; null when the bank does not repeat it, and the line is found by its
   * reference.
   */
  readonly operationId: string | null;
  readonly kind: ReportedKind;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: ReportedStatus;
  readonly at: Temporal.Instant;
  /** The bank's fee; null when the report has none. */
  readonly fee: bigint | null;
}

/** A bank that gives settlement reports. */
export interface SettlementBank {
  readonly connector: string;
  readonly mode: Mode;
  /**
   * The operations from `since` on and before `until`, in pages of any size. Rejects when the bank
   * cannot be read; then no part of the report is used.
   */
  settlementReport(span: {
    readonly since: Temporal.Instant;
    readonly until: Temporal.Instant;
  }): AsyncIterable<readonly ReportLine[]>;
}
