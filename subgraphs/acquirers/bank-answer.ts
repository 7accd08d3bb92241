/** A bank's answer about an operation, whether to a session, a query or a charge. */
import type { BankStep } from '../rules/buyer.ts';
import type { FailureCode } from '../rules/failure-code.ts';

/** The part of a buyer's means of payment that may be stored. */
export interface PayerTraits {
  readonly cardBrand: string | null;
  /** Last 4 digits behind a mask. */
  readonly cardMask: string | null;
  readonly cardHolder: string | null;
  readonly phoneMask: string | null;
  readonly payerBank: string | null;
}

/** An open session as the bank has it. */
export interface FoundSession {
  readonly reference: string;
  readonly step: BankStep;
  readonly stepUrl: string;
}

/** A bank's answer about a payment after the buyer's action. */
export interface Accepted {
  readonly reference: string;
  readonly rrn: string | null;
  readonly traits: PayerTraits;
  /** The bank's own reference of the saved method, when the order asked to save it. */
  readonly savedReference?: string;
}

export type BankAnswer =
  | (Accepted & { readonly kind: 'approved' })
  /** The bank holds the money until then. */
  | (Accepted & { readonly kind: 'authorized'; readonly captureBefore: Temporal.Instant })
  /** The bank held the money and released it, by itself or by another party's order. */
  | { readonly kind: 'released' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode; readonly bankCode: string }
  /**
   * Not final. `askAt` null: it will not change by itself. `session`: where the buyer continues,
   * repeated for an order whose answer was lost.
   */
  | {
      readonly kind: 'pending';
      readonly askAt: Temporal.Instant | null;
      readonly session?: FoundSession;
    }
  /** The bank certainly never saw the operation. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'unknown' };
