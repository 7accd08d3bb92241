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
import type { TimedPlan } from '../rules/plan.ts';
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
  /** Test mode: what was planned. */
  readonly planned: TimedPlan | null;
  /** Present: the method is saved when the payment succeeds. */
  readonly save?: SaveOrder;
  /** Present: the money is held, and taken by an order of its own (`hold-bank`). */
  readonly holds?: true;
  /** Present: the receipt of the payment. Of a hold, each capture brings its own again. */
  readonly receipt?: ReceiptTerms;
  /** Whose terms the receipt has: `receipting-bank` reads them. */
  readonly receiptTermsId?: string | null;
  /** Test mode: how the answer is delivered; null: it is asked for. */
  readonly callbacks: PlannedCallbacks | null;
  /** The hosted page, to which the bank sends the buyer back. */
  readonly pageUrl: string;
  /** When the session ends: what succeeds later is given back. */
  readonly sessionUntil: Temporal.Instant;
  /**
   * Present: the order is created early; its buyer may come until then, and nobody is given the
   * address where to go on.
   */
  readonly payableUntil?: Temporal.Instant;
  /** The bank's reference of the order that was created early; null when there is none. */
  readonly reference: string | null;
  readonly now: Temporal.Instant;
}

/**
 * Nobody accepted the order, surely: it never left us (no connection, an open circuit breaker), or
 * the bank turned our account away before it looked at the order (401, 403), and no earlier attempt
 * of the same call may have arrived. Another bank may be given it; `otherwise` is what it means
 * when none is.
 */
export interface Unaccepted<Otherwise> {
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
      /** When asking makes sense; null: only a callback or the sweep brings the answer. */
      readonly askAt: Temporal.Instant | null;
    }
  | SessionNotOpened
  /** The bank's answer is not what was ordered: the operation stops, and an alert was raised. */
  | { readonly kind: 'pending'; readonly askAt: null }
  | Unaccepted<SessionNotOpened>;

/** Which operation is asked about. */
export interface Question {
  readonly merchantId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
}

/**
 * A payment that is asked about: what was ordered, so that the bank's answer can be compared with
 * it.
 */
export interface PaymentQuestion extends Question {
  /**
   * The bank's own reference, once it gave one; without it the bank is searched for the operation.
   */
  readonly reference: string | null;
  readonly amount: MinorUnits;
  readonly currency: string;
  /** When its order may have been created, before its buyer went on; null: it was not. */
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
  /** The payment only proves a card: it is to be authorised and given up again. */
  readonly voided: boolean;
  /** The money is held, and taken by an order of its own. */
  readonly holds: boolean;
  /** The method is saved when the payment succeeds: some banks must be asked for its reference. */
  readonly saves: boolean;
  /** Its buyer waits for the address to go on at: the answer to the order was lost. */
  readonly awaitsStep: boolean;
}

/**
 * An order to give money of a payment back. `operationId` is the bank's idempotency key: the same
 * order twice is one refund.
 */
export interface RefundOrder {
  readonly merchantId: string;
  readonly operationId: string;
  /** The payment as the bank knows it: our operation's id there, and the bank's own reference. */
  readonly payment: { readonly operationId: string; readonly reference: string | null };
  readonly amount: MinorUnits;
  readonly currency: string;
  /** Test mode: what was planned. */
  readonly planned: TimedPlan | null;
  /**
   * The bank's reference of this refund, once it gave one: then the order is a question about it.
   */
  readonly reference: string | null;
  /** Present: the receipt of this refund, which is registered with it. */
  readonly receipt?: ReceiptTerms;
  /** Whose terms the receipt has: `receipting-bank` reads them. */
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
  /** What it takes payments in, where the method has a choice; null: every currency. */
  readonly currencies: readonly string[] | null;
  /**
   * Where a buyer types a card: on our page, and `SessionOrder.card` has it, or on the bank's, and
   * it never comes to us.
   */
  readonly cardsOn: 'our_page' | 'bank_page';
  /**
   * Whether an order by a card that is typed on our page needs the holder's name. Absent: it may be
   * left empty.
   */
  readonly asksHolder?: boolean;
  /**
   * Methods whose order is given as soon as the payment is created, without a card: the same order,
   * given again when the buyer goes on, is then answered with the same session while it is young
   * enough. Absent: none.
   */
  readonly createsOrderEarly?: readonly BuyerMethod[];
  /** How long a session may live there at the most, from its order on: ours ends no later. */
  readonly sessionTtl_min: number;
  /**
   * Whether an account there takes a merchant's new orders: its own, or the platform's. Absent: one
   * of the installation's takes everybody's.
   */
  hasAccount?(merchantId: string, purpose: AccountPurpose): Promise<boolean>;
  openSession(order: SessionOrder): Promise<SessionAnswer>;
  ask(question: PaymentQuestion): Promise<BankAnswer>;
  /**
   * Ends an order of a payment that has ended here, and answers what became of it: declined when
   * nobody can pay it any more, approved when somebody had. Absent where a bank cannot: there the
   * order is left to lapse, and what is paid until then is given back.
   */
  cancelOrder?(question: PaymentQuestion): Promise<BankAnswer>;
  /**
   * Orders a refund, or asks what became of it: a repeated order is answered with where the first
   * one stands. Nothing else is needed after a crash.
   */
  refund(order: RefundOrder): Promise<RefundAnswer>;
}
