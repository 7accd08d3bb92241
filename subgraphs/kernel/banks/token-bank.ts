/**
 * The part of the port that saves a buyer's method and charges it later without the buyer
 * (docs/contract.md#tokens). An order with `save` saves the method; the approved answer then
 * carries the bank's reference to it.
 */
import type { MinorUnits } from '../rules/money.ts';
import type { ReceiptTerms } from '../rules/receipt.ts';
import type { SavableMethod } from '../rules/recurring.ts';
import type { TimedPlan } from '../rules/plan.ts';
import type { BankAnswer } from './bank-answer.ts';

/**
 * What a session's order asks for beside the payment: that the method is saved, when the payment
 * succeeds.
 */
export interface SaveOrder {
  /**
   * The payment only proves the method. Cards: the bank authorises it and gives it up again, so
   * that no money moves. Others: it is paid, and given back by us.
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
  /** Test mode: what was planned. */
  readonly planned: TimedPlan | null;
  /**
   * Whether no bank can have this charge yet: then what keeps its order from being given is the end
   * of it.
   */
  readonly isFirst: boolean;
  /** Present: the receipt that is registered when the charge succeeds. */
  readonly receipt?: ReceiptTerms;
  /** Whose terms the receipt has: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  readonly now: Temporal.Instant;
}

/**
 * What a bank answers about a charge. It cannot be unseen: the order that asks about it is the
 * order itself.
 */
export type ChargeAnswer = Exclude<BankAnswer, { readonly kind: 'unseen' }>;

export interface TokenBank {
  /** The methods that this bank saves; none when it saves nothing. */
  readonly savable: readonly SavableMethod[];
  /**
   * Orders a charge, or asks what became of it: a repeated order is answered with where the first
   * one stands. Nothing else is needed after a crash.
   */
  charge(order: ChargeOrder): Promise<ChargeAnswer>;
}
