/** What a bank answers about an operation, whatever asked: a session, a question or a charge. */
import type { BankStep } from '../rules/buyer.ts';
import type { FailureCode } from '../rules/failure-code.ts';

/** What may be kept of a buyer's means of payment. */
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

/** What a bank says of a payment whose buyer has done what was asked of them. */
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
  /** The bank held the money and gave it up, by itself or by somebody else's order. */
  | { readonly kind: 'released' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode; readonly bankCode: string }
  /**
   * Not final. `askAt` null: it will not change by itself. `session`: where the buyer goes on,
   * given again for an order whose answer was lost.
   */
  | {
      readonly kind: 'pending';
      readonly askAt: Temporal.Instant | null;
      readonly session?: FoundSession;
    }
  /** The bank surely never saw the operation. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'unknown' };
