/**
 * The part of the port that registers receipts. A receipt of a payment or of a refund is ordered
 * with the movement: its order has `receipt`. Additions, section 2.
 */
import type { MinorUnits } from '../rules/money.ts';
import type { ReceiptTerms, ReceiptType } from '../rules/receipt.ts';

/** A movement as the bank knows it: our operation's id there, and the bank's own reference. */
interface Movement {
  readonly operationId: string;
  readonly reference: string | null;
}

/**
 * An order to register a receipt, or a query of its result. `receiptId` and `attempt` together are
 * the bank's idempotency key: the same order twice is one receipt.
 */
export interface ReceiptOrder {
  readonly merchantId: string;
  readonly receiptId: string;
  /**
   * How often it was sent again. Attempt 0 of types `payment` and `refund` was ordered with its
   * movement and is only queried; `closing`, and every later attempt, is a separate order.
   */
  readonly attempt: number;
  readonly type: ReceiptType;
  readonly payment: Movement;
  /** Set for type `refund` alone. */
  readonly refund: Movement | null;
  readonly amount: MinorUnits;
  readonly currency: string;
  readonly terms: ReceiptTerms;
  /** Test mode: what was planned; null: it is registered. */
  readonly planned: 'failed' | 'pending' | null;
  readonly createdAt: Temporal.Instant;
  readonly now: Temporal.Instant;
}

export type ReceiptAnswer =
  | {
      readonly kind: 'registered';
      readonly fiscalStorageNumber: string;
      readonly fiscalDocumentNumber: string;
      readonly fiscalAttribute: string;
      readonly registeredAt: Temporal.Instant;
    }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Not final. `askAt` null: only a notification brings the end. */
  | { readonly kind: 'pending'; readonly askAt: Temporal.Instant | null }
  | { readonly kind: 'unknown' };

export interface ReceiptBank {
  /**
   * Orders a receipt, or queries its result: a repeated order returns the state of the first one.
   * Absent: the bank registers none, and a movement with a receipt is not ordered there.
   */
  receipt?(order: ReceiptOrder): Promise<ReceiptAnswer>;
}
