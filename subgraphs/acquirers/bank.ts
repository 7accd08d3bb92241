/**
 * The port to an acquirer. The simulator and every real connector implement it. A call that may
 * have reached the bank and has no answer is `unknown`, never a failure.
 */
import type { AccountPurpose } from './bank-accounts.ts';
import type { BankAnswer, PayerTraits } from './bank-answer.ts';
import type { BankStep, BuyerMethod, PlannedCallbacks } from '../rules/buyer.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { MinorUnits } from '../rules/money.ts';
import type { ReceiptTerms } from '../rules/receipt.ts';
import type { HoldBank } from './hold-bank.ts';
import type { ReceiptBank } from './receipt-bank.ts';
import type { SaveOrder, TokenBank } from './token-bank.ts';
import type { TimedPlan } from '../rules/banks.ts';
import type { PayoutBank } from './payout-bank.ts';

/** A card as the buyer typed it. It goes to the bank and is never stored, logged or queued. */
export interface Card {
  readonly number: string;
  /** MM/YY. */
  readonly expiry: string;
  readonly cvc: string;
  /** Empty when the buyer gave none, at a bank that does not ask for it. */
  readonly holder: string;
}

/**
 * An order to open a session. `operationId` is the bank's idempotency key: the same order twice is
 * one session.
 */
export interface SessionOrder {
  readonly merchantId: string;
  readonly shopId: string;
  readonly operationId: string;
  readonly amount: MinorUnits;
  readonly currency: string;
  readonly method: BuyerMethod;
  readonly card: Card | null;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** Present: the method is saved when the payment succeeds. */
  readonly save?: SaveOrder;
  /** Present: the money is held, and captured by a separate order (`hold-bank`). */
  readonly holds?: true;
  /** Present: the receipt of the payment. For a hold, each capture brings its own. */
  readonly receipt?: ReceiptTerms;
  /** The owner of the receipt's terms: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  /** Test mode: how the answer is delivered; null: by query. */
  readonly callbacks: PlannedCallbacks | null;
  /** The hosted page, to which the bank sends the buyer back. */
  readonly pageUrl: string;
  /** When the session ends: a later success is refunded. */
  readonly sessionUntil: Temporal.Instant;
  /**
   * Present: the order is created early; its buyer may come until then, and the address to continue
   * at is not given out.
   */
  readonly payableUntil?: Temporal.Instant;
  /** The bank's reference of the order that was created early; null when there is none. */
  readonly reference: string | null;
  readonly now: Temporal.Instant;
}

/**
 * The order was certainly not accepted: it never left us (no connection, an open circuit breaker),
 * or the bank rejected our account before it read the order (401, 403), and no earlier attempt of
 * the same call may have arrived. Another bank may get it; `otherwise` is the result when there is
 * none.
 */
interface Unaccepted<Otherwise> {
  readonly kind: 'unaccepted';
  readonly otherwise: Otherwise;
}

type SessionNotOpened =
  | { readonly kind: 'declined'; readonly failureCode: FailureCode; readonly bankCode: string }
  | { readonly kind: 'unknown' };

export type SessionAnswer =
  | {
      readonly kind: 'opened';
      readonly reference: string;
      readonly step: BankStep;
      readonly stepUrl: string | null;
      readonly traits: Pick<PayerTraits, 'cardBrand' | 'cardMask'>;
      /** When to query next; null: only a callback or the sweep brings the answer. */
      readonly askAt: Temporal.Instant | null;
    }
  | SessionNotOpened
  /** The bank's answer differs from the order: the operation stops, and an alert was raised. */
  | { readonly kind: 'pending'; readonly askAt: null }
  | Unaccepted<SessionNotOpened>;

/** The operation to query. */
export interface Question {
  readonly merchantId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
}

