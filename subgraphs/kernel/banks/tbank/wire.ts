/**
 * T-Bank's objects as they arrive: read here once, trusted afterwards. What cannot be read is null,
 * and counts as no answer.
 */
import type { MinorUnits } from '../../rules/money.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fields = (value: unknown): Fields => (isFields(value) ? value : {});
/** Ids and codes come as texts or as numbers. */
const word = (value: unknown): string | null =>
  typeof value === 'string' && value !== ''
    ? value
    : Number.isSafeInteger(value)
      ? String(value)
      : null;

/** What a status means for the money of a payment. */
const meanings = {
  NEW: 'open',
  FORM_SHOWED: 'open',
  DEADLINE_EXPIRED: 'failed',
  CANCELED: 'failed',
  AUTHORIZING: 'open',
  '3DS_CHECKING': 'open',
  '3DS_CHECKED': 'open',
  AUTH_FAIL: 'failed',
  REJECTED: 'failed',
  AUTHORIZED: 'held',
  CONFIRMING: 'open',
  CONFIRMED: 'paid',
  REVERSING: 'open',
  PARTIAL_REVERSED: 'held',
  REVERSED: 'given_up',
  ASYNC_REFUNDING: 'paid',
  REFUNDING: 'paid',
  PARTIAL_REFUNDED: 'paid',
  REFUNDED: 'paid',
} as const satisfies Record<string, 'open' | 'held' | 'paid' | 'given_up' | 'failed'>;

export type WireStatus = keyof typeof meanings;
export type Meaning = (typeof meanings)[WireStatus];

/** What a payment's status means for its money. */
export const meaningOf = (status: WireStatus): Meaning => meanings[status];

/** What a payment's status says of its refunds. */
export type RefundStanding = 'none' | 'under_way' | 'part' | 'all';

/** How much of a payment was given back, or whether something is on its way. */
export const refundStanding = (status: WireStatus): RefundStanding => {
  if (status === 'REFUNDED' || status === 'REVERSED') return 'all';
  if (status === 'PARTIAL_REFUNDED' || status === 'PARTIAL_REVERSED') return 'part';
  return ['REFUNDING', 'ASYNC_REFUNDING', 'REVERSING'].includes(status) ? 'under_way' : 'none';
};

const isStatus = (value: unknown): value is WireStatus =>
  typeof value === 'string' && Object.hasOwn(meanings, value);

export interface WirePayment {
  readonly id: string;
  readonly orderId: string;
  readonly status: WireStatus;
  /** Kopecks, as it says; null where it does not. */
  readonly amount: number | null;
  readonly errorCode: string;
  readonly rrn: string | null;
  /** Present: it was paid by SBP. */
  readonly sbpId: string | null;
}

/**
 * Whether an amount that it repeats is what was ordered, to the kopeck. It knows no other currency
 * than the ruble.
 */
export const isSameAmount = (
  amount: number | null,
  ordered: MinorUnits,
  currency: string,
): boolean =>
  amount !== null &&
  Number.isSafeInteger(amount) &&
  BigInt(amount) === ordered &&
  currency === 'RUB';

const readOne = (answer: Fields, orderId: string | null): WirePayment | null => {
  const { PaymentId, Status: status, Amount: amount, ErrorCode, RRN, SbpPaymentId } = answer;
  const id = word(PaymentId);
  if (id === null || orderId === null || !isStatus(status)) return null;
  return {
    id,
    orderId,
    status,
    amount: typeof amount === 'number' ? amount : null,
    errorCode: word(ErrorCode) ?? '0',
    rrn: word(RRN),
    sbpId: word(SbpPaymentId),
  };
};

/** A payment as Init, GetState, Charge and Cancel answer it. */
export const readPayment = (body: unknown): WirePayment | null =>
  readOne(fields(body), word(fields(body)['OrderId']));

/**
 * The payments of an order as CheckOrder lists them, the first ordered first. Null: the answer
 * cannot be read.
 */
export const readOrder = (body: unknown): readonly WirePayment[] | null => {
  const { OrderId, Payments: listed } = fields(body);
  if (!Array.isArray(listed)) return null;
  const payments = listed
    .map((each) => readOne(fields(each), word(OrderId)))
    .filter((each) => each !== null);
  return payments.length === listed.length
    ? payments.toSorted((one, other) => Number(one.id) - Number(other.id))
    : null;
};

const address = (value: unknown): string | null =>
  typeof value === 'string' && URL.canParse(value) ? value : null;

/** Where the buyer pays, as Init says. */
export const readPaymentUrl = (body: unknown): string | null => address(fields(body)['PaymentURL']);

/** What the QR code holds, as GetQr says. */
export const readQr = (body: unknown): string | null => address(fields(body)['Data']);

/** Where T-Pay is opened. */
export const readLink = (body: unknown): string | null =>
  address(fields(fields(body)['Params'])['RedirectUrl']);

export interface WireCard {
  readonly rebillId: string;
  /** As `430000******0777`. */
  readonly pan: string;
}

/**
 * The active cards of a customer that can be charged again; null when the answer cannot be read.
 */
export const readCards = (body: unknown): readonly WireCard[] | null => {
  if (!Array.isArray(body)) return null;
  return body.flatMap((each): readonly WireCard[] => {
    const { Status: status, RebillId, Pan: pan } = fields(each);
    const rebillId = word(RebillId);
    return status === 'A' && rebillId !== null && typeof pan === 'string'
      ? [{ rebillId, pan }]
      : [];
  });
};
