/**
 * The port to an acquirer. The simulator and every real connector implement it. A call that may
 * have reached the bank and has no answer is `unknown`, never a failure.
 */
import type { TimedPlan, BankStep, BuyerMethod, PlannedCallbacks } from '../rules/banks.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { MinorUnits } from '../rules/money.ts';
import type { ReceiptTerms, ReceiptType } from '../rules/receipt.ts';
import type { SavableMethod } from '../rules/recurring.ts';
import type { AccountPurpose } from './entities.ts';
import type { PayoutBank } from './payout-bank.ts';
import type { Mode } from '../rules/mode.ts';

/** A card as the buyer typed it. It goes to the bank and is never stored, logged or queued. */
export interface Card {
  readonly number: string;
  /** MM/YY. */
  readonly expiry: string;
  readonly cvc: string;
  /** Empty when the buyer gave none, at a bank that does not ask for it. */
  readonly holder: string;
}

/** The operation of a query or an order, and the moment of the call. */
export interface Question {
  readonly merchantId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
}

/** A movement as the bank knows it: our operation's id there, and the bank's own reference. */
interface Movement {
  readonly operationId: string;
  readonly reference: string | null;
}

/** What an order has that moves a buyer's money. */
interface Order extends Question {
  readonly amount: MinorUnits;
  readonly currency: string;
  /** Present: the receipt that is registered with the movement. For a hold, each capture has one. */
  readonly receipt?: ReceiptTerms;
  /** The owner of the receipt's terms: `route` reads them. */
  readonly receiptTermsId?: string | null;
}

// The part of the port that saves a buyer's method and charges it later without the buyer
// (docs/contract.md#tokens). An order with `save` saves the method; the approved answer then
// carries the bank's reference to it.

/** A session's order in addition to the payment: the method is saved when the payment succeeds. */
interface SaveOrder {
  /**
   * The payment only verifies the method. Cards: the bank authorises and voids it, so that no money
   * moves. Others: it is paid, and we refund it.
   */
  readonly verification: boolean;
}

/** `operationId` is the bank's idempotency key: the same order twice is one charge. */
export interface ChargeOrder extends Order {
  /** The bank's own reference of the saved method. */
  readonly savedReference: string;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** Whether no bank can have this charge yet: then an obstacle to sending its order is final. */
  readonly isFirst: boolean;
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

/** `operationId` is the bank's idempotency key: the same order twice is one session. */
export interface SessionOrder extends Order {
  readonly shopId: string;
  readonly method: BuyerMethod;
  readonly card: Card | null;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** Present: the method is saved when the payment succeeds. */
  readonly save?: SaveOrder;
  /** Present: the money is held, and captured by a separate order (`HoldBank`). */
  readonly holds?: true;
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
}

/** What a buyer does to confirm at a bank that gets cards from our page. */
export const buyerSteps: Readonly<Record<BuyerMethod, BankStep>> = {
  sbp: 'qr',
  cards: 'three_d_secure',
  tpay: 'redirect',
  sberpay: 'redirect',
};

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

// A bank's answer about an operation, whether to a session, a query or a charge.

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
  /** When it may have been ordered last: a charge is ordered again while it has no answer. */
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

/** `operationId` is the bank's idempotency key: the same order twice is one refund. */
export interface RefundOrder extends Order {
  /** The bank's view of the payment: our operation's id there, and the bank's own reference. */
  readonly payment: Movement;
  /** Test mode: the planned outcome. */
  readonly planned: TimedPlan | null;
  /** The bank's reference of this refund, if known: then the order is a query about it. */
  readonly reference: string | null;
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

// The part of the port that holds a buyer's money, and later captures or releases it. A session
// whose order has `holds` holds money.

/**
 * An order to capture a hold or to release it. `operationId` is the bank's idempotency key: the
 * same order twice has one effect.
 */
export interface HoldOrder extends Order {
  readonly kind: 'capture' | 'release';
  /** The bank's view of the payment: our operation's id there, and the bank's own reference. */
  readonly payment: Movement;
  /** The captured amount; the rest is released. For a release: the held amount. */
  readonly amount: MinorUnits;
  readonly held: MinorUnits;
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

// The part of the port that registers receipts. A receipt of a payment or of a refund is ordered
// with the movement: its order has `receipt`. Additions, section 2.

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
  /** Whether a card typed on our page needs the holder's name. Absent: it may be empty. */
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

export const reportedKinds = ['payment', 'refund', 'payout'] as const;
export type ReportedKind = (typeof reportedKinds)[number];

export const reportedStatuses = ['succeeded', 'failed', 'pending'] as const;
export type ReportedStatus = (typeof reportedStatuses)[number];

/** One line of a settlement report. Amounts are minor units. */
export interface ReportLine {
  readonly reference: string;
  /** Our operation's id; null when the bank does not repeat it: the reference finds the line. */
  readonly operationId: string | null;
  readonly kind: ReportedKind;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: ReportedStatus;
  readonly at: Temporal.Instant;
  /** The bank's fee; null when the report has none. */
  readonly fee: bigint | null;
}

/** A bank that gives settlement reports. */
export interface SettlementBank {
  readonly connector: string;
  readonly mode: Mode;
  /**
   * The operations from `since` on and before `until`, in pages of any size. Rejects when the bank
   * cannot be read; then no part of the report is used.
   */
  settlementReport(span: {
    readonly since: Temporal.Instant;
    readonly until: Temporal.Instant;
  }): AsyncIterable<readonly ReportLine[]>;
}
