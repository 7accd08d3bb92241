/**
 * The emulated T-Bank's own books: payments of orders, their refunds, customers' cards. Kept in
 * memory.
 */
export type TBankStatus =
  | 'NEW'
  | 'FORM_SHOWED'
  | 'AUTHORIZED'
  | 'CONFIRMED'
  | 'REVERSED'
  | 'ASYNC_REFUNDING'
  | 'PARTIAL_REFUNDED'
  | 'REFUNDED'
  | 'CANCELED'
  | 'DEADLINE_EXPIRED'
  | 'REJECTED';

/** The object `Receipt`. */
export interface GivenReceipt {
  readonly FfdVersion: string;
  readonly Items: readonly {
    readonly Price: number;
    readonly Quantity: number;
    readonly Amount: number;
    readonly PaymentMethod: string;
  }[];
}

export interface BookedReceipt {
  readonly paymentId: string;
  readonly orderId: string;
  readonly kind: 'payment' | 'refund' | 'closing';
  /** Kopecks. */
  readonly amount: number;
  readonly given: GivenReceipt;
  status: 'pending' | 'registered' | 'failed';
  /** Its number in the cash register. */
  readonly number: number;
}

export interface BookedOrder {
  readonly id: string;
  readonly orderId: string;
  /** Kopecks; once it is confirmed, what was taken. */
  amount: number;
  status: TBankStatus;
  errorCode: string;
  readonly twoHarnesses: boolean;
  /** How it is being paid: the last address that was asked for. */
  route: 'card' | 'sbp' | 'tpay';
  readonly customer: string | null;
  readonly notificationUrl: string | null;
  readonly returnUrl: string | null;
  readonly dueAt: Date | null;
  readonly createdAt: Date;
  refunded: number;
  /** Whether a buyer or a charge has paid it. */
  paidBy: 'buyer' | 'charge' | null;
  /** What was given as its receipt last. */
  receipt: GivenReceipt | null;
  isFiscalised: boolean;
}

export interface BookedCancel {
  readonly paymentId: string;
  readonly orderId: string;
  readonly amount: number;
  readonly key: string | null;
  readonly receipt: GivenReceipt | null;
  status: 'pending' | 'succeeded' | 'failed';
}

export interface BookedCard {
  readonly customer: string;
  readonly rebillId: string;
  readonly pan: string;
}

export class TBankBooks {
  readonly payments = new Map<string, BookedOrder>();
  readonly cancels: BookedCancel[] = [];
  readonly cards: BookedCard[] = [];
  readonly receipts: BookedReceipt[] = [];
  #last = 3_000_000_000;

  /** An id: ids grow. */
  id(): string {
    this.#last += 1;
    return String(this.#last);
  }

  ofOrder(orderId: string): readonly BookedOrder[] {
    return [...this.payments.values()].filter((payment) => payment.orderId === orderId);
  }
}

/**
 * What the last two digits of an amount stand for, as with the simulator: an error code; null: it
 * succeeds.
 */
export const codeOf = (amount: number): string | null => {
  const codes: Readonly<Record<string, string>> = {
    '01': '1005',
    '02': '1051',
    '03': '1054',
    '04': '1059',
  };
  return codes[String(amount).slice(-2)] ?? null;
};

/** Whether an amount waits for ever (`06`) or for a while (`07`). */
export const waitOf = (amount: number): 'never' | 'late' | null =>
  amount % 100 === 6 ? 'never' : amount % 100 === 7 ? 'late' : null;
