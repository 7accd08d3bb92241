/**
 * The part of the port that holds a buyer's money, and later captures or releases it. A session
 * whose order has `holds` holds money.
 */
import type { BuyerMethod } from '../rules/buyer.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { MinorUnits } from '../rules/money.ts';
import type { ReceiptTerms } from '../rules/receipt.ts';

/**
 * An order to capture a hold or to release it. `operationId` is the bank's idempotency key: the
 * same order twice has one effect.
 */
export interface HoldOrder {
  readonly kind: 'capture' | 'release';
  readonly merchantId: string;
  readonly operationId: string;
  /** The bank's view of the payment: our operation's id there, and the bank's own reference. */
  readonly payment: { readonly operationId: string; readonly reference: string | null };
  /** The captured amount; the rest is released. For a release: the held amount. */
  readonly amount: MinorUnits;
  /** What is held. */
  readonly held: MinorUnits;
  readonly currency: string;
  /** Present, for a capture: the receipt of the captured amount, which is registered with it. */
  readonly receipt?: ReceiptTerms;
  /** The owner of the receipt's terms: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  readonly now: Temporal.Instant;
}

/**
 * The result of the hold, whichever order caused it: a release may be answered with `captured`, a
 * capture with `released`.
 */
export type HoldAnswer =
  | { readonly kind: 'captured'; readonly amount: MinorUnits }
  | { readonly kind: 'released' }
  /** The bank refused the order, and holds the money still. */
  | { readonly kind: 'declined'; readonly failureCode: FailureCode; readonly bankCode: string }
  /** Not final. `askAt` null: it will not change by itself. */
  | { readonly kind: 'pending'; readonly askAt: Temporal.Instant | null }
  | { readonly kind: 'unknown' };

export interface HoldBank {
  /** The methods that can hold money there. Absent: none. */
  readonly holds?: readonly BuyerMethod[];
  /**
   * Captures or releases a hold, or queries its result: a repeated order returns the state of the
   * first one. Nothing else is needed after a crash.
   */
  settleHold?(order: HoldOrder): Promise<HoldAnswer>;
}
