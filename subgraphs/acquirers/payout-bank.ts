/**
 * The port's part for outgoing money. An unknown outcome is not a failure. The operation's id is
 * the bank's idempotency key: the same order twice is one payout.
 */
import type { FailureCode } from '../rules/failure-code.ts';
import type { MinorUnits } from '../rules/money.ts';
import type { TimedPlan, RouteMethod } from '../rules/banks.ts';
import type { KeptRecipient, Recipient } from '../rules/recipient.ts';
import type { SbpBank } from './sbp-banks.ts';

/** How a bank may send money: the methods that routes have for payouts. */
type PayoutWay = Extract<RouteMethod, 'sbp' | 'card' | 'account'>;

/** The payout to query. */
export interface PayoutQuestion {
  readonly merchantId: string;
  readonly operationId: string;
  /** The bank's own reference, once it gave one. */
  readonly reference: string | null;
  /** The order, so that the bank's answer can be compared with it. */
  readonly amount: MinorUnits;
  readonly currency: string;
  /** When the first order that may have arrived was sent. */
  readonly sentAt: Temporal.Instant;
  readonly now: Temporal.Instant;
}

/**
 * An order to pay out. A bank whose idempotency keys expire must be queried, and must not get this
 * order again, once the key of `sentAt` may have expired.
 */
export interface PayoutOrder extends Omit<PayoutQuestion, 'reference'> {
  readonly recipient: Recipient;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** Whether this is that first order: no bank, and no account at one, can have it yet. */
  readonly isFirst: boolean;
  /**
   * Ends the call: a connector closes its connection then, so that nothing arrives at the bank
   * later. The answer is `unknown`.
   */
  readonly signal: AbortSignal;
}

export type PayoutAnswer =
  | { readonly kind: 'approved'; readonly reference: string }
  | {
      readonly kind: 'declined';
      readonly failureCode: FailureCode;
      readonly reference: string | null;
    }
  /** Accepted, not final. `askAt` null: it will not change by itself. */
  | {
      readonly kind: 'pending';
      readonly reference: string | null;
      readonly askAt: Temporal.Instant | null;
    }
  /** The member id is unknown, or the bank's router failed before anything was accepted. */
  | { readonly kind: 'misrouted' }
  /** Only to a query: the bank certainly never saw the order. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'unknown' };

/** `unaccepted` as in `bank.ts`: certainly no bank has it, and another bank may get it. */
export type PayoutOrderAnswer = PayoutAnswer | { readonly kind: 'unaccepted' };

/** A bank's answer about a recipient before a payout. */
export type RecipientVerdict =
  | Extract<PayoutAnswer, { readonly kind: 'declined' | 'misrouted' | 'unknown' }>
  | { readonly kind: 'acceptable' };

export interface PayoutBank {
  readonly payoutWays: readonly PayoutWay[];
  /**
   * Checks whether a recipient can be paid; nothing moves. Absent where the bank has no such check:
   * then only the order itself answers it.
   */
  checkRecipient?(recipient: KeptRecipient, signal: AbortSignal): Promise<RecipientVerdict>;
  /** Orders a payout. A repeated order is answered with where the first one stands. */
  pay(order: PayoutOrder): Promise<PayoutOrderAnswer>;
  /** The participants of SBP as the bank knows them. Absent where the bank gives no list. */
  listSbpBanks?(signal: AbortSignal): Promise<readonly SbpBank[]>;
  /** Asks what became of an order. */
  askPayout(question: PayoutQuestion): Promise<PayoutAnswer>;
}
