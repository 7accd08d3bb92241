/** Rows behind the types of the graph that differ from the tables' own. */
import type { InferEntity } from '@mikro-orm/core';
import type { EventEntity } from '../platform/database/entities.ts';
import type { ListedPage } from '../platform/database/lists.ts';
import type { Mode } from '../rules/mode.ts';
import type { LedgerType } from '../rules/postings.ts';
import type { WebhookDelivery } from './entities.ts';

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

type Stored = InferEntity<typeof EventEntity>;
/** An event that has all of these fields. */
type EventWith<Names extends keyof Stored> = {
  readonly [Name in Names]: NonNullable<Stored[Name]>;
};

/** One event of the log; its body is the bytes that endpoints get. */
export type LoggedEvent = EventWith<
  'merchantId' | 'id' | 'webhookEvent' | 'webhookBody' | 'createdAt'
>;

/** One published event of the live stream. */
export type EventRow = EventWith<
  | 'merchantId'
  | 'sequence'
  | 'shopId'
  | 'mode'
  | 'subjectId'
  | 'streamKind'
  | 'payload'
  | 'createdAt'
>;
