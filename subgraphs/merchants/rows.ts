/** Rows behind the types of the graph that differ from the tables' own. */
import type { PaymentStatus, RefundStatus } from '../../schema/generated/operations.ts';
import type { BankCall } from '../acquirers/entities.ts';
import type { AuditEntry } from '../platform/database/entities.ts';
import type { ListedPage } from '../platform/database/lists.ts';
import type { EntityReference } from '../platform/graph/entities.ts';
import type { LiveKind, WebhookEvent } from '../rules/event.ts';
import type { Mode } from '../rules/mode.ts';
import type { LedgerType } from '../rules/postings.ts';
import type { WebhookAttempt, WebhookDelivery } from './entities.ts';

export interface LedgerRow {
  readonly merchantId: string;
  readonly id: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly type: LedgerType;
  /** Signed: credit positive, withholding negative. */
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  readonly paymentId: string | null;
  readonly payoutId: string | null;
  readonly createdAt: Temporal.Instant;
}

export type LedgerPage = ListedPage<LedgerRow>;

export type DeliveryPage = ListedPage<WebhookDelivery>;

/** One event of the log. */
export interface LoggedEvent {
  readonly merchantId: string;
  readonly id: string;
  readonly webhookEvent: WebhookEvent;
  /** The bytes that endpoints get. */
  readonly webhookBody: string;
  readonly createdAt: Temporal.Instant;
}

/** One event of the live stream. */
export interface EventRow {
  readonly merchantId: string;
  /** Null while the event is in the outbox and not yet published. */
  readonly sequence: bigint;
  readonly shopId: string;
  readonly mode: Mode;
  readonly subjectId: string;
  readonly streamKind: LiveKind;
  readonly payload: Record<string, unknown>;
  readonly createdAt: Temporal.Instant;
}

// The entries of a payment's timeline.

type Entry<Name extends string, Rest> = {
  readonly __typename: Name;
  readonly at: Temporal.Instant;
} & Rest;

/** The payment's origin; the id is that of the key, the link, the subscription or the token. */
export type CreatedRow = Entry<
  'TimelineCreated',
  {
    readonly by: 'key' | 'link' | 'subscription' | 'token';
    readonly makerId: string | null;
    readonly keyPrefix: string | null;
  }
>;
export type OpenedRow = Entry<'TimelinePageOpened', object>;
export type StatusRow = Entry<'TimelineStatus', { readonly status: PaymentStatus }>;
export type BankCallRow = Entry<
  'TimelineBankCall',
  BankCall & { readonly operationId: string; readonly durationMs: number }
>;
export type RefundRow = Entry<
  'TimelineRefund',
  { readonly refund: EntityReference; readonly status: RefundStatus; readonly amount: bigint }
>;
export type AttemptRow = Entry<
  'TimelineWebhookAttempt',
  { readonly delivery: WebhookDelivery; readonly attempt: WebhookAttempt }
>;
export type PostingRow = Entry<'TimelinePosting', { readonly entry: LedgerRow }>;
export type AuditRow = Entry<'TimelineAudit', { readonly entry: AuditEntry }>;
export type TimelineRow =
  | CreatedRow
  | OpenedRow
  | StatusRow
  | BankCallRow
  | RefundRow
  | AttemptRow
  | PostingRow
  | AuditRow;
