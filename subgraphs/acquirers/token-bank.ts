/**
 * The part of the port that saves a buyer's method and charges it later without the buyer
 * (docs/contract.md#tokens). An order with `save` saves the method; the approved answer then
 * carries the bank's reference to it.
 */
import type { MinorUnits } from '../rules/money.ts';
import type { ReceiptTerms } from '../rules/receipt.ts';
import type { SavableMethod } from '../rules/recurring.ts';
import type { TimedPlan } from '../rules/banks.ts';
import type { BankAnswer } from './bank-answer.ts';

/** A session's order in addition to the payment: the method is saved when the payment succeeds. */
export interface SaveOrder {
  /**
   * The payment only verifies the method. Cards: the bank authorises and voids it, so that no money
   * moves. Others: it is paid, and we refund it.
   */
  readonly verification: boolean;
}

/**
 * An order to charge a saved method. `operationId` is the bank's idempotency key: the same order
 * twice is one charge.
 */
export interface ChargeOrder {
  readonly merchantId: string;
  readonly operationId: string;
  readonly amount: MinorUnits;
  readonly currency: string;
  /** The bank's own reference of the saved method. */
  readonly savedReference: string;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** Whether no bank can have this charge yet: then an obstacle to sending its order is final. */
  readonly isFirst: boolean;
  /** Present: the receipt that is registered when the charge succeeds. */
  readonly receipt?: ReceiptTerms;
  /** The owner of the receipt's terms: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  readonly now: Temporal.Instant;
}

/** A bank's answer about a charge. It cannot be unseen: the query is the order itself. */
export type ChargeAnswer = Exclude<BankAnswer, { readonly kind: 'unseen' }>;

export interface TokenBank {
  /** The methods that this bank saves; none when it saves nothing. */
  readonly savable: readonly SavableMethod[];
  /**
   * Orders a charge, or queries its result: a repeated order returns the state of the first one.
   * Nothing else is needed after a crash.
   */
  charge(order: ChargeOrder): Promise<ChargeAnswer>;
}