/** A payment to query: the order, so that the bank's answer can be compared with it. */
export interface PaymentQuestion extends Question {
  /**
   * The bank's own reference, once it gave one; without it the bank is searched for the operation.
   */
  readonly reference: string | null;
  readonly amount: MinorUnits;
  readonly currency: string;
  /** When its order may have been created, before its buyer continued; null: it was not. */
  readonly createdEarlyAt: Temporal.Instant | null;
  /** When the session was ordered. */
  readonly orderedAt: Temporal.Instant;
  /**
   * When it may have been ordered last: a charge of a saved method is ordered again while it has no
   * answer.
   */
  readonly lastOrderedAt: Temporal.Instant;
  /** How its buyer pays; null: there is no buyer. */
  readonly method: BuyerMethod | null;
  /** The payment only verifies a card: it is authorised and then voided. */
  readonly voided: boolean;
  /** The money is held, and captured by a separate order. */
  readonly holds: boolean;
  /**
   * The method is saved when the payment succeeds: some banks must be queried for its reference.
   */
  readonly saves: boolean;
  /** Its buyer waits for the address to continue at: the answer to the order was lost. */
  readonly awaitsStep: boolean;
}

/**
 * An order to refund money of a payment. `operationId` is the bank's idempotency key: the same
 * order twice is one refund.
 */
export interface RefundOrder {
  readonly merchantId: string;
  readonly operationId: string;
  /** The bank's view of the payment: our operation's id there, and the bank's own reference. */
  readonly payment: { readonly operationId: string; readonly reference: string | null };
  readonly amount: MinorUnits;
  readonly currency: string;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** The bank's reference of this refund, if known: then the order is a query about it. */
  readonly reference: string | null;
  /** Present: the receipt of this refund, which is registered with it. */
  readonly receipt?: ReceiptTerms;
  /** The owner of the receipt's terms: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  readonly now: Temporal.Instant;
}

export type RefundAnswer =
  | { readonly kind: 'approved'; readonly reference: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode; readonly bankCode: string }
  /** Not final. `askAt` null: it will not change by itself. */
  | {
      readonly kind: 'pending';
      readonly reference: string | null;
      readonly askAt: Temporal.Instant | null;
    }
  | { readonly kind: 'unknown' };

export interface Bank extends PayoutBank, TokenBank, HoldBank, ReceiptBank {
  /** The connector's name, as in `bank_failure_code`: `<connector>:<raw>`. */
  readonly connector: string;
  /** What merchants and buyers read. */
  readonly bankName: string;
  readonly methods: readonly BuyerMethod[];
  /** The currencies that it accepts, where the method has a choice; null: every currency. */
  readonly currencies: readonly string[] | null;
  /**
   * Where a buyer types a card: on our page, and `SessionOrder.card` has it, or on the bank's, and
   * it never reaches us.
   */
  readonly cardsOn: 'our_page' | 'bank_page';
  /**
   * Whether an order with a card typed on our page needs the holder's name. Absent: it may be
   * empty.
   */
  readonly asksHolder?: boolean;
  /**
   * Methods whose order is sent as soon as the payment is created, without a card: repeating the
   * order when the buyer continues then returns the same session while it is young enough. Absent:
   * none.
   */
  readonly createsOrderEarly?: readonly BuyerMethod[];
  /** The maximum life of a session there, from its order on: ours ends no later. */
  readonly sessionTtl_min: number;
  /**
   * Whether an account there takes a merchant's new orders: its own, or the platform's. Absent: the
   * installation's account takes all merchants' orders.
   */
  hasAccount?(merchantId: string, purpose: AccountPurpose): Promise<boolean>;
  openSession(order: SessionOrder): Promise<SessionAnswer>;
  ask(question: PaymentQuestion): Promise<BankAnswer>;
  /**
   * Ends an order of a payment that has ended here, and returns the result: declined when it can no
   * longer be paid, approved when it had been paid. Absent where a bank cannot: there the order
   * lapses, and a payment until then is refunded.
   */
  cancelOrder?(question: PaymentQuestion): Promise<BankAnswer>;
  /**
   * Orders a refund, or queries its result: a repeated order returns the state of the first one.
   * Nothing else is needed after a crash.
   */
  refund(order: RefundOrder): Promise<RefundAnswer>;
}
