/**
 * The part of the port that holds a buyer's money, and later takes it or gives it up. Money is held
 * by a session whose order has `holds`.
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
  /** The payment as the bank knows it: our operation's id there, and the bank's own reference. */
  readonly payment: { readonly operationId: string; readonly reference: string | null };
  /** What is taken; the rest is released. Of a release: what is held. */
  readonly amount: MinorUnits;
  /** What is held. */
  readonly held: MinorUnits;
  readonly currency: string;
  /** Present, of a capture: the receipt of what is taken, which is registered with it. */
  readonly receipt?: ReceiptTerms;
  /** Whose terms the receipt has: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  readonly now: Temporal.Instant;
}

/**
 * What became of the hold, whichever order did it: a release may be answered with `captured`, a
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
  /** The methods by which money can be held there. Absent: none. */
  readonly holds?: readonly BuyerMethod[];
  /**
   * Captures or releases a hold, or asks what became of it: a repeated order is answered with where
   * the first one stands. Nothing else is needed after a crash.
   */
  settleHold?(order: HoldOrder): Promise<HoldAnswer>;
}
