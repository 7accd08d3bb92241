/**
 * The emulated acquirer's own books: what it was ordered, what became of it, and whose money moved.
 * Kept in memory.
 */
import { randomUUID } from 'node:crypto';

export interface Amount {
  readonly value: string;
  readonly currency: string;
}

type Metadata = Readonly<Record<string, string>>;

interface Cancellation {
  readonly party: string;
  readonly reason: string;
}

/** A saved method; it is known to the account alone that saved it. */
export interface BookedMethod {
  readonly account: string;
  readonly type: string;
  readonly last4: string | null;
}

interface ReceiptItem {
  readonly amount: Amount;
  readonly quantity: number;
}

/** What was given as `receipt`. */
export interface GivenReceipt {
  readonly items: readonly ReceiptItem[];
}

export interface BookedReceipt {
  readonly id: string;
  readonly account: string;
  readonly type: 'payment' | 'refund';
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly settlement: 'cashless' | 'prepayment';
  readonly items: readonly object[];
  readonly sum: bigint;
  status: 'pending' | 'succeeded' | 'canceled';
  readonly createdAt: Date;
  registeredAt: Date | null;
  /** Its number in the cash register. */
  readonly number: number;
}

export interface BookedPayment {
  readonly id: string;
  /** The shop that it was ordered by: it is known to no other. */
  readonly account: string;
  status: 'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled';
  /** What was ordered; once it is captured, what was taken. */
  amount: Amount;
  readonly createdAt: Date;
  readonly capture: boolean;
  /** Present while it waits for its capture: until when. */
  expiresAt: Date | null;
  /** Whether its method is saved when it is paid. */
  readonly saves: boolean;
  readonly method: {
    readonly type: string;
    readonly id: string;
    saved: boolean;
    readonly last4: string | null;
  };
  readonly confirmation: { readonly type: 'qr' | 'redirect'; readonly returnUrl: string } | null;
  readonly metadata: Metadata;
  cancellation: Cancellation | null;
  /** What was given as its receipt last. */
  receipt: GivenReceipt | null;
  /** Of what its receipt was made. */
  fiscalised: GivenReceipt | null;
}

export interface BookedRefund {
  readonly id: string;
  readonly paymentId: string;
  status: 'pending' | 'succeeded' | 'canceled';
  readonly amount: Amount;
  readonly createdAt: Date;
  readonly metadata: Metadata;
  cancellation: Cancellation | null;
  readonly receipt: GivenReceipt | null;
}

export interface BookedPayout {
  readonly id: string;
  status: 'pending' | 'succeeded' | 'canceled';
  readonly amount: Amount;
  readonly createdAt: Date;
  readonly destination: object;
  readonly metadata: Metadata;
  cancellation: Cancellation | null;
}

/** Kopecks of a decimal text. */
export const kopecks = ({ value }: Amount): bigint => BigInt(value.replace('.', ''));

/**
 * What the last two digits of an amount stand for, as with the simulator; null: it succeeds. 06
 * waits for ever, 07 for a while.
 */
export const fateOf = (amount: Amount): string | null => {
  const fates: Record<string, string> = {
    '01': 'general_decline',
    '02': 'insufficient_funds',
    '03': 'card_expired',
    '04': 'fraud_suspected',
    '06': 'never',
    '07': 'late',
  };
  return fates[amount.value.slice(-2)] ?? null;
};

export class Books {
  readonly payments = new Map<string, BookedPayment>();
  readonly refunds = new Map<string, BookedRefund>();
  readonly payouts = new Map<string, BookedPayout>();
  readonly methods = new Map<string, BookedMethod>();
  readonly receipts = new Map<string, BookedReceipt>();
  /** What was asked or answered against the descriptions. */
  readonly violations: string[];

  constructor(violations: string[]) {
    this.violations = violations;
  }

  /** What is left of a payment to be given back. */
  remainder(payment: BookedPayment): bigint {
    const given = [...this.refunds.values()].filter(
      (refund) => refund.paymentId === payment.id && refund.status !== 'canceled',
    );
    return (
      kopecks(payment.amount) - given.reduce((sum, refund) => sum + kopecks(refund.amount), 0n)
    );
  }

  /** An id with as many characters as the acquirer's. */
  id(prefix = ''): string {
    return `${prefix}${randomUUID()}`;
  }
}

const cancelled = (cancellation: Cancellation | null) =>
  cancellation ? { cancellation_details: cancellation } : {};

const cardView = (last4: string | null) =>
  last4 === null
    ? {}
    : {
        card: {
          first6: '220000',
          last4,
          expiry_year: '2030',
          expiry_month: '12',
          card_type: 'Mir',
        },
      };

/** A saved method as the API shows it. */
export const savedMethodView = (id: string, { account, type, last4 }: BookedMethod): object => ({
  type,
  id,
  saved: true,
  status: 'active',
  holder: { account_id: account },
  ...cardView(last4),
});

const methodView = ({ status, method }: BookedPayment) => ({
  type: method.type,
  id: method.id,
  saved: method.saved,
  status: method.saved ? 'active' : 'inactive',
  ...cardView(method.last4),
  ...(method.type === 'sbp' && status === 'succeeded'
    ? {
        sbp_operation_id: method.id.replaceAll('-', '').toUpperCase(),
        payer_bank_details: { bank_id: '100000000111', bic: '044525225' },
      }
    : {}),
});

/** A payment as the API shows it. `base` is where buyers confirm. */
export const paymentView = (payment: BookedPayment, base: string): object => {
  const { id, account, status, amount, createdAt, expiresAt } = payment;
  const { confirmation, metadata, cancellation, method } = payment;
  const url = `${base}/confirm/${id}`;
  const isOpen = status === 'pending' && confirmation !== null;
  return {
    id,
    status,
    amount,
    created_at: createdAt.toISOString(),
    ...(status === 'waiting_for_capture' && expiresAt
      ? { expires_at: expiresAt.toISOString() }
      : {}),
    paid: status === 'succeeded' || status === 'waiting_for_capture',
    test: true,
    refundable: status === 'succeeded',
    recipient: { account_id: account, gateway_id: '100700' },
    payment_method: methodView(payment),
    metadata,
    ...(isOpen
      ? {
          confirmation:
            confirmation.type === 'qr'
              ? { type: 'qr', confirmation_data: url }
              : { type: 'redirect', confirmation_url: url },
        }
      : {}),
    ...(method.type === 'bank_card' && status !== 'pending' && status !== 'canceled'
      ? {
          authorization_details: {
            rrn: String(kopecks(amount) + 600_000_000_000n),
            three_d_secure: { applied: confirmation !== null },
          },
        }
      : {}),
    ...cancelled(cancellation),
  };
};

export const refundView = ({
  id,
  paymentId,
  status,
  amount,
  createdAt,
  metadata,
  cancellation,
}: BookedRefund): object => ({
  id,
  payment_id: paymentId,
  status,
  amount,
  created_at: createdAt.toISOString(),
  metadata,
  ...cancelled(cancellation),
});

export const payoutView = ({
  id,
  status,
  amount,
  createdAt,
  destination,
  metadata,
  cancellation,
}: BookedPayout): object => ({
  id,
  status,
  amount,
  payout_destination: destination,
  created_at: createdAt.toISOString(),
  metadata,
  test: true,
  ...cancelled(cancellation),
});

/** The directory of SBP, as the API gives it. */
export const sbpBanks = {
  type: 'list',
  items: [
    { bank_id: '100000000111', name: 'Сбербанк', bic: '044525225' },
    { bank_id: '100000000004', name: 'Т-Банк', bic: '044525974' },
  ],
};
